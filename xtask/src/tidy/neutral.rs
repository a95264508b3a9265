//! Crates that know no kind of infrastructure.

use super::scan::{code_only, test_lines, without_comments};
use super::{Finding, Report};
use crate::tree::Tree;

/// Crates below and with the engine: whatever is special to one infrastructure is in its runtime.
const CRATES: &[&str] = &["kusion-model", "kusion-plan", "kusion-runtime", "kusion-engine"];

/// Words of one infrastructure, in lower case.
const WORDS: &[&str] =
    &["kubernetes", "k8s", "kube", "apiversion", "namespace", "customresource", "deployment"];

/// Checks the code of these crates; comments and tests may give examples.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let is_neutral = |path: &str| {
        CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")))
            && !path.ends_with("/tests.rs")
    };
    for file in tree.rust_files().filter(|file| is_neutral(&file.path)) {
        let in_test = test_lines(&code_only(&file.text));
        let code = without_comments(&file.text);
        for (idx, (line, _)) in code.lines().zip(in_test).enumerate().filter(|(_, it)| !it.1) {
            let lower = line.to_lowercase();
            for word in WORDS.iter().filter(|word| lower.contains(**word)) {
                let message = format!(
                    "`{word}`: the engine knows no kind of infrastructure; ask its runtime"
                );
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    #[test]
    fn words_in_code_are_found_and_in_comments_not() {
        let text = "//! Kubernetes\nfn a() {\n    b(\"kube-system\"); // namespace\n}\n\
                    #[cfg(test)]\nmod tests {\n    const C: &str = \"k8s\";\n}\n";
        let file = |path: &str| File { path: path.into(), text: text.into() };
        let files = vec![file("crates/kusion-plan/src/a.rs"), file("crates/kusion-cli/src/a.rs")];
        let mut report = Report::default();
        check(&Tree { files }, &mut report);
        let found: Vec<usize> = report.findings.iter().map(|it| it.line).collect();
        assert_eq!(found, [3]);
    }
}
