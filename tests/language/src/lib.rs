//! The cases in `tests/fixtures`: small programs with the answers of the reference.
//!
//! A file holds the cases of one topic. `.ci/fixtures` runs them through the reference; the test
//! `fixtures` of this crate runs them here, each as a test of its own, and with `UPDATE=1`
//! rewrites the answers. Start reading at [`Topic`].
//!
//! ```text
//! === an_argument_becomes_the_value_of_an_option
//! $ -D n=3
//! a = option("n")
//! --- output
//! a: 3
//!
//! === a_name_that_is_not_there_is_refused
//! a = b
//! --- error
//! E2L23 main.k:1: name 'b' is not defined
//! ```
//!
//! A line `$ …` holds arguments of `kcl run`, lines `#- path` start further files as in
//! [`testkit::Fixture`], and a comment `# differs: …` names the row of `docs/differences.md`, or
//! the reason, why the answer is not that of the reference.

mod answer;

pub use answer::{answer, check_data};

use anyhow::{Context as _, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The cases of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The path below the folder of fixtures, without extension: `strings/methods`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// One program and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The behaviour it shows.
    pub name: String,
    /// Arguments of `kcl run`, without `main.k`.
    pub arguments: Vec<String>,
    /// The program: one or more files in one text.
    pub program: String,
    /// The expected answer: `--- output` or `--- error`, then its lines.
    pub answer: String,
}

impl Topic {
    /// Reads all files of a folder and of those below it, by name.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or two of its cases have the same name.
    pub fn read_all(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let mut paths = Vec::new();
        list(folder, &mut paths)?;
        paths.sort();
        paths.into_iter().map(|path| Self::read(folder, path)).collect()
    }

    fn read(folder: &Path, path: PathBuf) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(folder)?.with_extension("").to_string_lossy().into_owned();
        let cases = parse(&text);
        for (at, case) in cases.iter().enumerate() {
            let is_new = cases[..at].iter().all(|other| other.name != case.name);
            ensure!(is_new, "{}: two cases are named `{}`", path.display(), case.name);
        }
        Ok(Self { name, path, cases })
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "=== {}", case.name);
            if !case.arguments.is_empty() {
                let _ = writeln!(text, "$ {}", case.arguments.join(" "));
            }
            let _ = writeln!(text, "{}{}", case.program, case.answer);
        }
        text
    }
}

fn list(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
    Ok(())
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            let (program, answer) = (String::new(), String::new());
            cases.push(Case { name: name.trim().into(), arguments: Vec::new(), program, answer });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        let is_start = matches!(line, "--- output" | "--- error");
        if is_start || !case.answer.is_empty() {
            case.answer.push_str(line);
            case.answer.push('\n');
        } else if let Some(words) = line.strip_prefix("$ ").filter(|_| case.program.is_empty()) {
            case.arguments = words.split_whitespace().map(str::to_owned).collect();
        } else {
            case.program.push_str(line);
            case.program.push('\n');
        }
    }
    for case in &mut cases {
        case.answer.truncate(case.answer.trim_end_matches('\n').len());
        case.program.truncate(case.program.trim_end_matches('\n').len());
        case.program.push('\n');
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
=== first
$ -D n=3 -k
a = 1

b = 2
--- output
a: 1
---
b: 2

=== second
a = b
--- error
E2L23 main.k:1: name 'b' is not defined
";

    #[test]
    fn a_file_is_read_and_written_again() {
        let cases = parse(TEXT);
        assert_eq!(cases[0].arguments, ["-D", "n=3", "-k"]);
        assert_eq!(cases[0].program, "a = 1\n\nb = 2\n");
        assert_eq!(cases[0].answer, "--- output\na: 1\n---\nb: 2");
        assert_eq!(cases[1].name, "second");
        let topic = Topic { name: String::new(), path: PathBuf::new(), cases };
        assert_eq!(topic.to_text(), TEXT);
    }
}
