//! Which stacks there are.

use super::Stack;
use base_system::System;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The files that make a folder a stack.
const MARKS: [&str; 2] = ["kcl.yaml", "stack.yaml"];

/// Folders in which no stacks are looked for, beside hidden ones.
const SKIPPED: [&str; 3] = ["vendor", "node_modules", "target"];

/// Why a list of stacks can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListError {
    /// The list or the folder can't be read.
    #[error("failed to read {path}: {reason}")]
    Unreadable {
        /// The list or folder.
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

/// Finds the stacks at and below a folder, in the order of their paths: every folder with a
/// `kcl.yaml` or a `stack.yaml`.
///
/// # Errors
///
/// If the folder can't be read or holds no stack.
pub fn find_stacks(system: &dyn System, root: &Path) -> Result<Vec<Stack>, ListError> {
    let unreadable = |error: std::io::Error| ListError::Unreadable {
        path: shown(root),
        reason: error.to_string(),
    };
    let root = system.canonicalize(root).map_err(unreadable)?;
    let mut stacks = Vec::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        let entries = match system.read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(unreadable(error)),
            Err(_) => continue,
        };
        add_stack(system, &folder, &entries, &mut stacks);
        // The last one is looked at first.
        let inner = entries.into_iter().rev().filter(|path| may_hold_stacks(system, path));
        pending.extend(inner);
    }
    if stacks.is_empty() { Err(ListError::Empty(shown(&root))) } else { Ok(stacks) }
}

fn add_stack(system: &dyn System, folder: &Path, entries: &[PathBuf], stacks: &mut Vec<Stack>) {
    let has = |name: &str| entries.iter().any(|path| path.file_name().is_some_and(|n| n == name));
    if !MARKS.into_iter().any(has) {
        return;
    }
    // Without settings, all files of the folder are run.
    let inputs = if has("kcl.yaml") || has("kcl.mod") {
        Vec::new()
    } else if system.is_dir(folder) {
        vec![".".to_owned()]
    } else {
        return;
    };
    stacks.push(Stack { folder: folder.to_path_buf(), inputs, arguments: Vec::new() });
}

fn may_hold_stacks(system: &dyn System, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
    // Most entries are files, and most files say so by a dot in their name.
    !name.starts_with('.')
        && !SKIPPED.contains(&name)
        && !has_file_extension(name)
        && system.is_dir(path)
}

fn has_file_extension(name: &str) -> bool {
    [".k", ".yaml", ".yml", ".json", ".toml", ".md", ".mod", ".lock"]
        .iter()
        .any(|extension| name.ends_with(extension))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
