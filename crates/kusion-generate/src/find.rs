//! Search for stacks.

use crate::GenerateError;
use crate::cells::{Dims, StackCell};
use crate::files::{FileError, ProjectFile, StackFile};
use base_system::System;
use kcl_driver::{StackFolder, find_stacks};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project: what its stacks have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The name: of `project.yaml`, else of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Contents of `project.yaml`; empty without one.
    pub file: ProjectFile,
}

/// A stack of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The name: of `stack.yaml`, else of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Contents of `stack.yaml`; empty without one.
    pub file: StackFile,
    /// The project.
    pub project: Arc<Project>,
    /// The cell; `None` for a stack without cells. A stack with cells is found once for each.
    pub cell: Option<StackCell>,
    /// Whether a `kcl.yaml` or `kcl.mod` lists the files to run.
    pub(crate) has_settings: bool,
}

impl Stack {
    /// Returns the names of project and stack, as users write them.
    pub fn qualified_name(&self) -> String {
        format!("{}/{}", self.project.name, self.name)
    }

    /// Returns the names of project and stack, and of the cell if there is one, for display.
    pub fn full_name(&self) -> String {
        match &self.cell {
            Some(cell) => format!("{} in {}", self.qualified_name(), cell.name),
            None => self.qualified_name(),
        }
    }

    /// Returns the name of the cell; empty for a stack without cells.
    pub fn cell_name(&self) -> &str {
        self.cell.as_ref().map_or("", |cell| &cell.name)
    }
}

/// Finds the stacks of folders, in the order of their paths, each once, and each cell of a stack
/// with cells. Of each folder: the stack itself, those of a project, or all below it. Relative
/// folders start at `work_dir`, which is searched itself if there are none.
///
/// # Errors
///
/// If a folder cannot be read, a `project.yaml` or `stack.yaml` is invalid, two stacks of a
/// project have the same name, or there is no stack.
pub fn find(
    system: &(dyn System + Sync),
    work_dir: &Path,
    folders: &[PathBuf],
) -> Result<Vec<Stack>, GenerateError> {
    find_cells(system, work_dir, folders, None)
}

/// Finds the cells of stacks that a selector has, like [`find`]. With a selector, stacks without
/// cells are left out.
///
/// # Errors
///
/// As [`find`], or if the selector is invalid or has no cell of the stacks.
pub fn find_cells(
    system: &(dyn System + Sync),
    work_dir: &Path,
    folders: &[PathBuf],
    cells: Option<&str>,
) -> Result<Vec<Stack>, GenerateError> {
    let found = find_each(system, work_dir, folders, cells)?;
    let stacks: Vec<Stack> =
        found.into_iter().map(|it| it.map_err(|broken| broken.error)).collect::<Result<_, _>>()?;
    check_names(&stacks)?;
    Ok(stacks)
}

/// A stack that cannot be used.
#[derive(Debug)]
pub struct BrokenStack {
    /// The folder of the stack.
    pub stack: PathBuf,
    /// The error.
    pub error: GenerateError,
}

/// Finds stacks like [`find`]. A stack whose files are invalid does not keep others from being
/// found. Names are not compared.
pub(crate) fn find_each(
    system: &(dyn System + Sync),
    work_dir: &Path,
    folders: &[PathBuf],
    cells: Option<&str>,
) -> Result<Vec<Result<Stack, BrokenStack>>, GenerateError> {
    let work_dir = system.canonicalize(work_dir).map_err(unreadable(work_dir))?;
    let mut finder = Finder {
        system,
        work_dir: &work_dir,
        cells,
        projects: FxHashMap::default(),
        dims: FxHashMap::default(),
    };
    let mut found = Vec::new();
    if folders.is_empty() {
        found = find_stacks(system, &work_dir)?;
    }
    for folder in folders {
        found.extend(find_stacks(system, &work_dir.join(folder))?);
    }
    found.sort_by(|a, b| a.folder.cmp(&b.folder));
    found.dedup();
    let mut stacks = Vec::with_capacity(found.len());
    for stack in found {
        let folder = stack.folder.clone();
        let read = finder.stack(stack).and_then(|stack| finder.cells(stack));
        match read {
            Ok(cells) => stacks.extend(cells.into_iter().map(Ok)),
            Err(error) => stacks.push(Err(BrokenStack { stack: folder, error })),
        }
    }
    match cells {
        Some(selector) if stacks.is_empty() => Err(GenerateError::NoCell(selector.to_owned())),
        _ => Ok(stacks),
    }
}

struct Finder<'s> {
    system: &'s (dyn System + Sync),
    /// The working folder.
    work_dir: &'s Path,
    /// The cells that are looked for; all without a selector.
    cells: Option<&'s str>,
    /// The axes of each folder with a `dims.k`.
    dims: FxHashMap<PathBuf, Arc<Dims>>,
    /// A cache of the nearest project of each folder.
    projects: FxHashMap<PathBuf, Option<Arc<Project>>>,
}

impl Finder<'_> {
    /// Reads the files of a stack and of its project.
    fn stack(&mut self, stack: StackFolder) -> Result<Stack, GenerateError> {
        let StackFolder { folder, has_stack_file, has_settings } = stack;
        let (name, file) = if has_stack_file {
            let path = folder.join("stack.yaml");
            let text = self.system.read_to_string(&path).map_err(unreadable(&path))?;
            let file = StackFile::parse(&text).map_err(wrong(&path))?;
            (file.name.clone(), file)
        } else {
            (folder_name(&folder), StackFile::default())
        };
        let project = match self.project(&folder)? {
            Some(project) => project,
            None => {
                let parent = folder.parent().unwrap_or(&folder);
                Arc::new(Project {
                    name: folder_name(parent),
                    folder: parent.to_path_buf(),
                    file: ProjectFile::default(),
                })
            }
        };
        Ok(Stack { name, folder, file, project, cell: None, has_settings })
    }

    /// Returns the stack for each of its cells that are looked for, or itself if it has none.
    fn cells(&mut self, stack: Stack) -> Result<Vec<Stack>, GenerateError> {
        if stack.file.cells.is_none() {
            return Ok(if self.cells.is_none() { vec![stack] } else { Vec::new() });
        }
        let path = stack.folder.join("stack.yaml");
        let fail =
            |message: String| GenerateError::File { path: path.clone(), line: None, message };
        let folder = Dims::folder_of(self.system, &stack.folder, self.work_dir).map_err(fail)?;
        let dims = match self.dims.get(&folder) {
            Some(dims) => Arc::clone(dims),
            None => {
                let dims = Arc::new(Dims::read(self.system, &folder)?);
                self.dims.insert(folder, Arc::clone(&dims));
                dims
            }
        };
        let cells = stack.file.cells_of(&dims, self.cells).map_err(fail)?;
        Ok(cells.into_iter().map(|cell| Stack { cell: Some(cell), ..stack.clone() }).collect())
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

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "default".to_owned())
}

pub(crate) fn check_names(stacks: &[Stack]) -> Result<(), GenerateError> {
    let mut seen: FxHashMap<(&Path, &str, &str), &Stack> = FxHashMap::default();
    for stack in stacks {
        let key = (stack.project.folder.as_path(), stack.name.as_str(), stack.cell_name());
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

/// Creates the error of a file or folder that cannot be read.
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
