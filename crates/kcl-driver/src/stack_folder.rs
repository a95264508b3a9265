//! Which folders are stacks: the one rule for `kcl batch` and the engine.

use base_system::{FileKind, System};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Folders that are not searched for stacks, in addition to hidden ones.
const SKIPPED: [&str; 5] = ["vendor", "node_modules", "target", "ci-test", "crd"];

/// Endings of file names. Most entries of a folder are files, and most files are recognised by
/// their name, without asking the system.
const FILE_ENDINGS: [&str; 8] = [".k", ".yaml", ".yml", ".json", ".toml", ".md", ".mod", ".lock"];

/// A folder that is a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFolder {
    /// The real, absolute path of the folder.
    pub folder: PathBuf,
    /// Whether it has a `stack.yaml`.
    pub has_stack_file: bool,
    /// Whether a `kcl.yaml` or `kcl.mod` says which files are run. Without them, all KCL files
    /// of the folder are run.
    pub has_settings: bool,
}

/// Why no stacks are found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FindError {
    /// A folder can't be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The folder is not a stack, and there is none below it.
    #[error(
        "there is no stack in {}: a stack is a folder with a stack.yaml, a kcl.yaml or a main.k",
        .0.display()
    )]
    NoStack(PathBuf),
}

/// Finds the stacks of a folder, in the order of their paths: the folder itself if it is a
/// stack, else all stacks below it.
///
/// A folder with a `stack.yaml` or a `kcl.yaml` is a stack. `folder` itself is also one if it has
/// a `main.k` and is not a project. Stacks are not nested: nothing below a stack is searched, and
/// neither are links, hidden folders, `vendor`, `node_modules`, `target`, `ci-test` and `crd`.
///
/// # Errors
///
/// If a folder can't be read or there is no stack.
pub fn find_stacks(system: &dyn System, folder: &Path) -> Result<Vec<StackFolder>, FindError> {
    let root = system.canonicalize(folder).map_err(unreadable(folder))?;
    let entries = system.read_dir(&root).map_err(unreadable(&root))?;
    if let Some(stack) = stack_of(&root, &entries, true) {
        return Ok(vec![stack]);
    }
    let mut stacks = Vec::new();
    let mut pending = inner_folders(system, &entries);
    while let Some(folder) = pending.pop() {
        let entries = system.read_dir(&folder).map_err(unreadable(&folder))?;
        match stack_of(&folder, &entries, false) {
            Some(stack) => stacks.push(stack),
            None => pending.extend(inner_folders(system, &entries)),
        }
    }
    if stacks.is_empty() {
        return Err(FindError::NoStack(root));
    }
    stacks.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(stacks)
}

/// Returns the stack that a folder is, by the names of its entries.
fn stack_of(folder: &Path, entries: &[PathBuf], is_named: bool) -> Option<StackFolder> {
    let has = |name: &str| entries.iter().any(|path| path.file_name().is_some_and(|it| it == name));
    let (has_stack_file, has_kcl_yaml) = (has("stack.yaml"), has("kcl.yaml"));
    let is_program = || is_named && has("main.k") && !has("project.yaml");
    (has_stack_file || has_kcl_yaml || is_program()).then(|| StackFolder {
        folder: folder.to_path_buf(),
        has_stack_file,
        has_settings: has_kcl_yaml || has("kcl.mod"),
    })
}

fn inner_folders(system: &dyn System, entries: &[PathBuf]) -> Vec<PathBuf> {
    let may_hold_stacks = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        !name.starts_with('.')
            && !SKIPPED.contains(&name)
            && !FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
            && is_real_folder(system, path)
    };
    entries.iter().filter(may_hold_stacks).cloned().collect()
}

/// Whether a path is a folder and not a link: links may form a cycle.
fn is_real_folder(system: &dyn System, path: &Path) -> bool {
    let facts = system.link_metadata(path).ok().flatten();
    facts.is_some_and(|facts| facts.kind == FileKind::Directory)
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> FindError {
    move |error| FindError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}
