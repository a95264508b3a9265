//! Loads a program: parses the files of the main package and of all it imports.

use crate::cycle::find_cycle;
use crate::entry::{Entries, EntryFile, LoadError, PackageMap};
use crate::find::{Finder, Found, Home, Lookup, absolute_path, join_path};
use crate::program::{Import, ImportTarget, MAIN_PACKAGE, Package, PackageId, Program, SourceFile};
use crate::store::{PackageStore, StoredFile};
use base_diag::{Diagnostic, Outcome, Severity};
use base_system::System;
use base_text::{FileId, FileSpan, Name};
use kcl_syntax::SyntaxError;
use kcl_syntax::ast;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Where packages come from.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// External packages by name.
    pub packages: PackageMap,
    /// Folders with external packages, tried in order.
    pub vendors: Vec<PathBuf>,
    /// Whether `kcl_plugin.*` may be imported.
    pub plugins: bool,
}

const PLUGIN_PREFIX: &str = "kcl_plugin.";

/// Parses the entries and everything they import, into a program.
///
/// Findings are in the order of the reference: file by file as imports reach them, syntax
/// before imports; then cycles; then the imports again, seen from the program as a whole.
pub fn load(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
) -> Result<Outcome<Program>, LoadError> {
    load_with(system, entries, options, &PackageStore::default())
}

/// Loads a program like [`load`], with the packages that programs before it left in `store`,
/// and leaves its own there.
pub fn load_with(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
    store: &PackageStore,
) -> Result<Outcome<Program>, LoadError> {
    let mut loader = Loader {
        system,
        store,
        finder: Finder::new(system, &options.packages, &options.vendors),
        plugins: options.plugins,
        program: Program { root: entries.root.clone(), ..Program::default() },
        parsed: FxHashMap::default(),
        by_path: FxHashMap::default(),
        members: FxHashSet::default(),
        reached: FxHashSet::default(),
        queue: VecDeque::new(),
        diagnostics: Vec::new(),
        graph: Graph::default(),
    };
    loader.add_main(entries)?;
    while let Some(file) = loader.queue.pop_front() {
        loader.add_file(file)?;
    }
    loader.report_cycle();
    loader.report_unloaded();
    loader.program.collect_globals();
    crate::usage::mark_used_imports(&mut loader.program);
    Ok(Outcome { value: loader.program, diagnostics: loader.diagnostics })
}

struct Loader<'s> {
    system: &'s dyn System,
    store: &'s PackageStore,
    finder: Finder<'s>,
    plugins: bool,
    program: Program,
    /// The files that were read. One may belong to several packages.
    parsed: FxHashMap<PathBuf, ParsedFile>,
    /// The packages, each with its node in the graph.
    by_path: FxHashMap<String, (PackageId, u32)>,
    /// Which files belong to which packages.
    members: FxHashSet<(PackageId, PathBuf)>,
    /// The lookups whose files are queued, by address: the finder keeps each one.
    reached: FxHashSet<*const Found>,
    /// The files still to be added.
    queue: VecDeque<Pending>,
    diagnostics: Vec<Diagnostic>,
    graph: Graph,
}

/// A file, parsed, with its node in the graph.
#[derive(Clone)]
struct ParsedFile {
    source: StoredFile,
    node: u32,
}

/// A file to be added to a package.
struct Pending {
    package: PackageId,
    package_node: u32,
    home: Home,
    path: PathBuf,
    text: Option<String>,
}

/// Who leads to whom: files to the packages they import, packages to their files.
#[derive(Default)]
struct Graph {
    edges: Vec<Vec<u32>>,
    /// The file of a node; `None` for a package.
    files: Vec<Option<PathBuf>>,
}

impl Graph {
    fn add(&mut self, file: Option<PathBuf>) -> u32 {
        self.edges.push(Vec::new());
        self.files.push(file);
        self.edges.len() as u32 - 1
    }
}

