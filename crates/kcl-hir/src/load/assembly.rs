//! Imported packages, put together once for programs that import the same.

use super::{LoadOptions, Loaded, load_whole};
use crate::entry::{Entries, EntryFile, LoadError, PackageMap};
use crate::find::absolute_path;
use crate::program::{Import, ImportTarget, MAIN_PACKAGE, Package, PackageId, Program, SourceFile};
use crate::store::{PackageStore, StoredFile};
use crate::usage::mark_used_imports;
use base_system::System;
use base_text::{FileId, Name};
use kcl_syntax::ast::{self, Module};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the main package of a program imports, and where imports are looked for: programs with
/// the same key have the same imported packages, under the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssemblyKey {
    root: PathBuf,
    packages: PackageMap,
    vendors: Vec<PathBuf>,
    mains: Vec<MainImports>,
}

/// What one main file imports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MainImports {
    package: Option<String>,
    root: PathBuf,
    paths: Vec<String>,
}

/// The imported packages of a program, for the next one with the same key.
#[derive(Debug)]
pub struct Assembly {
    /// What the imports of each main file mean.
    targets: Vec<Vec<(String, ImportTarget)>>,
    files: Vec<SourceFile>,
    packages: Vec<Package>,
    paths: FxHashSet<String>,
}

impl Assembly {
    /// Takes the imported packages out of a program without findings.
    pub fn new(program: Program) -> Self {
        let mut assembly = Self {
            targets: Vec::new(),
            files: Vec::new(),
            packages: Vec::new(),
            paths: FxHashSet::default(),
        };
        let mains = program.main_package().map_or(&[][..], |package| &package.files);
        for &file in mains {
            let imports = program.file(file).imports.iter();
            assembly.targets.push(imports.map(|i| (i.path.clone(), i.target)).collect());
        }
        assembly.paths.extend(program.files[mains.len()..].iter().map(|file| file.path.clone()));
        assembly.take_back(program);
        assembly
    }

    /// Takes the packages back from a program that they were given to.
    pub fn take_back(&mut self, program: Program) {
        let Program { mut files, mut packages, .. } = program;
        self.files = files.split_off(self.targets.len().min(files.len()));
        self.packages = packages.split_off(packages.len().min(1));
    }

    /// The files of the imported packages; none while they are given away.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }
}

/// Loads a program like [`load_whole`]. `find` is asked for the imported packages of an earlier
/// program, by what this one imports. Says whether they were used.
///
/// # Errors
///
/// As [`load`](super::load).
pub fn load_assembled(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
    store: &PackageStore,
    find: &mut dyn FnMut(AssemblyKey) -> Option<Assembly>,
) -> Result<(Loaded, Option<Assembly>), LoadError> {
    let parsed = parse_main(system, entries, store);
    let assembly = parsed.as_ref().and_then(|files| find(key(entries, options, files)));
    let is_main = |assembly: &Assembly| {
        entries.files.iter().any(|file| assembly.paths.contains(&*file.path.to_string_lossy()))
    };
    match (parsed, assembly) {
        // A main file that is imported, too, may close a circle.
        (Some(files), Some(assembly)) if !is_main(&assembly) => {
            let (program, assembly) = assemble(entries, files, assembly);
            let known = super::Known::default();
            Ok((Loaded { program, diagnostics: Vec::new(), known }, Some(assembly)))
        }
        _ => Ok((load_whole(system, entries, options, store)?, None)),
    }
}

/// Parses the main files; `None` if there is anything to say about them.
fn parse_main(
    system: &dyn System,
    entries: &Entries,
    store: &PackageStore,
) -> Option<Vec<StoredFile>> {
    let mut files = Vec::with_capacity(entries.files.len());
    for (at, EntryFile { path, text, .. }) in entries.files.iter().enumerate() {
        let is_repeated = entries.files[..at].iter().any(|earlier| earlier.path == *path);
        if is_repeated || text.is_some() {
            return None;
        }
        if let Some(known) = store.recent_file(path) {
            files.push(known);
            continue;
        }
        let text = system.read_to_string(path).ok()?;
        let tree = kcl_syntax::parse(&text);
        if !tree.diagnostics.is_empty() {
            return None;
        }
        let file = StoredFile {
            lines: Arc::default(),
            text: Arc::new(text),
            module: Arc::new(tree.module),
        };
        store.keep_recent_file(path, &file);
        files.push(file);
    }
    Some(files)
}

fn import_stmts(module: &Module) -> impl Iterator<Item = (ast::StmtId, &ast::Import)> {
    module.body.iter().filter_map(|&stmt| match &module[stmt].kind {
        ast::Stmt::Import(import) => Some((stmt, import)),
        _ => None,
    })
}

fn key(entries: &Entries, options: &LoadOptions, files: &[StoredFile]) -> AssemblyKey {
    let main = |(entry, file): (&EntryFile, &StoredFile)| MainImports {
        package: entry.package.clone(),
        root: entry.root.clone(),
        paths: import_stmts(&file.module)
            .map(|(_, import)| absolute_path(&entry.root, &entry.path, &import.path.value))
            .collect(),
    };
    AssemblyKey {
        root: entries.root.clone(),
        packages: options.packages.clone(),
        vendors: options.vendors.clone(),
        mains: entries.files.iter().zip(files).map(main).collect(),
    }
}

/// Puts a program together; what is left of the assembly takes the packages back later.
fn assemble(
    entries: &Entries,
    files: Vec<StoredFile>,
    mut assembly: Assembly,
) -> (Program, Assembly) {
    let mut main = Package { path: MAIN_PACKAGE.to_owned(), ..Package::default() };
    let mut program = Program { root: entries.root.clone(), ..Program::default() };
    program.files.reserve(files.len() + assembly.files.len());
    for (at, (entry, file)) in entries.files.iter().zip(files).enumerate() {
        let targets = assembly.targets[at].iter();
        let imports = import_stmts(&file.module).zip(targets).map(|((stmt, import), target)| {
            let raw = &*import.path.value;
            let last = || Name::new(raw.rsplit('.').next().unwrap_or(raw));
            let name = import.asname.as_ref().map_or_else(last, |alias| alias.name);
            let (path, target) = target.clone();
            Import { stmt, name, path, target, is_used: true }
        });
        let imports = imports.collect();
        main.files.push(FileId(at as u32));
        program.files.push(source(&entry.path, file, imports));
    }
    program.files.append(&mut assembly.files);
    mark_used_imports(&mut program, &main);
    program.packages.push(main);
    program.packages.append(&mut assembly.packages);
    program.collect_globals_of(PackageId(0));
    (program, assembly)
}

fn source(path: &Path, file: StoredFile, imports: Vec<Import>) -> SourceFile {
    SourceFile {
        path: path.display().to_string(),
        text: file.text,
        module: file.module,
        lines: file.lines,
        package: PackageId(0),
        imports,
        grafts: Vec::new(),
    }
}
