//! From what stands on the command line to the files of the main package.

use crate::glob;
use base_system::System;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file that marks the root of a module.
pub const MOD_FILE: &str = "kcl.mod";

/// Folders of external packages, by package name.
pub type PackageMap = FxHashMap<String, PathBuf>;

/// One input of a program, as given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// A file, folder, pattern, `${KCL_MOD}/…` or `${name:KCL_MOD}/…`.
    pub path: String,
    /// The text, if it does not come from the file (standard input, editors).
    pub text: Option<String>,
    /// Whether a settings file or `kcl.mod` names it. What users name themselves may be any file;
    /// what a repository names must be a source, or its content would be shown in messages.
    pub is_of_settings: bool,
}

impl Input {
    /// Makes an input that is read from its path.
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), text: None, is_of_settings: false }
    }

    /// Makes an input that a settings file names.
    pub fn of_settings(path: impl Into<String>) -> Self {
        Self { is_of_settings: true, ..Self::path(path) }
    }

    /// Makes an input with a text that does not come from its path.
    pub fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::path(path) }
    }
}

/// The files of the main package and the folder that imports start from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// The root of the program.
    pub root: PathBuf,
    /// The files in order.
    pub files: Vec<EntryFile>,
}

/// One file of the main package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The external package it was named through; `None` for the program's own files.
    pub package: Option<String>,
    /// The root of its module: its imports start there.
    pub root: PathBuf,
    /// The text, if it does not come from the file.
    pub text: Option<String>,
}

/// Why nothing could be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// No input was named.
    #[error("No input KCL files or paths")]
    NoInput,
    /// A folder without files.
    #[error("No input KCL files")]
    NoFiles,
    /// A file or folder that is not there.
    #[error("Cannot find the kcl file, please check the file path {0}")]
    MissingFile(String),
    /// A file that settings name and that is no source.
    #[error("Failed to load '{0}': settings can only name KCL files (*.k)")]
    NotSource(String),
    /// A file that can't be read.
    #[error("Failed to load KCL file '{path}'. Because '{reason}'")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
}

/// Finds the folder of `kcl.mod` at or above `path`.
pub fn module_root(system: &dyn System, path: &Path) -> Option<PathBuf> {
    let path = system.canonicalize(path).ok()?;
    module_above(system, &path).map(Path::to_path_buf)
}

/// Finds the root of the module that a folder belongs to: the folder of `kcl.mod`, or the
/// folder itself.
pub fn package_root(system: &dyn System, folder: &Path) -> PathBuf {
    let folder = system.canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    match module_above(system, &folder) {
        Some(root) => root.to_path_buf(),
        None => folder,
    }
}

fn module_above<'p>(system: &dyn System, path: &'p Path) -> Option<&'p Path> {
    path.ancestors().find(|folder| system.is_file(&folder.join(MOD_FILE)))
}

/// Turns the inputs into the files of the main package.
///
/// Relative paths start at `work_dir`; `packages` gives `${name:KCL_MOD}` its meaning.
pub fn resolve_entries(
    system: &dyn System,
    inputs: &[Input],
    work_dir: &Path,
    packages: &PackageMap,
) -> Result<Entries, LoadError> {
    if inputs.is_empty() {
        return Err(LoadError::NoInput);
    }
    let inputs = expand_patterns(system, inputs, work_dir);
    let mut groups = Vec::with_capacity(inputs.len());
    for input in &inputs {
        groups.push(resolve_input(system, input, work_dir, packages)?);
    }
    let root = main_root(system, &groups, work_dir);
    let mut entries = Entries { root, files: Vec::new() };
    for group in groups {
        match group {
            Group::Files(files) => entries.files.extend(files),
            Group::InMain(input, rest) => {
                let path = entries.root.join(&rest);
                let root = Some(entries.root.clone());
                let files = files_of(system, &path, &path, None, root)?;
                entries.files.extend(check_sources(input, files)?);
            }
        }
    }
    Ok(entries)
}

/// What one input stands for.
enum Group<'i> {
    /// Files that are known.
    Files(Vec<EntryFile>),
    /// `${KCL_MOD}/rest`: known when the root of the main package is.
    InMain(&'i Input, String),
}

