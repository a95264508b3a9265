//! Loads a program: parses the files of the main package and of all it imports.

pub mod assembly;
mod parallel;

use crate::cycle::find_cycle;
use crate::entry::{Entries, EntryFile, LoadError, PackageMap};
use crate::find::{Finder, Found, Home, Lookup, absolute_path, join_path};
use crate::program::{Import, ImportTarget, MAIN_PACKAGE, Package, PackageId, Program, SourceFile};
use crate::reduce::reduce;
use crate::store::{PackageStore, StoredFile, StoredPackage};
use crate::usage::mark_used_imports;
use base_cache::Key;
use base_diag::{Diagnostic, Outcome, Severity};
use base_system::System;
use base_text::{FileId, FileSpan, Name};
use kcl_syntax::ast;
use kcl_syntax::{Parsed, SyntaxError};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::fmt::{Debug, Write as _};
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
    /// Finds plugins, which are imported as `kcl_plugin.name`. Without it there are none.
    pub plugins: Option<Arc<dyn PluginFinder>>,
}

/// Says which plugins there are.
pub trait PluginFinder: Debug {
    /// Looks for a plugin by its name.
    ///
    /// # Errors
    ///
    /// If it cannot be imported.
    fn find(&self, system: &dyn System, name: &str) -> Result<(), NoPlugin>;
}

/// Why a plugin cannot be imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoPlugin {
    /// What is wrong; if it is empty, there is no such plugin.
    pub message: String,
    /// What to do about it.
    pub suggestions: Vec<String>,
}

/// Packages of fewer files are parsed on one thread.
const MIN_PREPARED: usize = 8;

/// Stands for a statement that is still to be parsed.
const NO_STMT: ast::StmtId = ast::StmtId(u32::MAX);

/// What the paths of plugins begin with.
pub(crate) const PLUGIN_PREFIX: &str = "kcl_plugin.";

/// A program, loaded.
#[derive(Debug)]
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
    /// What was known of its packages before.
    pub known: Known,
}

/// What was known of the packages of a program before it was loaded.
#[derive(Debug, Default)]
pub struct Known {
    /// The packages whose trees hold only what the program can reach, by number.
    pub(crate) packages: Vec<Option<Arc<StoredPackage>>>,
    /// The keys under which those packages are checked that are used.
    pub(crate) keys: Vec<Key>,
}

impl Known {
    /// Whether packages of the program were checked before, so that their trees hold only
    /// what the program can reach.
    ///
    /// Such a program has the same result. If there is anything to say about it, it has to be
    /// loaded as a whole to say it right.
    pub fn is_reduced(&self) -> bool {
        self.packages.iter().any(Option::is_some)
    }

    pub(crate) fn package(&self, id: PackageId) -> Option<&StoredPackage> {
        self.packages.get(id.0 as usize)?.as_deref()
    }
}

/// Parses the entries and everything they import, into a program.
///
/// Findings are in the order of the reference: file by file as imports reach them, syntax
/// before imports; then cycles; then the imports again, seen from the program as a whole.
pub fn load(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
) -> Result<Outcome<Program>, LoadError> {
    let Loaded { program, diagnostics, .. } =
        load_whole(system, entries, options, &PackageStore::default())?;
    Ok(Outcome { value: program, diagnostics })
}

/// Loads a program like [`load`], with what is known of its packages: see
/// [`Known::is_reduced`].
pub fn load_reduced(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
    store: &PackageStore,
) -> Result<Loaded, LoadError> {
    let mut loader = Loader::new(system, entries, options, store);
    loader.is_reducing = true;
    loader.load(entries)?;
    let mut known = Known { packages: std::mem::take(&mut loader.known), keys: Vec::new() };
    if !known.is_reduced() {
        return Ok(loader.finish());
    }
    let is_sound = loader.diagnostics.is_empty() && !loader.is_mixed;
    let mut program = loader.program;
    if is_sound && reduce(system, store, &mut program, &mut known).is_some() {
        program.collect_globals();
        return Ok(Loaded { program, diagnostics: Vec::new(), known });
    }
    load_whole(system, entries, options, store)
}

/// Loads a program like [`load`]; what it shares with other programs is parsed once.
pub fn load_whole(
    system: &dyn System,
    entries: &Entries,
    options: &LoadOptions,
    store: &PackageStore,
) -> Result<Loaded, LoadError> {
    let mut loader = Loader::new(system, entries, options, store);
    loader.load(entries)?;
    Ok(loader.finish())
}

