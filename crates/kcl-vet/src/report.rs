//! What is wrong with data.

use base_diag::{Colour, Findings};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What was found out about one data file.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The name of the file.
    pub name: String,
    /// How many documents it has.
    pub documents: usize,
    /// What is wrong, in the order of the documents. Empty for valid data.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Whether all documents are valid.
    pub fn is_valid(&self) -> bool {
        self.failures.is_empty()
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let failures: Vec<Value> = self.failures.iter().map(Failure::to_json).collect();
        json!({
            "file": self.name,
            "valid": self.is_valid(),
            "documents": self.documents,
            "failures": failures,
        })
    }

    /// The failures as text.
    pub fn to_text(&self, colour: Colour) -> String {
        let mut text = String::new();
        for failure in &self.failures {
            if failure.findings.is_empty() {
                let place = failure.data.as_ref().map(|at| format!(":{}:{}", at.line, at.col));
                let place = place.unwrap_or_default();
                let _ = writeln!(text, "error: {}{place}: {}\n", self.name, failure.message);
            } else {
                text.push_str(&failure.findings.to_text(colour));
            }
        }
        text
    }
}

/// One thing that is wrong with a document.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The code of the finding; `None` if the data could not be read.
    pub code: Option<&'static str>,
    /// The kind of the finding, such as `TypeError`.
    pub kind: Option<&'static str>,
    /// What is wrong.
    pub message: String,
    /// Which document it is in, from 1.
    pub document: usize,
    /// The place in the data.
    pub data: Option<Place>,
    /// The place of the rule that is broken.
    pub rule: Option<Place>,
    /// Whether evaluation found it; otherwise the check of types or the reader of data.
    pub is_of_evaluation: bool,
    /// The finding with the texts that it points into; empty if the data could not be read.
    pub findings: Findings,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as messages show it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub col: u32,
    /// What is said about this place.
    pub message: String,
}

impl Failure {
    fn to_json(&self) -> Value {
        let place = |place: &Place| {
            json!({
                "file": place.file, "line": place.line, "column": place.col, "message": place.message,
            })
        };
        json!({
            "code": self.code,
            "kind": self.kind,
            "message": self.message,
            "document": self.document,
            "data": self.data.as_ref().map(place),
            "rule": self.rule.as_ref().map(place),
        })
    }
}