/// Refuses files that are no sources, if settings name them.
fn check_sources(input: &Input, files: Vec<EntryFile>) -> Result<Vec<EntryFile>, LoadError> {
    if input.is_of_settings && !files.iter().all(|file| is_source(&file.path)) {
        return Err(LoadError::NotSource(input.path.clone()));
    }
    Ok(files)
}

fn resolve_input<'i>(
    system: &dyn System,
    input: &'i Input,
    work_dir: &Path,
    packages: &PackageMap,
) -> Result<Group<'i>, LoadError> {
    if let Some(text) = &input.text {
        let path = work_dir.join(&input.path);
        let root = package_root(system, work_dir);
        let text = Some(text.clone());
        return Ok(Group::Files(vec![EntryFile { path, package: None, root, text }]));
    }
    match ModPath::parse(&input.path) {
        Some(ModPath { name: None, rest }) => Ok(Group::InMain(input, rest.into())),
        Some(ModPath { name: Some(name), rest }) => {
            let missing = || LoadError::MissingFile(input.path.clone());
            // `kcl.mod` may write `-` where imports have `_`.
            let folder = packages.get(name).or_else(|| packages.get(&name.replace('-', "_")));
            let folder = folder.ok_or_else(missing)?;
            let path = work_dir.join(folder).join(rest);
            let files = files_of(system, &path, &path, Some(name), None)?;
            check_sources(input, files).map(Group::Files)
        }
        None => {
            let path = work_dir.join(&input.path);
            let files = files_of(system, &path, Path::new(&input.path), None, None)?;
            check_sources(input, files).map(Group::Files)
        }
    }
}

/// The root of the program: that of its own files if they agree, else that of the working
/// folder.
fn main_root(system: &dyn System, groups: &[Group<'_>], work_dir: &Path) -> PathBuf {
    let mut roots = groups.iter().flat_map(|group| match group {
        Group::Files(files) => files.as_slice(),
        Group::InMain(..) => &[],
    });
    let mut own = roots.by_ref().filter(|file| file.package.is_none()).map(|file| &file.root);
    match own.next() {
        Some(first) if own.all(|root| root == first) => first.clone(),
        _ => package_root(system, work_dir),
    }
}

/// The file, or the files of the folder, at `path`. Without a `root`, it is looked for.
fn files_of(
    system: &dyn System,
    path: &Path,
    shown: &Path,
    package: Option<&str>,
    root: Option<PathBuf>,
) -> Result<Vec<EntryFile>, LoadError> {
    let missing = |_| LoadError::MissingFile(shown.display().to_string());
    let path = system.canonicalize(path).map_err(missing)?;
    let is_dir = system.is_dir(&path);
    let folder = if is_dir { &path } else { path.parent().unwrap_or(&path) };
    let root = root.unwrap_or_else(|| module_above(system, folder).unwrap_or(folder).to_path_buf());
    let paths = if is_dir {
        let all = system.read_dir(&path).map_err(missing)?;
        let files: Vec<PathBuf> = all
            .into_iter()
            .filter(|file| is_real_source(system, file) && !is_left_out(file))
            .collect();
        if files.is_empty() {
            return Err(LoadError::NoFiles);
        }
        files
    } else {
        vec![path]
    };
    let entry = |path| EntryFile {
        path,
        package: package.map(str::to_owned),
        root: root.clone(),
        text: None,
    };
    Ok(paths.into_iter().map(entry).collect())
}

/// Whether the name ends with `.k`.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "k")
}

/// Whether the name ends with `.k`, and that of what a link leads to: the content of other files
/// must not show up in messages.
pub(crate) fn is_real_source(system: &dyn System, path: &Path) -> bool {
    is_source(path)
        && match system.link_metadata(path) {
            Ok(None) => system.canonicalize(path).is_ok_and(|real| is_source(&real)),
            Ok(Some(_)) | Err(_) => true,
        }
}

/// Whether folders and packages leave a file out: one of tests, or a layer (`@env=prod.k`), which
/// is read on its own.
pub(crate) fn is_left_out(path: &Path) -> bool {
    let name = file_name(path);
    name.ends_with("_test.k") || name.starts_with('@')
}

