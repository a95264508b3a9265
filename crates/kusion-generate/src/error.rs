//! Errors of compiling stacks.

use base_diag::{Colour, Finding, Findings, Severity};
use kcl_driver::FindError;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The error of stacks that do not compile. The text names files, lines and resources.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The message of the system.
        reason: String,
    },
    /// A `project.yaml`, `stack.yaml` or file of `crd/` is invalid.
    #[error("{}: {message}", place(path, *line))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, where it is known.
        line: Option<u32>,
        /// The problem.
        message: String,
    },
    /// There is no stack, or a folder cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Two stacks of a project have the same name.
    #[error(
        "project `{project}` has two stacks `{stack}`: {} and {}",
        first.display(), second.display()
    )]
    DuplicateStack {
        /// The project.
        project: String,
        /// The name of the stacks.
        stack: String,
        /// The folder of the first.
        first: PathBuf,
        /// The folder of the second.
        second: PathBuf,
    },
    /// A selector has no cell of the stacks.
    #[error("no cell of the stacks matches `{0}`; `kusion cells ls` lists cells")]
    NoCell(String),
    /// The layers of a stack are in conflict.
    #[error("{}", .problems.join("\n"))]
    Layers {
        /// The folder of the stack.
        stack: PathBuf,
        /// The problems; each message begins with `error[CODE]: `.
        problems: Vec<String>,
    },
    /// The history of the repository cannot be read.
    #[error("{0}")]
    Git(String),
    /// A value cannot be set.
    #[error("{0}")]
    Set(String),
    /// A top-level argument is not `key=value`.
    #[error("invalid argument `{0}`: expected `key=value`")]
    Argument(String),
    /// The program of a stack fails.
    #[error("{}", .findings.to_text(Colour::Never).trim_end())]
    Program {
        /// The folder of the stack.
        stack: PathBuf,
        /// The findings of the compiler.
        findings: Findings,
    },
    /// The output of a stack is not a valid Spec.
    #[error("stack {}: {message}", stack.display())]
    Output {
        /// The folder of the stack.
        stack: PathBuf,
        /// The problem, with the resource and its source location.
        message: String,
    },
    /// Some of several stacks fail.
    #[error("{}", several(.errors, *.n_stacks))]
    Several {
        /// The errors.
        errors: Vec<GenerateError>,
        /// The number of all stacks.
        n_stacks: usize,
    },
}

impl GenerateError {
    /// Returns the text of the error, which names the stack in all cases. The findings of the
    /// compiler alone name only files, which several stacks may share.
    pub fn named(&self) -> String {
        match self {
            Self::Program { stack, .. } | Self::Layers { stack, .. } => {
                format!("stack {}:\n{self}", stack.display())
            }
            _ => self.to_string(),
        }
    }

    /// Returns the errors as JSON objects, for programs. Each has `severity`, `message`, and, or
    /// `null`: `code`, `kind`, `stack` (its folder), `file`, `line`, `column` and `help`.
    pub fn to_json(&self) -> Vec<Value> {
        let plain =
            |message: &str, stack: Option<&Path>, file: Option<&Path>, line: Option<u32>| {
                object("error", message, stack, file, line)
            };
        match self {
            Self::Program { stack, findings } => findings_json(findings, stack),
            Self::File { path, line, message } => vec![plain(message, None, Some(path), *line)],
            Self::Output { stack, message } => vec![plain(message, Some(stack), None, None)],
            Self::Layers { stack, problems } => {
                problems.iter().map(|it| layer_problem(it, stack)).collect()
            }
            Self::Several { errors, .. } => errors.iter().flat_map(Self::to_json).collect(),
            Self::Unreadable { .. }
            | Self::Find(_)
            | Self::DuplicateStack { .. }
            | Self::NoCell(_)
            | Self::Git(_)
            | Self::Set(_)
            | Self::Argument(_) => vec![plain(&self.to_string(), None, None, None)],
        }
    }
}

fn layer_problem(text: &str, stack: &Path) -> Value {
    let parts = text.strip_prefix("error[").and_then(|it| it.split_once("]: "));
    let (code, message) = parts.map_or((None, text), |(code, message)| (Some(code), message));
    let mut found = object("error", message, Some(stack), None, None);
    found["code"] = json!(code);
    found
}

/// Returns a note on a stack as a JSON object; see [`GenerateError::to_json`].
pub(crate) fn note_json(note: &str, stack: &Path) -> Value {
    object("warning", note, Some(stack), None, None)
}

fn object(
    severity: &str,
    message: &str,
    stack: Option<&Path>,
    file: Option<&Path>,
    line: Option<u32>,
) -> Value {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    json!({
        "severity": severity,
        "code": null,
        "kind": null,
        "message": message,
        "stack": stack.map(path),
        "file": file.map(path),
        "line": line,
        "column": null,
        "help": null,
    })
}

/// Returns findings of the compiler about a stack as JSON objects; see [`GenerateError::to_json`].
pub(crate) fn findings_json(findings: &Findings, stack: &Path) -> Vec<Value> {
    let object = |it: Finding<'_>| {
        let severity = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        json!({
            "severity": severity,
            "code": it.code,
            "kind": it.kind,
            "message": it.message,
            "stack": stack.to_string_lossy(),
            "file": it.at.map(|(file, _)| file),
            "line": it.at.map(|(_, at)| at.line),
            "column": it.at.map(|(_, at)| at.col),
            "help": it.help,
        })
    };
    findings.iter().map(object).collect()
}

fn place(path: &Path, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

fn several(errors: &[GenerateError], n_stacks: usize) -> String {
    let texts: Vec<String> = errors.iter().map(GenerateError::named).collect();
    format!("{} of {n_stacks} stacks failed to compile\n{}", errors.len(), texts.join("\n"))
}