impl Loader<'_> {
    /// Adds the main package; its files come first, each with all its findings.
    fn add_main(&mut self, entries: &Entries) -> Result<(), LoadError> {
        let (package, package_node) = self.package(MAIN_PACKAGE);
        for EntryFile { path, package: name, root, text } in &entries.files {
            if self.members.insert((package, path.clone())) {
                let home =
                    Home { name: name.as_deref().map(Rc::from), root: root.as_path().into() };
                let (path, text) = (path.clone(), text.clone());
                self.add_file(Pending { package, package_node, home, path, text })?;
            }
        }
        Ok(())
    }

    /// The package with a path, made if it is new.
    fn package(&mut self, path: &str) -> (PackageId, u32) {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        let id = PackageId(self.program.packages.len() as u32);
        self.program.packages.push(Package { path: path.to_owned(), ..Package::default() });
        let node = self.graph.add(None);
        self.by_path.insert(path.to_owned(), (id, node));
        (id, node)
    }

    fn add_file(&mut self, pending: Pending) -> Result<(), LoadError> {
        let Pending { package, package_node, home, path, text } = pending;
        let id = FileId(self.program.files.len() as u32);
        let parsed = match self.parsed.get(&path) {
            Some(parsed) => parsed.clone(),
            None => self.parse(id, package, &path, text)?,
        };
        self.graph.edges[package_node as usize].push(parsed.node);
        self.program.packages[package.0 as usize].files.push(id);
        let imports = self.resolve_imports(id, &parsed, &home, &path);
        self.program.files.push(SourceFile {
            path: path.display().to_string(),
            text: parsed.source.text,
            module: parsed.source.module,
            lines: parsed.source.lines,
            package,
            imports,
            grafts: Vec::new(),
        });
        Ok(())
    }

    fn parse(
        &mut self,
        id: FileId,
        package: PackageId,
        path: &Path,
        text: Option<String>,
    ) -> Result<ParsedFile, LoadError> {
        let node = self.graph.add(Some(path.to_path_buf()));
        let is_main = package == PackageId(0);
        let stored = if is_main { None } else { self.store.file(path) };
        let source = match stored {
            Some(source) => source,
            None => self.read(id, is_main, path, text)?,
        };
        let parsed = ParsedFile { source, node };
        self.parsed.insert(path.to_path_buf(), parsed.clone());
        Ok(parsed)
    }

    fn read(
        &mut self,
        id: FileId,
        is_main: bool,
        path: &Path,
        text: Option<String>,
    ) -> Result<StoredFile, LoadError> {
        let text = match text {
            Some(text) => text,
            None => self.system.read_to_string(path).map_err(|error| LoadError::Unreadable {
                path: path.display().to_string(),
                reason: error.to_string(),
            })?,
        };
        let tree = kcl_syntax::parse(&text);
        let source = StoredFile {
            lines: Arc::default(),
            text: Arc::new(text),
            module: Arc::new(tree.module),
        };
        // A file with findings is parsed again by each program, which reports them.
        if tree.diagnostics.is_empty() && !is_main {
            self.store.keep_file(path, &source);
        }
        self.diagnostics.extend(tree.diagnostics.into_iter().map(|error| syntax_error(id, error)));
        Ok(source)
    }

    fn resolve_imports(
        &mut self,
        file: FileId,
        parsed: &ParsedFile,
        home: &Home,
        path: &Path,
    ) -> Vec<Import> {
        let module = &*parsed.source.module;
        let mut imports = Vec::new();
        for &stmt in &module.body {
            let ast::Stmt::Import(import) = &module[stmt].kind else { continue };
            let at = FileSpan { file, span: module[stmt].span };
            let raw = &*import.path.value;
            let absolute = absolute_path(&home.root, path, raw);
            let (path, target) = self.resolve_import(at, home, absolute, parsed.node);
            let last = || Name::new(raw.rsplit('.').next().unwrap_or(raw));
            let name = import.asname.as_ref().map_or_else(last, |alias| alias.name);
            imports.push(Import { stmt, name, path, target, is_used: true });
        }
        imports
    }

    fn resolve_import(
        &mut self,
        at: FileSpan,
        home: &Home,
        path: String,
        node: u32,
    ) -> (String, ImportTarget) {
        if path.is_empty() {
            return (path, ImportTarget::Missing);
        }
        if path.starts_with(PLUGIN_PREFIX) {
            if !self.plugins {
                self.diagnostics.push(cannot_find(
                    at,
                    format!(
                        "the plugin package `{path}` is not found, please confirm if plugin mode \
                         is enabled"
                    ),
                ));
            }
            return (path, ImportTarget::Plugin);
        }
        if kcl_std::MODULE_NAMES.contains(&path.as_str()) {
            return (path, ImportTarget::System);
        }
        match self.finder.find(home, &path) {
            Lookup::Found(found) => {
                let package = self.reach(&found, node);
                (found.path.clone(), ImportTarget::Package(package))
            }
            Lookup::Twice(own, external) => {
                self.diagnostics.push(found_twice(at, &path, &own, &external));
                (path, ImportTarget::Missing)
            }
            Lookup::Nothing => {
                let message = format!("pkgpath {path} not found in the program");
                self.diagnostics.push(cannot_find(at, message).suggest(download(&path)));
                (path, ImportTarget::Missing)
            }
        }
    }

    /// Notes that a file imports a package, and queues the package's files if they are new.
    fn reach(&mut self, found: &Rc<Found>, node: u32) -> PackageId {
        let (package, package_node) = self.package(&found.path);
        self.graph.edges[node as usize].push(package_node);
        let files = if self.reached.insert(Rc::as_ptr(found)) { &found.files[..] } else { &[] };
        for path in files {
            if self.members.insert((package, path.clone())) {
                let (home, path) = (found.home.clone(), path.clone());
                self.queue.push_back(Pending { package, package_node, home, path, text: None });
            }
        }
        package
    }

    fn report_cycle(&mut self) {
        let Some(cycle) = find_cycle(&self.graph.edges) else { return };
        let mut message = String::from("Could not compiles due to cyclic import statements");
        for file in cycle.iter().filter_map(|node| self.graph.files[*node as usize].as_ref()) {
            // Writing to a string does not fail.
            let _ = write!(message, "\n- {}", file.display());
        }
        let error = Severity::Error;
        self.diagnostics.push(Diagnostic::new(error, "E1001", "RecursiveLoad", None, message));
    }

    /// Reports the imports that led to no package, package by package.
    fn report_unloaded(&mut self) {
        for package in &self.program.packages {
            for &id in &package.files {
                let file = self.program.file(id);
                for import in &file.imports {
                    if import.target != ImportTarget::Missing {
                        continue;
                    }
                    let ast::Stmt::Import(stmt) = &file.module[import.stmt].kind else { continue };
                    let at = FileSpan { file: id, span: file.module[import.stmt].span };
                    let raw = &stmt.path.value;
                    let folder = join_path(&self.program.root, &import.path);
                    // The reference joins an empty path, which leaves a slash at the end.
                    let slash = if import.path.is_empty() { "/" } else { "" };
                    let shown = folder.display();
                    self.diagnostics.push(if self.system.exists(&folder) {
                        cannot_find(
                            at,
                            format!(
                                "Failed to import the module {raw} from {shown}{slash}. No KCL \
                                 files found in the specified folder"
                            ),
                        )
                    } else {
                        cannot_find(at, format!("Cannot find the module {raw} from {shown}"))
                            .suggest(download(&import.path))
                    });
                }
            }
        }
    }
}

fn syntax_error(file: FileId, error: SyntaxError) -> Diagnostic {
    let at = Some(FileSpan { file, span: error.span });
    Diagnostic::new(error.severity, "E1001", "InvalidSyntax", at, error.message)
}

fn cannot_find(at: FileSpan, message: String) -> Diagnostic {
    Diagnostic::error("E2F04", "CannotFindModule", at, message)
}

fn found_twice(at: FileSpan, path: &str, own: &Found, external: &Found) -> Diagnostic {
    let list = |found: &Found| {
        let files: Vec<String> =
            found.files.iter().map(|file| file.display().to_string()).collect();
        let files =
            if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
        format!("{}{files}", found.home.root.display())
    };
    let message =
        format!("the `{path}` is found multiple times in the current package and vendor package");
    cannot_find(at, message).note(format!(
        "current package: {}\nvendor package: {}",
        list(own),
        list(external)
    ))
}

fn download(path: &str) -> Vec<String> {
    let name = path.split('.').next().unwrap_or(path);
    vec![
        format!("try 'kcl mod add {name}' to download the missing package"),
        "browse more packages at 'https://artifacthub.io'".to_owned(),
    ]
}

#[cfg(test)]
mod tests;
