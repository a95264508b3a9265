//! Tests of the formatter: texts with the layout they get, and laws that hold for all.

use base_system::{OsSystem, System as _};
use kcl_fmt::{FormatError, Open, Style, format, print_expr};

/// Cases: a text, a line `---`, and the formatted text; a line `===` stands between cases.
const CASES: &str = include_str!("../data/cases.txt");

fn formatted(text: &str) -> String {
    format(text).expect(text)
}

#[test]
fn texts_get_the_layout_written_below_them() {
    let mut n_cases = 0;
    for case in CASES.split("===\n") {
        let (text, expected) = case.split_once("---\n").expect("a case has two parts");
        assert_eq!(formatted(text), expected, "{text}");
        assert_eq!(formatted(expected), expected, "a formatted text stays as it is");
        n_cases += 1;
    }
    assert!(n_cases > 10);
}

#[test]
fn a_text_with_syntax_errors_is_refused() {
    let refused = format("a = (1\n");
    assert!(matches!(refused, Err(FormatError::Syntax(errors)) if !errors.is_empty()));
}

#[test]
fn nothing_stays_nothing() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("# c"), "# c\n");
}

#[test]
fn deep_and_long_programs_are_formatted() {
    let sum = format!("a = 1{}\n", " + 1".repeat(5000));
    assert_eq!(formatted(&sum.replace(' ', "  ")), sum);
    let deep = format!("a = {}1{}\n", "[".repeat(90), "]".repeat(90));
    assert_eq!(formatted(&deep), deep);
}

#[test]
fn styles_open_lists_and_write_keys_out() {
    let text = "a = {b.c = [1], d = {e = []}}\n";
    let parsed = kcl_syntax::parse(text);
    let value = kcl_syntax::ast::ExprId(parsed.module.exprs.len() as u32 - 1);
    let print = |style| print_expr(&parsed.module, text, value, style);
    assert_eq!(print(Style::default()), "{b.c = [1], d = {e = []}}");
    let all = Style { open: Open::All, ..Style::default() };
    assert_eq!(print(all), "{\n    b.c = [\n        1\n    ]\n    d = {\n        e = []\n    }\n}");
    let outermost = Style { open: Open::Outermost, write_out_keys: true };
    assert_eq!(print(outermost), "{\n    b: {c = [1]}\n    d = {e = []}\n}");
}

#[test]
fn the_files_of_the_repository_stay_the_same_programs() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join("konfig"), root.join("examples"), root.join("tests/fixtures")];
    let mut n_files = 0;
    while let Some(folder) = open.pop() {
        for path in OsSystem.read_dir(&folder).expect("the folder is there") {
            if OsSystem.is_dir(&path) {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "k") {
                let text = OsSystem.read_to_string(&path).expect("the file can be read");
                let Ok(once) = format(&text) else {
                    let has_errors = !kcl_syntax::parse(&text).diagnostics.is_empty();
                    assert!(has_errors, "{}", path.display());
                    continue;
                };
                assert_eq!(formatted(&once), once, "{}", path.display());
                n_files += 1;
            }
        }
    }
    assert!(n_files > 10, "{n_files} files");
}
