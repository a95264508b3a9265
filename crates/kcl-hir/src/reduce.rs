//! Programs with only those statements of known packages that they can reach.
//!
//! A package that was checked before needs no second check. Of its statements, those that
//! only declare something (schemas, rules, type aliases) are left out when nothing names
//! them; all others run when the package is imported, and stay.

use crate::identity::{check_keys, open_packages};
use crate::index::{ALL, Outside, name_hash};
use crate::load::Known;
use crate::program::{PackageId, Program, SourceFile};
use crate::store::{PackageStore, Part, StoredFile, StoredPackage, content_key};
use crate::usage::{mark_used_imports, needed};
use base_cache::{Key, hash};
use base_system::System;
use base_text::{Name, Span};
use kcl_syntax::ast::{self, Module, Stmt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Fills in the trees of the known packages of a program. `None` if that can't be done for
/// some reason; then all has to be parsed.
pub(crate) fn reduce(
    system: &dyn System,
    store: &PackageStore,
    program: &mut Program,
    known: &mut Known,
) -> Option<()> {
    for at in 0..program.packages.len() {
        if known.packages[at].is_none() {
            let package = std::mem::take(&mut program.packages[at]);
            mark_used_imports(program, &package);
            program.packages[at] = package;
        }
    }
    let contents: Vec<Option<Key>> = program
        .packages
        .iter()
        .zip(&known.packages)
        .map(|(package, stored)| match stored {
            Some(stored) => Some(stored.content),
            None => {
                let files = package.files.iter().map(|file| program.file(*file));
                let hashes: Vec<Key> =
                    files.clone().map(|file| hash(file.text.as_bytes())).collect();
                let paths: Vec<PathBuf> = files.map(|file| PathBuf::from(&file.path)).collect();
                content_key(&paths, &hashes)
            }
        })
        .collect();
    let keys = check_keys(program, &contents)?;
    let open = open_packages(program);
    for (at, key) in keys.iter().enumerate() {
        let is_open = open.contains(&PackageId(at as u32));
        if let Some(stored) = &known.packages[at]
            && is_open
            && !store.is_checked(system, key)
        {
            parse_all(system, program, PackageId(at as u32), stored)?;
            known.packages[at] = None;
        }
    }
    let is_open = |at: usize| open.contains(&PackageId(at as u32));
    known.keys = (1..keys.len()).filter(|at| is_open(*at)).map(|at| keys[at]).collect();
    let mut selection = Selection::new(program, known)?;
    for (at, package) in program.packages.iter().enumerate() {
        if !is_open(at) {
            continue;
        }
        match &known.packages[at] {
            Some(stored) => {
                for stmt in stored.index.always()? {
                    selection.add(at, stmt)?;
                }
            }
            None => {
                for (name, needed) in needed(program, package) {
                    let hashes = needed.names.iter().map(|name| name_hash(name.as_str()));
                    let hashes: Vec<u32> = hashes.chain(needed.all.then_some(ALL)).collect();
                    for target in imported(program, at, name) {
                        for hash in &hashes {
                            selection.need(target, *hash)?;
                        }
                    }
                }
            }
        }
    }
    let selected = selection.finish()?;
    for (at, stmts) in selected.into_iter().enumerate() {
        if let Some(stored) = &known.packages[at] {
            fill(system, program, PackageId(at as u32), stored, &stmts)?;
        }
    }
    Some(())
}

/// The packages that the files of package `at` import by a name.
fn imported(program: &Program, at: usize, name: Name) -> Vec<PackageId> {
    let files = program.packages[at].files.iter().map(|file| program.file(*file));
    let imports = files.flat_map(|file| &file.imports).filter(|import| import.name == name);
    let mut targets: Vec<PackageId> =
        imports.filter_map(|import| import.target.package()).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Parses a known package as if it were not known.
fn parse_all(
    system: &dyn System,
    program: &mut Program,
    id: PackageId,
    stored: &StoredPackage,
) -> Option<()> {
    for (at, file) in program.packages[id.0 as usize].files.iter().enumerate() {
        let file = &mut program.files[file.0 as usize];
        let text = stored.text(system, at as u32, Path::new(&file.path))?;
        let parsed = kcl_syntax::parse_code(&text);
        if !parsed.diagnostics.is_empty() {
            return None;
        }
        let is_import = |stmt: &&ast::StmtId| matches!(parsed.module[**stmt].kind, Stmt::Import(_));
        let imports: Vec<ast::StmtId> =
            parsed.module.body.iter().filter(is_import).copied().collect();
        let module = Arc::new(parsed.module);
        set_source(file, &StoredFile { text, module, lines: Arc::default() }, &imports)?;
    }
    Some(())
}

fn set_source(file: &mut SourceFile, source: &StoredFile, imports: &[ast::StmtId]) -> Option<()> {
    if imports.len() != file.imports.len() {
        return None;
    }
    for (import, stmt) in file.imports.iter_mut().zip(imports) {
        import.stmt = *stmt;
    }
    file.text = Arc::clone(&source.text);
    file.module = Arc::clone(&source.module);
    file.lines = Arc::clone(&source.lines);
    Some(())
}

/// The statements that a program can reach.
struct Selection<'k> {
    known: &'k Known,
    /// What the slots of known packages lead to.
    targets: Vec<Vec<Option<PackageId>>>,
    is_selected: Vec<Vec<bool>>,
    open: Vec<(usize, u32)>,
}

impl<'k> Selection<'k> {
    fn new(program: &Program, known: &'k Known) -> Option<Self> {
        let mut targets = Vec::with_capacity(known.packages.len());
        let mut is_selected = Vec::with_capacity(known.packages.len());
        for (package, stored) in program.packages.iter().zip(&known.packages) {
            let Some(stored) = stored else {
                targets.push(Vec::new());
                is_selected.push(Vec::new());
                continue;
            };
            let mut of_package = vec![None; stored.index.n_slots() as usize];
            for (at, file) in package.files.iter().enumerate() {
                let file = program.file(*file);
                if file.imports.is_empty() {
                    continue;
                }
                for (import, indexed) in file.imports.iter().zip(stored.index.imports(at)?) {
                    *of_package.get_mut(indexed.slot as usize)? = import.target.package();
                }
            }
            targets.push(of_package);
            is_selected.push(vec![false; stored.index.n_stmts() as usize]);
        }
        Some(Self { known, targets, is_selected, open: Vec::new() })
    }

    fn add(&mut self, package: usize, stmt: u32) -> Option<()> {
        let is_selected = self.is_selected[package].get_mut(stmt as usize)?;
        if !std::mem::replace(is_selected, true) {
            self.open.push((package, stmt));
        }
        Some(())
    }

    /// Adds what declares a name of a package, or all of the package.
    fn need(&mut self, package: PackageId, name: u32) -> Option<()> {
        let at = package.0 as usize;
        let known = self.known;
        let Some(stored) = &known.packages[at] else { return Some(()) };
        let mut is_sound = true;
        if name == ALL {
            for stmt in 0..stored.index.n_stmts() {
                self.add(at, stmt)?;
            }
        } else {
            stored.index.declared(name, |stmt| is_sound &= self.add(at, stmt).is_some())?;
        }
        is_sound.then_some(())
    }

    /// Follows the needs of what was added; gives the statements by package, in order.
    fn finish(mut self) -> Option<Vec<Vec<u32>>> {
        let mut inside = Vec::new();
        let mut outside: Vec<Outside> = Vec::new();
        while let Some((package, stmt)) = self.open.pop() {
            let known = self.known;
            let stored = known.packages[package].as_ref()?;
            stored.index.needs(stmt, |stmt| inside.push(stmt), |need| outside.push(need))?;
            for stmt in inside.drain(..) {
                self.add(package, stmt)?;
            }
            for need in outside.drain(..) {
                if let Some(target) = *self.targets[package].get(need.slot as usize)? {
                    self.need(target, need.name)?;
                }
            }
        }
        let numbers = |is_selected: Vec<bool>| {
            let selected = is_selected.into_iter().enumerate().filter(|(_, is)| *is);
            selected.map(|(stmt, _)| stmt as u32).collect()
        };
        Some(self.is_selected.into_iter().map(numbers).collect())
    }
}

/// Fills in the trees of some statements of a known package.
fn fill(
    system: &dyn System,
    program: &mut Program,
    id: PackageId,
    stored: &StoredPackage,
    stmts: &[u32],
) -> Option<()> {
    let parts = match stored.parts(stmts) {
        Some(parts) => parts,
        None => {
            let parts = make_parts(system, program, id, stored, stmts)?;
            stored.keep_parts(stmts, &parts);
            parts
        }
    };
    for part in parts.iter() {
        let file = *program.package(id).files.get(part.file as usize)?;
        set_source(&mut program.files[file.0 as usize], &part.source, &part.imports)?;
    }
    Some(())
}

fn make_parts(
    system: &dyn System,
    program: &Program,
    id: PackageId,
    stored: &StoredPackage,
    stmts: &[u32],
) -> Option<Arc<[Part]>> {
    let mut parts = Vec::new();
    let mut stmts = stmts.iter().map(|stmt| stored.index.stmt(*stmt));
    let mut next = stmts.next();
    for (at, file) in program.package(id).files.iter().enumerate() {
        let file = program.file(*file);
        let mut places: Vec<Span> = Vec::new();
        while let Some(stmt) = next {
            let (of_file, place) = stmt?;
            if of_file as usize != at {
                break;
            }
            places.push(place);
            next = stmts.next();
        }
        let (mut text, mut module) = (Arc::default(), Module::default());
        if !places.is_empty() {
            text = stored.text(system, at as u32, Path::new(&file.path))?;
            module = kcl_syntax::parse_parts(&text, places)?;
        } else if file.imports.is_empty() {
            continue;
        }
        let imports = add_imports(&mut module, stored, at)?;
        let source = StoredFile { text, module: Arc::new(module), lines: Arc::default() };
        parts.push(Part { file: at as u32, source, imports });
    }
    next.is_none().then(|| parts.into())
}

/// Adds the import statements of a file, which the index knows.
fn add_imports(
    module: &mut Module,
    stored: &StoredPackage,
    file: usize,
) -> Option<Vec<ast::StmtId>> {
    let mut imports = Vec::new();
    for import in stored.index.imports(file)? {
        let slot = stored.index.slot(import.slot)?;
        let span = import.span;
        let path = ast::StrNode { value: slot.path.into(), span };
        let asname = slot.has_alias.then(|| ast::Ident { name: Name::new(slot.name), span });
        imports.push(module.add_stmt(Stmt::Import(ast::Import { path, asname }), span));
    }
    module.body.splice(0..0, imports.iter().copied());
    Some(imports)
}
