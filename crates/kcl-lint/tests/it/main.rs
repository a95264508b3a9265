//! Tests of lints: the examples of their pages, and what switches them off.

use base_diag::Diagnostic;
use base_system::MemorySystem;
use kcl_hir::{Input, LoadOptions, PackageMap, Program, load, resolve_entries};
use kcl_lint::{Config, LINTS, Level, Set, explain, explained_codes, lint, select};
use std::path::Path;

fn program(text: &str) -> (Program, Vec<Diagnostic>) {
    let system =
        MemorySystem::new().with_file("/app/kcl.mod", "").with_file("/app/main.k", text.to_owned());
    let inputs = [Input::path("main.k")];
    let entries = resolve_entries(&system, &inputs, Path::new("/app"), &PackageMap::default())
        .expect("the file is there");
    let outcome = load(&system, &entries, &LoadOptions::default()).expect("the file can be read");
    (outcome.value, outcome.diagnostics)
}

/// The codes of all findings about a program.
fn codes(text: &str, config: &Config) -> Vec<&'static str> {
    let (program, mut found) = program(text);
    found.extend(kcl_types::lint(&program));
    found.extend(lint(&program, config));
    select(&program, config, found).iter().map(|it| it.code).collect()
}

/// The programs of a page with this word behind `kcl`.
fn examples<'p>(page: &'p str, word: &str) -> Vec<&'p str> {
    let fence = format!("```kcl {word}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_lint_has_a_page_with_examples() {
    for lint in LINTS {
        let page = explain(lint.code).expect(lint.code);
        assert_eq!(explain(lint.name), Some(page));
        assert!(page.starts_with(&format!("# {} ({})", lint.code, lint.name)), "{page}");
        assert!(!examples(page, "wrong").is_empty() && !examples(page, "right").is_empty());
    }
}

#[test]
fn examples_of_pages_have_the_finding_or_not() {
    let config = Config::new(Set::All);
    for code in explained_codes() {
        let page = explain(code).unwrap();
        assert!(page.starts_with(&format!("# {code}")), "{page}");
        for text in examples(page, "wrong") {
            let found = codes(text, &config);
            assert!(found.contains(&code), "{code} in {text}: {found:?}");
        }
        for text in examples(page, "right") {
            let found = codes(text, &config);
            assert!(!found.contains(&code), "{code} in {text}: {found:?}");
        }
    }
}

#[test]
fn comments_switch_lints_off() {
    let config = Config::default();
    let bad = "schema app:\n    a: int\n";
    assert_eq!(codes(bad, &config), ["L1004"]);
    for text in [
        "schema app: # kcl-lint: disable=L1004\n    a: int\n",
        "# kcl-lint: disable=unused-local,naming\n# more\nschema app:\n    a: int\n",
        "a = 1\n# kcl-lint: disable-file=all\nschema app:\n    a: int\n",
    ] {
        assert!(codes(text, &config).is_empty(), "{text}");
    }
    let elsewhere = "# kcl-lint: disable=naming\na = 1\nschema app:\n    a: int\n";
    assert_eq!(codes(elsewhere, &config), ["L1004"]);
}

#[test]
fn levels_decide() {
    let text = "schema app:\n    a: int\n";
    let mut config = Config::default();
    config.set_level("naming", "off").unwrap();
    assert!(codes(text, &config).is_empty());
    config.set_level("naming", "error").unwrap();
    let (program, _) = program(text);
    let found = select(&program, &config, lint(&program, &config));
    assert!(found.iter().all(Diagnostic::is_error) && found.len() == 1);
    assert_eq!(Config::new(Set::Reference).level("L1004"), Level::Off);
}

#[test]
fn what_is_fine_is_not_reported() {
    let text = r#"
import math

schema App:
    """An application."""
    name: str
    ports?: [int]
    check:
        len(name) > 0, "name must not be empty"

_base = {a = 1}
double = lambda x: int -> int {
    twice = x * 2
    twice
}
app = App {
    name = "web"
    ports = [double(port) for port in [1, 2] if port > math.floor(1.5)]
}
labels = {**_base, b: {c = 1}, b: {d = 2}}
"#;
    assert_eq!(codes(text, &Config::default()), Vec::<&str>::new());
}
