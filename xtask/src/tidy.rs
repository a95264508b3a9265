//! The house rules, one file each.

mod docs;
mod glossary;
mod layers;
mod lints;
mod manifest;
mod neutral;
mod scan;
mod sources;
mod words;

use crate::tree::Tree;
use std::fmt;

/// One broken rule: where, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Path from the root of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong and how to put it right.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// What all checks together have to say.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Figures worth knowing even when all is well.
    pub figures: Vec<String>,
    /// Broken rules.
    pub findings: Vec<Finding>,
}

/// Runs every check.
pub(crate) fn check(tree: &Tree) -> Report {
    let mut report = Report::default();
    let manifests = manifest::read_all(tree);
    layers::check(&manifests, &mut report);
    lints::check(tree, &mut report);
    sources::check(tree, &mut report);
    words::check(tree, &mut report);
    neutral::check(tree, &mut report);
    glossary::check(tree, &mut report);
    docs::check(tree, &manifests, &mut report);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let report = check(&Tree::load().expect("git lists the files"));
        let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}
