//! Config blocks of the main package that are merged.
//!
//! `p: P {…}` may be written several times. The last statement gets the entries of all of them,
//! in one order, as if they stood in one config: an entry reads the keys that come before it.

use crate::program::{Global, PackageId, Program};
use base_text::{FileId, Name};
use indexmap::IndexMap;
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module, Stmt, StmtId, Target};
use rustc_hash::FxBuildHasher;

/// A config block that takes part in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file.
    pub file: FileId,
    /// The top-level statement.
    pub stmt: StmtId,
    /// The config of its schema expression.
    pub config: ExprId,
}

/// How many definitions of a name are looked through for each of them.
const MAX_DEFINITIONS: usize = 64;

impl Program {
    /// Returns the config blocks that are merged under a name of the main package, in order;
    /// none if there is only one.
    pub fn merged_blocks(&self, name: Name, global: &Global) -> Vec<Block> {
        let mut blocks = Vec::new();
        if global.definitions.len() < 2 {
            return blocks;
        }
        for &(file, stmt) in &global.definitions {
            let module = &self.file(file).module;
            let Some(config) = config_of(module, stmt) else { continue };
            if let Stmt::Assign(assign) = &module[stmt].kind {
                let is_whole = |it: &Target| it.name.name == name && it.paths.is_empty();
                if !assign.targets.iter().any(is_whole) {
                    continue;
                }
                if name.is_private() {
                    blocks.clear();
                }
                if !blocks.is_empty() {
                    continue;
                }
            }
            blocks.push(Block { file, stmt, config });
        }
        if blocks.len() < 2 {
            blocks.clear();
        }
        blocks
    }

    /// Returns the blocks that a statement is merged with, itself among them; `None` for a name
    /// with very many definitions, whose blocks read their own keys alone.
    #[inline]
    pub(crate) fn blocks_around(&self, file: FileId, stmt: StmtId) -> Option<Vec<Block>> {
        let source = self.file(file);
        if source.package != PackageId(0) {
            return None;
        }
        let globals = &self.package(source.package).globals;
        let around = |name: Name| {
            let is_merge = |it: &&Global| (2..=MAX_DEFINITIONS).contains(&it.definitions.len());
            let global = globals.get(&name).filter(is_merge)?;
            let blocks = self.merged_blocks(name, global);
            blocks.iter().any(|it| (it.file, it.stmt) == (file, stmt)).then_some(blocks)
        };
        match &source.module[stmt].kind {
            Stmt::Unification(it) => around(it.target.names.first()?.name),
            Stmt::Assign(assign) => {
                let mut targets = assign.targets.iter().filter(|target| target.paths.is_empty());
                targets.find_map(|target| around(target.name.name))
            }
            _ => None,
        }
    }
}

/// The config of a statement that can be merged.
fn config_of(module: &Module, stmt: StmtId) -> Option<ExprId> {
    let value = match &module[stmt].kind {
        Stmt::Unification(unification) => unification.value,
        Stmt::Assign(assign) => assign.value,
        _ => return None,
    };
    match &module[value].kind {
        Expr::Schema(schema) if matches!(module[schema.config].kind, Expr::Config(_)) => {
            Some(schema.config)
        }
        _ => None,
    }
}

/// The name of an entry's key, if it is written as a name or string.
pub fn entry_name(module: &Module, entry: &ConfigEntry) -> Option<Name> {
    match &module[entry.key?].kind {
        Expr::Ident(path) => path.names.first().map(|first| first.name),
        Expr::String(text) => Some(Name::new(&text.value)),
        _ => None,
    }
}

/// Puts the entries of merged blocks in order: those of one key together, in the order in which
/// the keys are used first. An entry with `=` makes those of its key before it void.
#[derive(Debug)]
pub struct EntryOrder<T> {
    buckets: IndexMap<Option<Name>, Vec<T>, FxBuildHasher>,
}

impl<T> Default for EntryOrder<T> {
    fn default() -> Self {
        Self { buckets: IndexMap::default() }
    }
}

impl<T> EntryOrder<T> {
    /// Adds an entry; returns those that it makes void.
    pub fn add(&mut self, name: Option<Name>, op: ConfigOp, entry: T) -> Vec<T> {
        let bucket = self.buckets.entry(name).or_default();
        let is_override = name.is_some() && op == ConfigOp::Override;
        let void = if is_override { std::mem::take(bucket) } else { Vec::new() };
        bucket.push(entry);
        void
    }

    /// The entry that was added last under a name.
    pub fn last_mut(&mut self, name: Option<Name>) -> Option<&mut T> {
        self.buckets.get_mut(&name)?.last_mut()
    }

    /// Returns the entries that count, in order.
    pub fn into_entries(self) -> impl Iterator<Item = T> {
        self.buckets.into_values().flatten()
    }
}
