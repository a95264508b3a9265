//! Lists of stacks.

use super::Stack;
use base_system::System;
use std::path::Path;
use thiserror::Error;

/// Why a list of stacks can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListError {
    /// The list can't be read.
    #[error("failed to read {path}: {reason}")]
    Unreadable {
        /// The list.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// It names no stack.
    #[error("there is no stack in {0}")]
    Empty(String),
}

/// Reads a list of stacks: on each line the working folder and then the files to run, with
/// tabs between; `-Dkey=value` sets an argument.
///
/// Folders are relative to that of the list, files to the working folder.
///
/// # Errors
///
/// If the list can't be read or is empty.
pub fn read_list(system: &dyn System, path: &Path) -> Result<Vec<Stack>, ListError> {
    let unreadable = |error: std::io::Error| ListError::Unreadable {
        path: shown(path),
        reason: error.to_string(),
    };
    let text = system.read_to_string(path).map_err(unreadable)?;
    let base = path.parent().unwrap_or(Path::new(""));
    let mut stacks = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut words = line.split('\t').filter(|word| !word.is_empty());
        let Some(folder) = words.next() else { continue };
        let mut stack = Stack { folder: base.join(folder), ..Stack::default() };
        for word in words {
            match word.strip_prefix("-D") {
                Some(argument) => stack.arguments.push(argument.to_owned()),
                None => stack.inputs.push(word.to_owned()),
            }
        }
        stacks.push(stack);
    }
    if stacks.is_empty() { Err(ListError::Empty(shown(path))) } else { Ok(stacks) }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
