//! What must not stand in any text file of the repository.

use super::{Finding, Report};
use crate::tree::Tree;

/// Paths that exist on one machine only. Written in pieces, so that this file passes.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/tar", "get")];

/// Whole words, in lower case, that tell how the text came to be instead of what it says.
const ORIGIN_WORDS: &[&str] = &[
    concat!("cla", "ude"),
    concat!("anthro", "pic"),
    concat!("open", "ai"),
    concat!("chat", "g", "pt"),
    concat!("gp", "t"),
    concat!("ll", "m"),
    concat!("ll", "ms"),
    concat!("co", "pilot"),
    concat!("code", "x"),
    concat!("as an a", "i"),
    concat!("ai-gene", "rated"),
    concat!("language mod", "el"),
    concat!("co-authored", "-by"),
];

/// Checks every text file.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (idx, line) in file.text.lines().enumerate() {
            for path in MACHINE_PATHS.iter().filter(|path| line.contains(**path)) {
                let message = format!("`{path}` is a path of one machine: make it relative");
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
            let lower = line.to_lowercase();
            for word in ORIGIN_WORDS.iter().filter(|word| has_word(&lower, word)) {
                let message = format!("`{word}`: say what the thing is, not how it was made");
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
        }
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_edge = |it: Option<char>| !it.is_some_and(char::is_alphanumeric);
        is_edge(line[..at].chars().next_back()) && is_edge(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    #[test]
    fn paths_and_words_are_found() {
        let text = format!("a\nsee {}x, {} did it\n", MACHINE_PATHS[0], ORIGIN_WORDS[0]);
        let tree = Tree { files: vec![File { path: "a.md".into(), text }] };
        let mut report = Report::default();
        check(&tree, &mut report);
        let lines: Vec<usize> = report.findings.iter().map(|it| it.line).collect();
        assert_eq!(lines, [2, 2]);
    }

    #[test]
    fn only_whole_words_count() {
        assert!(has_word("an abc.", "abc"));
        assert!(!has_word("a xabcd", "abc"));
        assert!(!has_word("xabc", "abc"));
    }
}
