//! Why stacks do not compile.

use kcl_driver::FindError;
use std::path::{Path, PathBuf};

/// Why stacks do not compile. The text names files, lines and resources.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A `project.yaml` or `stack.yaml` is wrong, or a file of `crd/`.
    #[error("{}: {message}", place(path, *line))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, where it is known.
        line: Option<u32>,
        /// What is wrong.
        message: String,
    },
    /// There is no stack, or a folder cannot be read.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Two stacks of a project have one name.
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
    /// A top-level argument is not `key=value`.
    #[error("`{0}` is no argument: write `key=value`")]
    Argument(String),
    /// The program of a stack fails.
    #[error("{}", .text.trim_end())]
    Program {
        /// The folder of the stack.
        stack: PathBuf,
        /// The findings, as the compiler shows them.
        text: String,
    },
    /// The output of a stack is no Spec.
    #[error("stack {}: {message}", stack.display())]
    Output {
        /// The folder of the stack.
        stack: PathBuf,
        /// What is wrong, with the resource and its place.
        message: String,
    },
    /// Several stacks fail.
    #[error("{}", several(.0))]
    Several(Vec<GenerateError>),
}

fn place(path: &Path, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

fn several(errors: &[GenerateError]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    format!("{} stacks fail\n{}", errors.len(), texts.join("\n"))
}