struct Loader<'s> {
    system: &'s dyn System,
    store: &'s PackageStore,
    /// Whether packages that were checked before are taken from the store.
    is_reducing: bool,
    /// Those packages, by number.
    known: Vec<Option<Arc<StoredPackage>>>,
    /// Files that were read before their turn, some of them parsed.
    prepared: FxHashMap<PathBuf, (String, Option<Parsed>)>,
    /// The packages that a lookup has led to.
    begun: FxHashSet<PackageId>,
    /// Whether several lookups lead to one package.
    is_mixed: bool,
    finder: Finder<'s>,
    plugins: Option<Arc<dyn PluginFinder>>,
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
    /// Its number in a known package.
    stored: Option<u32>,
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

impl<'s> Loader<'s> {
    fn new(
        system: &'s dyn System,
        entries: &Entries,
        options: &'s LoadOptions,
        store: &'s PackageStore,
    ) -> Self {
        Self {
            system,
            store,
            is_reducing: false,
            known: Vec::new(),
            prepared: FxHashMap::default(),
            begun: FxHashSet::default(),
            is_mixed: false,
            finder: Finder::new(system, &options.packages, &options.vendors),
            plugins: options.plugins.clone(),
            program: Program { root: entries.root.clone(), ..Program::default() },
            parsed: FxHashMap::default(),
            by_path: FxHashMap::default(),
            members: FxHashSet::default(),
            reached: FxHashSet::default(),
            queue: VecDeque::new(),
            diagnostics: Vec::new(),
            graph: Graph::default(),
        }
    }

    fn load(&mut self, entries: &Entries) -> Result<(), LoadError> {
        self.add_main(entries)?;
        while let Some(file) = self.queue.pop_front() {
            self.add_file(file)?;
        }
        self.report_cycle();
        self.report_unloaded();
        Ok(())
    }

    fn finish(mut self) -> Loaded {
        self.program.collect_globals();
        for at in 0..self.program.packages.len() {
            let package = std::mem::take(&mut self.program.packages[at]);
            mark_used_imports(&mut self.program, &package);
            self.program.packages[at] = package;
        }
        let Self { program, diagnostics, .. } = self;
        Loaded { program, diagnostics, known: Known::default() }
    }

