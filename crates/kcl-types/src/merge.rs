//! Statements of the main package that configure the same name.
//!
//! `app: App {a = 1}` and `app: App {b = 2}` are one config, checked where the last of them
//! stands.

use base_text::{FileId, Name};
use indexmap::IndexMap;
use kcl_hir::Program;
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module, Stmt, StmtId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// A config entry with its file.
pub(crate) type PlacedEntry<'p> = (FileId, &'p ConfigEntry);

/// An expression with its file.
type PlacedExpr = (FileId, ExprId);

/// Which statements go into which.
#[derive(Default)]
pub(crate) struct Merges<'p> {
    /// Statements whose entries are checked elsewhere.
    merged: FxHashSet<(FileId, StmtId)>,
    /// The entries of the configs that take in others.
    entries: FxHashMap<PlacedExpr, Vec<PlacedEntry<'p>>>,
}

impl<'p> Merges<'p> {
    /// Finds what is merged in the main package.
    pub(crate) fn find(program: &'p Program) -> Self {
        let mut merges = Self::default();
        let Some(package) = program.main_package() else { return merges };
        let mut declarations: FxHashMap<Name, Vec<(FileId, StmtId, ExprId)>> = FxHashMap::default();
        let mut names = Vec::new();
        for &file in &package.files {
            let module = &*program.file(file).module;
            for &stmt in &module.body {
                visit(module, stmt, &mut |name, config, is_override| {
                    let list = declarations.entry(name).or_insert_with(|| {
                        names.push(name);
                        Vec::new()
                    });
                    match (is_override, list.is_empty()) {
                        (true, false) if name.is_private() => list.clear(),
                        (true, false) => return,
                        _ => {}
                    }
                    list.push((file, stmt, config));
                });
            }
        }
        for name in names {
            let list = &declarations[&name];
            if let Some((&(file, _, config), earlier)) = list.split_last()
                && !earlier.is_empty()
            {
                merges.merged.extend(earlier.iter().map(|(file, stmt, _)| (*file, *stmt)));
                let configs: Vec<_> = list.iter().map(|(file, _, expr)| (*file, *expr)).collect();
                merges.unite((file, config), program, &configs);
            }
        }
        merges
    }

    /// Notes the entries of several configs as those of `config`, also in configs inside.
    fn unite(&mut self, config: PlacedExpr, program: &'p Program, configs: &[PlacedExpr]) {
        let all = entries_of(program, configs);
        if configs == [config] && has_distinct_keys(&all) {
            // It stays as it is.
            for (_, entry) in all {
                self.unite_inside(entry, program);
            }
            return;
        }
        let entries = by_key(all);
        for entry in &entries {
            self.unite_inside(*entry, program);
        }
        self.entries.insert(config, entries);
    }

    fn unite_inside(&mut self, (file, entry): PlacedEntry<'p>, program: &'p Program) {
        let module = &program.file(file).module;
        let inner = match &module[entry.value].kind {
            Expr::Schema(schema) => schema.config,
            _ => entry.value,
        };
        if let Expr::Config(list) = &module[inner].kind
            && !list.is_empty()
        {
            self.unite((file, inner), program, &[(file, inner)]);
        }
    }

    /// Whether a statement is checked elsewhere.
    pub(crate) fn is_merged(&self, file: FileId, stmt: StmtId) -> bool {
        !self.merged.is_empty() && self.merged.contains(&(file, stmt))
    }

    /// All entries of a config that takes in others.
    pub(crate) fn entries(&self, file: FileId, config: ExprId) -> Option<&[PlacedEntry<'p>]> {
        if self.entries.is_empty() {
            return None;
        }
        self.entries.get(&(file, config)).map(Vec::as_slice)
    }
}

/// Calls `found` with the name and config of a statement that can be merged.
fn visit(module: &Module, stmt: StmtId, found: &mut impl FnMut(Name, ExprId, bool)) {
    match &module[stmt].kind {
        Stmt::Unification(unification) => {
            if let (Some(name), Expr::Schema(schema)) =
                (unification.target.names.first(), &module[unification.value].kind)
            {
                found(name.name, schema.config, false);
            }
        }
        Stmt::Assign(assign) => {
            if let Expr::Schema(schema) = &module[assign.value].kind {
                for target in assign.targets.iter().filter(|target| target.paths.is_empty()) {
                    found(target.name.name, schema.config, true);
                }
            }
        }
        _ => {}
    }
}

/// A key as far as it is known, and an entry.
type KeyedEntry<'p> = (&'p str, PlacedEntry<'p>);

/// The entries of several configs.
fn entries_of<'p>(program: &'p Program, configs: &[PlacedExpr]) -> Vec<KeyedEntry<'p>> {
    let mut all = Vec::new();
    for &(file, config) in configs {
        let module = &*program.file(file).module;
        let Expr::Config(entries) = &module[config].kind else { continue };
        all.extend(entries.iter().map(|entry| (key_of(module, entry), (file, entry))));
    }
    all
}

/// Entries of one key together, in the order of keys, without those that a later `=` replaces.
fn by_key(entries: Vec<KeyedEntry<'_>>) -> Vec<PlacedEntry<'_>> {
    let mut buckets: IndexMap<&str, Vec<PlacedEntry<'_>>, FxBuildHasher> = IndexMap::default();
    for (key, placed) in entries {
        let bucket = buckets.entry(key).or_default();
        if placed.1.op == ConfigOp::Override && !bucket.is_empty() {
            bucket.clear();
        }
        bucket.push(placed);
    }
    buckets.into_values().flatten().collect()
}

fn key_of<'p>(module: &'p Module, entry: &'p ConfigEntry) -> &'p str {
    match entry.key.map(|key| &module[key].kind) {
        Some(Expr::Ident(path)) => path.names.first().map_or("", |name| name.name.as_str()),
        Some(Expr::String(text)) => &text.value,
        _ => "",
    }
}

/// Whether a few entries have keys of their own, so that none meets another.
fn has_distinct_keys(entries: &[KeyedEntry<'_>]) -> bool {
    const FEW: usize = 16;
    let is_new = |at: usize| !entries[..at].iter().any(|(key, _)| *key == entries[at].0);
    entries.len() <= FEW && (1..entries.len()).all(is_new)
}