/// The last part of a path as text; empty if it is not Unicode.
pub(crate) fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

fn expand_patterns(system: &dyn System, inputs: &[Input], work_dir: &Path) -> Vec<Input> {
    let mut expanded = Vec::with_capacity(inputs.len());
    for input in inputs {
        let is_pattern = input.text.is_none()
            && glob::is_pattern(&input.path)
            && ModPath::parse(&input.path).is_none();
        let found =
            if is_pattern { glob::expand(system, work_dir, &input.path) } else { Vec::new() };
        if found.is_empty() {
            expanded.push(input.clone());
        } else {
            expanded.extend(
                found
                    .into_iter()
                    .map(|path| Input { path: path.display().to_string(), ..input.clone() }),
            );
        }
    }
    expanded
}

/// A path that starts at the root of a module: `${KCL_MOD}/rest`, `${name:KCL_MOD}/rest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ModPath<'p> {
    name: Option<&'p str>,
    rest: &'p str,
}

impl<'p> ModPath<'p> {
    fn parse(path: &'p str) -> Option<Self> {
        let (inner, rest) = path.strip_prefix("${")?.split_once("}/")?;
        if inner == "KCL_MOD" {
            return Some(Self { name: None, rest });
        }
        let name = inner.strip_suffix(":KCL_MOD")?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (!name.is_empty() && name.chars().all(is_word)).then_some(Self { name: Some(name), rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn paths(system: &MemorySystem, inputs: &[&str], packages: &PackageMap) -> Vec<String> {
        let inputs: Vec<Input> = inputs.iter().map(|path| Input::path(*path)).collect();
        match resolve_entries(system, &inputs, Path::new("/w"), packages) {
            Ok(entries) => std::iter::once(entries.root.display().to_string())
                .chain(entries.files.iter().map(|file| file.path.display().to_string()))
                .collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn folders_take_private_files_but_neither_tests_nor_layers() {
        let system = MemorySystem::new()
            .with_file("/w/d/_b.k", "")
            .with_file("/w/d/a.k", "")
            .with_file("/w/d/@env=prod.k", "")
            .with_file("/w/d/a_test.k", "")
            .with_file("/w/d/x.txt", "");
        assert_eq!(
            paths(&system, &["d"], &PackageMap::default()),
            ["/w/d", "/w/d/_b.k", "/w/d/a.k"]
        );
        assert_eq!(
            paths(&system, &["d/*.k"], &PackageMap::default()),
            ["/w/d", "/w/d/_b.k", "/w/d/a.k", "/w/d/a_test.k"]
        );
    }

    #[test]
    fn paths_from_module_roots() {
        let system = MemorySystem::new()
            .with_file("/w/kcl.mod", "")
            .with_file("/w/sub/main.k", "")
            .with_file("/w/pkg/p.k", "")
            .with_file("/x/kcl.mod", "")
            .with_file("/x/main.k", "");
        let packages = PackageMap::from_iter([("x".to_owned(), PathBuf::from("/x"))]);
        let inputs = ["sub/main.k", "${KCL_MOD}/pkg/p.k", "${x:KCL_MOD}/main.k"];
        assert_eq!(
            paths(&system, &inputs, &packages),
            ["/w", "/w/sub/main.k", "/w/pkg/p.k", "/x/main.k"]
        );
        assert_eq!(
            paths(&system, &["${y:KCL_MOD}/main.k"], &packages),
            ["Cannot find the kcl file, please check the file path ${y:KCL_MOD}/main.k"]
        );
    }

    #[test]
    fn nothing_to_load() {
        let system = MemorySystem::new().with_file("/w/d/x.txt", "");
        let none = PackageMap::default();
        assert_eq!(paths(&system, &[], &none), ["No input KCL files or paths"]);
        assert_eq!(paths(&system, &["d"], &none), ["No input KCL files"]);
        assert_eq!(
            paths(&system, &["a.k"], &none),
            ["Cannot find the kcl file, please check the file path a.k"]
        );
    }
}
