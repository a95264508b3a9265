//! Which stacks there are.

use crate::GenerateError;
use base_system::System;
use kusion_model::{FileError, ProjectFile, StackFile};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders in which no stacks are looked for, beside hidden ones.
const SKIPPED: [&str; 5] = ["vendor", "node_modules", "target", "ci-test", "crd"];

/// A project: what its stacks have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The name: of `project.yaml`, else of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What `project.yaml` says; all empty without one.
    pub file: ProjectFile,
}

/// A stack of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The name: of `stack.yaml`, else of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What `stack.yaml` says; all empty without one.
    pub file: StackFile,
    /// The project.
    pub project: Arc<Project>,
    /// Whether there is a `kcl.yaml` or a `kcl.mod` that says what is run.
    pub(crate) has_settings: bool,
}

/// Finds the stacks of a folder, in the order of their paths: the stack itself, those of a
/// project, or all below.
///
/// # Errors
///
/// If a folder cannot be read, a `project.yaml` or `stack.yaml` is wrong, two stacks of a
/// project have one name, or there is no stack.
pub fn find(system: &dyn System, folder: &Path) -> Result<Vec<Stack>, GenerateError> {
    let mut finder = Finder { system, projects: FxHashMap::default() };
    let folder = system.canonicalize(folder).map_err(unreadable(folder))?;
    let mut stacks = Vec::new();
    let entries = system.read_dir(&folder).map_err(unreadable(&folder))?;
    if let Some(stack) = finder.stack(&folder, &entries, true)? {
        stacks.push(stack);
    } else {
        let mut pending: Vec<PathBuf> = inner_folders(system, &entries);
        while let Some(folder) = pending.pop() {
            let entries = system.read_dir(&folder).map_err(unreadable(&folder))?;
            match finder.stack(&folder, &entries, false)? {
                Some(stack) => stacks.push(stack),
                None => pending.extend(inner_folders(system, &entries)),
            }
        }
    }
    if stacks.is_empty() {
        return Err(GenerateError::NoStack(folder));
    }
    stacks.sort_by(|a, b| a.folder.cmp(&b.folder));
    check_names(&stacks)?;
    Ok(stacks)
}

struct Finder<'s> {
    system: &'s dyn System,
    /// The nearest project of folders that were asked for.
    projects: FxHashMap<PathBuf, Option<Arc<Project>>>,
}

impl Finder<'_> {
    /// Returns the stack that a folder is. One that was named may also be a folder with a
    /// program only.
    fn stack(
        &mut self,
        folder: &Path,
        entries: &[PathBuf],
        is_named: bool,
    ) -> Result<Option<Stack>, GenerateError> {
        let has =
            |name: &str| entries.iter().any(|path| path.file_name().is_some_and(|it| it == name));
        let has_settings = has("kcl.yaml") || has("kcl.mod");
        let is_project = has("project.yaml");
        let is_program = has("kcl.yaml") || (is_named && has("main.k") && !is_project);
        if !has("stack.yaml") && !is_program {
            return Ok(None);
        }
        let (name, file) = if has("stack.yaml") {
            let path = folder.join("stack.yaml");
            let text = self.system.read_to_string(&path).map_err(unreadable(&path))?;
            let file = StackFile::parse(&text).map_err(wrong(&path))?;
            (file.name.clone(), file)
        } else {
            (folder_name(folder), StackFile::default())
        };
        let project = match self.project(folder)? {
            Some(project) => project,
            None => {
                let parent = folder.parent().unwrap_or(folder);
                Arc::new(Project {
                    name: folder_name(parent),
                    folder: parent.to_path_buf(),
                    file: ProjectFile::default(),
                })
            }
        };
        Ok(Some(Stack { name, folder: folder.to_path_buf(), file, project, has_settings }))
    }

    /// Returns the nearest project at or above a folder.
    fn project(&mut self, folder: &Path) -> Result<Option<Arc<Project>>, GenerateError> {
        let mut asked = Vec::new();
        let mut found = None;
        for above in folder.ancestors() {
            if let Some(known) = self.projects.get(above) {
                found.clone_from(known);
                break;
            }
            asked.push(above);
            let path = above.join("project.yaml");
            if self.system.is_file(&path) {
                let text = self.system.read_to_string(&path).map_err(unreadable(&path))?;
                let file = ProjectFile::parse(&text).map_err(wrong(&path))?;
                let (name, folder) = (file.name.clone(), above.to_path_buf());
                found = Some(Arc::new(Project { name, folder, file }));
                break;
            }
        }
        for folder in asked {
            self.projects.insert(folder.to_path_buf(), found.clone());
        }
        Ok(found)
    }
}

fn inner_folders(system: &dyn System, entries: &[PathBuf]) -> Vec<PathBuf> {
    let may_hold_stacks = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        let is_file = [".k", ".yaml", ".yml", ".json", ".md", ".mod", ".lock"]
            .iter()
            .any(|extension| name.ends_with(extension));
        !name.starts_with('.')
            && !SKIPPED.contains(&name)
            && !is_file
            && is_real_folder(system, path)
    };
    entries.iter().filter(may_hold_stacks).cloned().collect()
}

/// Whether a path is a folder and no link: links may lead round in a circle.
fn is_real_folder(system: &dyn System, path: &Path) -> bool {
    system.is_dir(path) && system.link_metadata(path).is_ok_and(|facts| facts.is_some())
}

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "default".to_owned())
}

fn check_names(stacks: &[Stack]) -> Result<(), GenerateError> {
    let mut seen: FxHashMap<(&Path, &str), &Stack> = FxHashMap::default();
    for stack in stacks {
        let key = (stack.project.folder.as_path(), stack.name.as_str());
        if let Some(first) = seen.insert(key, stack) {
            return Err(GenerateError::DuplicateStack {
                project: stack.project.name.clone(),
                stack: stack.name.clone(),
                first: first.folder.clone(),
                second: stack.folder.clone(),
            });
        }
    }
    Ok(())
}

/// Makes the error of a file or folder that cannot be read.
pub(crate) fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> GenerateError {
    move |error| GenerateError::Unreadable { path: path.to_owned(), reason: error.to_string() }
}

fn wrong(path: &Path) -> impl FnOnce(FileError) -> GenerateError {
    move |error| GenerateError::File {
        path: path.to_owned(),
        line: error.line,
        message: error.message,
    }
}
