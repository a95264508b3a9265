//! The documents must keep up with the code.

use super::manifest::Manifest;
use super::{Finding, Report};
use crate::tree::{File, Tree};

const MAP: &str = "docs/architecture.md";
const DEFECTS: &str = "docs/defects.md";

/// Checks that the code map names every crate, and the table of defects only tests that exist.
pub(super) fn check(tree: &Tree, manifests: &[Manifest], report: &mut Report) {
    let text = tree.file(MAP).map_or("", |file| file.text.as_str());
    for manifest in manifests {
        if !text.contains(&format!("`{}`", manifest.name)) {
            let message = format!("say in the code map what crate `{}` is for", manifest.name);
            report.findings.push(Finding::new(MAP, 1, message));
        }
    }
    check_defects(tree, manifests, report);
}

/// Checks that every test that the table of defects names is there, and that every row names one.
fn check_defects(tree: &Tree, manifests: &[Manifest], report: &mut Report) {
    let Some(table) = tree.file(DEFECTS) else { return };
    for (at, line) in table.text.lines().enumerate() {
        let Some((_, tests)) = line.strip_suffix(" |").and_then(|row| row.rsplit_once(" | "))
        else {
            continue;
        };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        let is_head = tests.starts_with("shown here by");
        if names.is_empty() && !is_head {
            report.findings.push(Finding::new(DEFECTS, at + 1, "name the test that shows it"));
        }
        for name in names.into_iter().filter(|name| !has_test(tree, manifests, name)) {
            let message = format!("there is no test `{name}`; write `CRATE FILE::TEST`");
            report.findings.push(Finding::new(DEFECTS, at + 1, message));
        }
    }
}

/// Whether there is a test, written as its crate and its path.
fn has_test(tree: &Tree, manifests: &[Manifest], name: &str) -> bool {
    let Some((package, path)) = name.split_once(' ') else { return false };
    let Some(manifest) = manifests.iter().find(|it| it.name == package) else { return false };
    let folder = manifest.path.trim_end_matches("Cargo.toml");
    let (module, test) = path.rsplit_once("::").unwrap_or(("", path));
    let module = module.split("::").next().unwrap_or_default();
    let (function, added) = (format!("fn {test}("), format!("\"{test}\""));
    tree.rust_files()
        .filter(|file| file.path.starts_with(folder))
        .filter(|file| {
            let parts: Vec<&str> = file.path.split(['/', '.']).collect();
            module.is_empty() || parts.contains(&module)
        })
        .any(|file| has_tests(file) && [&function, &added].iter().any(|it| file.text.contains(*it)))
}

/// Whether functions of a file may be tests, be it by a macro.
fn has_tests(file: &File) -> bool {
    ["#[test]", "#[tokio::test", "on_every_backend!(", "Suite"]
        .iter()
        .any(|it| file.text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_the_map_leaves_out_is_found() {
        let map = File { path: MAP.into(), text: "- `kcl-value`: values".into() };
        let manifest = |name: &str| Manifest {
            path: String::new(),
            name: name.into(),
            inherits_lints: true,
            dependencies: Vec::new(),
        };
        let mut report = Report::default();
        let manifests = [manifest("kcl-value"), manifest("kcl-std")];
        check(&Tree { files: vec![map] }, &manifests, &mut report);
        assert_eq!(report.findings.len(), 1);
        assert!(report.findings[0].message.contains("`kcl-std`"));
    }

    #[test]
    fn a_defect_without_its_test_is_found() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let table = "| what | shown here by |\n|---|---|\n| a | `x life::good`, `x good` |\n\
                     | b | `x life::gone` |\n| c | `y life::good` |\n| d | nothing |\n\
                     | e | `x other::good` |\n";
        let tree = Tree {
            files: vec![
                file(DEFECTS, table),
                file("crates/x/tests/it/life.rs", "#[test]\nfn good() {}\n"),
                file(MAP, "`x`"),
            ],
        };
        let manifest = Manifest {
            path: "crates/x/Cargo.toml".into(),
            name: "x".into(),
            inherits_lints: true,
            dependencies: Vec::new(),
        };
        let mut report = Report::default();
        check(&tree, &[manifest], &mut report);
        let lines: Vec<usize> = report.findings.iter().map(|it| it.line).collect();
        assert_eq!(lines, [4, 5, 6, 7], "{:?}", report.findings);
    }
}
