//! Words that the glossary of `CONTRIBUTING.md` replaced.

use super::scan::{code_only, test_lines};
use super::{Finding, Report};
use crate::tree::Tree;

/// Crates with other rules: the sandbox uses the words of a Kubernetes server.
const EXEMPT: &[&str] = &["kusion-sandbox"];

/// Phrases in lower case, each with the term to use instead.
const REPLACED: &[(&str, &str)] = &[
    ("are meant", "match, are selected"),
    ("is meant", "matches, is selected"),
    ("as people say it", "as shown to users"),
    ("at once", "immediately, at the same time"),
    ("fares", "health"),
    ("found out", "determined"),
    ("gives the lease back", "releases the lease"),
    ("gives the lock back", "releases the lock"),
    ("in a circle", "in a cycle"),
    ("it is gone", "it is missing"),
    ("lead nowhere", "cannot be resolved"),
    ("leads nowhere", "cannot be resolved"),
    ("lies below", "is in"),
    ("lies in", "is in, is stored in"),
    ("looked into", "checked"),
    ("made again", "recreated"),
    ("names stay", "codes are stable"),
    ("nobody can", "cannot be"),
    ("nobody is left to tell", "the failure cannot be reported"),
    ("nobody knows", "unknown"),
    ("not begun", "not started"),
    ("on its way", "progressing"),
    ("rehearsal", "dry run"),
    ("rehearse", "dry run"),
    ("rehearsed", "dry run"),
    ("rehearses", "dry run"),
    ("somebody", "another process, a user"),
    ("the time is over", "timed out after"),
    ("the wish", "the desired state, the request"),
    ("to be found out", "to be determined"),
    ("turned away", "rejected"),
    ("wanted", "desired, requested"),
    ("what is known", "the state"),
    ("what is there", "the live state"),
    ("what the state knows", "the recorded state"),
    ("whose wants", "whose Spec"),
    ("without a word", "unexpectedly"),
    ("without an ending", "interrupted"),
    ("without asking anyone", "without a network call"),
];

/// Checks the comments and literals of the crates of `kusion`; tests may use any words.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in tree.rust_files().filter(|file| is_checked(&file.path)) {
        let code = code_only(&file.text);
        let in_test = test_lines(&code);
        let lines = file.text.lines().zip(code.lines()).zip(in_test);
        for (idx, ((text, code), _)) in lines.enumerate().filter(|(_, (_, in_test))| !in_test) {
            let prose = prose(text, code);
            for (phrase, term) in REPLACED.iter().filter(|it| has_phrase(&prose, it.0)) {
                let message = format!("`{phrase}`: say `{term}` (glossary in CONTRIBUTING.md)");
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
            if says_is_no(&prose) {
                let message = "`is no X`: say `is not a valid X` or `is not a X`";
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
        }
    }
}

fn is_checked(path: &str) -> bool {
    let Some((name, rest)) = path.strip_prefix("crates/").and_then(|it| it.split_once('/')) else {
        return false;
    };
    let is_source = rest.starts_with("src/") && !rest.ends_with("/tests.rs");
    name.starts_with("kusion-") && !EXEMPT.contains(&name) && is_source
}

/// Returns the comments and literals of a line in lower case: what is blank in its code.
fn prose(text: &str, code: &str) -> String {
    let keep = |(text, code): (char, char)| if code == ' ' { text } else { ' ' };
    text.chars().zip(code.chars()).map(keep).collect::<String>().to_lowercase()
}

fn has_phrase(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let is_edge = |it: Option<char>| !it.is_some_and(|it| it.is_alphanumeric() || it == '_');
        is_edge(line[..at].chars().next_back()) && is_edge(line[at + phrase.len()..].chars().next())
    })
}

/// Whether a line says `X is no Y`; `there is no X` and `is no longer` are standard English.
fn says_is_no(line: &str) -> bool {
    line.match_indices(" is no ").any(|(at, found)| {
        let (before, after) = (&line[..at], &line[at + found.len()..]);
        !before.ends_with("there") && !after.starts_with("longer") && !after.starts_with("more ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let file = File { path: path.into(), text: text.into() };
        let mut report = Report::default();
        check(&Tree { files: vec![file] }, &mut report);
        report.findings.iter().map(|it| it.line).collect()
    }

    #[test]
    fn replaced_words_are_found_in_comments_and_literals() {
        let text = "/// Stops at once.\nfn a(wanted: u8) {\n    b(\"`x` is no name\");\n}\n\
                    // The file lies in a folder.\n/// There is no file; it is no longer here.\n\
                    #[cfg(test)]\nmod tests {\n    // At once.\n}\n";
        assert_eq!(found("crates/kusion-cli/src/a.rs", text), [1, 3, 5]);
    }

    #[test]
    fn other_crates_and_tests_are_exempt() {
        for path in ["crates/kcl-eval/src/a.rs", "crates/kusion-sandbox/src/a.rs"] {
            assert_eq!(found(path, "// At once.\n"), [] as [usize; 0]);
        }
        assert_eq!(found("crates/kusion-cli/tests/it/a.rs", "// At once.\n"), [] as [usize; 0]);
    }

    #[test]
    fn only_whole_phrases_count() {
        assert!(has_phrase("stop at once.", "at once"));
        assert!(!has_phrase("unwanted", "wanted"));
    }
}