    /// Adds the main package; its files come first, each with all its findings.
    fn add_main(&mut self, entries: &Entries) -> Result<(), LoadError> {
        let (package, package_node) = self.package(MAIN_PACKAGE);
        for EntryFile { path, package: name, root, text } in &entries.files {
            if self.members.insert((package, path.clone())) {
                let home =
                    Home { name: name.as_deref().map(Rc::from), root: root.as_path().into() };
                let (path, text) = (path.clone(), text.clone());
                let stored = None;
                self.add_file(Pending { package, package_node, home, path, text, stored })?;
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
        self.known.push(None);
        let node = self.graph.add(None);
        self.by_path.insert(path.to_owned(), (id, node));
        (id, node)
    }

    fn add_file(&mut self, pending: Pending) -> Result<(), LoadError> {
        let Pending { package, package_node, home, path, text, stored } = pending;
        let id = FileId(self.program.files.len() as u32);
        if let Some(stored) = stored {
            self.add_known(id, package, package_node, &home, &path, stored);
            return Ok(());
        }
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

    /// Adds a file of a known package, without its tree.
    fn add_known(
        &mut self,
        id: FileId,
        package: PackageId,
        package_node: u32,
        home: &Home,
        path: &Path,
        at: u32,
    ) {
        let node = match self.parsed.get(path) {
            Some(parsed) => parsed.node,
            None => self.graph.add(Some(path.to_path_buf())),
        };
        self.graph.edges[package_node as usize].push(node);
        self.program.packages[package.0 as usize].files.push(id);
        let imports = self.known_imports(id, package, at, home, path, node);
        let (text, module, lines) = Default::default();
        self.program.files.push(SourceFile {
            path: path.display().to_string(),
            text,
            module,
            lines,
            package,
            // Without imports that can be trusted, nothing is reduced.
            imports: imports.unwrap_or_else(|| {
                self.is_mixed = true;
                Vec::new()
            }),
            grafts: Vec::new(),
        });
    }

    fn known_imports(
        &mut self,
        file: FileId,
        package: PackageId,
        at: u32,
        home: &Home,
        path: &Path,
        node: u32,
    ) -> Option<Vec<Import>> {
        let stored = Arc::clone(self.known[package.0 as usize].as_ref()?);
        let mut imports = Vec::new();
        for import in stored.index.imports(at as usize)? {
            let slot = stored.index.slot(import.slot)?;
            let place = FileSpan { file, span: import.span };
            let absolute = absolute_path(&home.root, path, slot.path);
            let (path, target) = self.resolve_import(place, home, absolute, node);
            let name = Name::new(slot.name);
            imports.push(Import { stmt: NO_STMT, name, path, target, is_used: slot.is_used });
        }
        Some(imports)
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
        let stored = match (is_main, &text) {
            (true, None) => self.store.recent_file(path),
            (true, Some(_)) => None,
            (false, _) => self.store.file(path),
        };
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
        let is_given = text.is_some();
        let (prepared, tree) = self.prepared.remove(path).unzip();
        let text = match text.or(prepared) {
            Some(text) => text,
            None => {
                let text = if is_main {
                    self.system.read_to_string(path)
                } else {
                    self.store.read(self.system, path)
                };
                text.map_err(|error| LoadError::Unreadable {
                    path: path.display().to_string(),
                    reason: error.to_string(),
                })?
            }
        };
        let tree = tree.flatten().unwrap_or_else(|| kcl_syntax::parse_code(&text));
        let source = StoredFile {
            lines: Arc::default(),
            text: Arc::new(text),
            module: Arc::new(tree.module),
        };
        // A file with findings is parsed again by each program, which reports them.
        if tree.diagnostics.is_empty() && !is_given {
            if is_main {
                self.store.keep_recent_file(path, &source);
            } else {
                self.store.keep_file(path, &source);
            }
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
        if let Some(name) = path.strip_prefix(PLUGIN_PREFIX) {
            let plugins = self.plugins.as_ref();
            let found =
                plugins.map_or_else(|| Err(NoPlugin::default()), |it| it.find(self.system, name));
            if let Err(missing) = found {
                self.diagnostics.push(no_plugin(at, &path, missing));
            }
            return (path, ImportTarget::Plugin);
        }
        if kcl_names::module(&path).is_some() {
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
        if !self.reached.insert(Rc::as_ptr(found)) {
            return package;
        }
        let is_new = self.begun.insert(package) && package != PackageId(0);
        if self.is_reducing && is_new {
            let known = self.store.package(self.system, &found.files);
            self.known[package.0 as usize] = known;
        }
        self.is_mixed |= !is_new;
        let is_known = self.known[package.0 as usize].is_some();
        if !is_known {
            self.prepare(&found.files);
        }
        for (at, path) in found.files.iter().enumerate() {
            if self.members.insert((package, path.clone())) {
                let (home, path) = (found.home.clone(), path.clone());
                let stored = is_known.then_some(at as u32);
                let file = Pending { package, package_node, home, path, text: None, stored };
                self.queue.push_back(file);
            }
        }
        package
    }

    /// Reads and parses the files of a large package on several threads.
    fn prepare(&mut self, files: &[PathBuf]) {
        let is_new =
            |path: &&PathBuf| !self.parsed.contains_key(*path) && self.store.file(path).is_none();
        let files: Vec<&PathBuf> = files.iter().filter(is_new).collect();
        if files.len() < MIN_PREPARED {
            return;
        }
        let mut texts = Vec::with_capacity(files.len());
        for path in &files {
            // What can't be read is reported in its turn.
            let Ok(text) = self.store.read(self.system, path) else { break };
            texts.push(text);
        }
        let parts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let parsed = parallel::parse_all(&parts);
        let mut parsed = parsed.into_iter().flatten();
        for (path, text) in files.into_iter().zip(texts) {
            let tree = parsed.next();
            self.prepared.insert(path.clone(), (text, tree));
        }
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

fn no_plugin(at: FileSpan, path: &str, missing: NoPlugin) -> Diagnostic {
    let NoPlugin { mut message, suggestions } = missing;
    if message.is_empty() {
        message = format!(
            "the plugin package `{path}` is not found, please confirm if plugin mode is enabled"
        );
    }
    cannot_find(at, message).suggest(suggestions)
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
