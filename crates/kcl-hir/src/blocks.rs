//! Config blocks of the main package that are merged.
//!
//! `p: P {…}` may be written several times. The last statement gets the entries of all of them,
//! in one order, as if they stood in one config: an entry reads the keys that come before it.

use crate::names::key_name;
use crate::program::{Global, Program};
use base_text::{FileId, Name};
use indexmap::IndexMap;
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Ident, Module, Stmt, StmtId, Target};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::ops::Range;
use std::sync::Arc;

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

    /// Returns the merge that a statement takes part in, and the number of its block.
    pub(crate) fn merge_of(&self, file: FileId, stmt: StmtId) -> Option<(&Merge, usize)> {
        let package = self.main_package()?;
        let merges = package.merges.get_or_init(|| Arc::new(Merges::find(self)));
        if merges.by_stmt.is_empty() {
            return None;
        }
        let &(merge, block) = merges.by_stmt.get(&(file, stmt))?;
        Some((&merges.merges[merge], block))
    }
}

/// The blocks of the main package that are merged.
#[derive(Debug, Default)]
pub(crate) struct Merges {
    merges: Vec<Merge>,
    /// The number of the merge and that of the block in it.
    by_stmt: FxHashMap<(FileId, StmtId), (usize, usize)>,
}

/// The blocks of one name.
#[derive(Debug)]
pub(crate) struct Merge {
    pub(crate) blocks: Vec<MergedBlock>,
    /// The entries of all blocks that count, in order.
    pub(crate) entries: Vec<MergedEntry>,
    /// The numbers of the entries whose keys bring a name into scope.
    by_key: FxHashMap<Name, Vec<usize>>,
}

/// One of the blocks of a merge.
#[derive(Debug)]
pub(crate) struct MergedBlock {
    pub(crate) config: ExprId,
    /// The numbers of its entries in the merge, in order.
    pub(crate) entries: Vec<usize>,
    /// The numbers of its own entries that a later one makes void.
    pub(crate) void: Vec<usize>,
}

/// An entry of one of several blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergedEntry {
    /// The number of the block.
    pub(crate) block: usize,
    /// The number of the entry in the block.
    pub(crate) item: usize,
    /// The name that its key brings into scope.
    pub(crate) key: Option<Ident>,
}

impl Merges {
    fn find(program: &Program) -> Self {
        let mut found = Self::default();
        let globals = program.main_package().into_iter().flat_map(|package| &package.globals);
        for (name, global) in globals {
            let blocks = program.merged_blocks(*name, global);
            if !blocks.is_empty() {
                let number = found.merges.len();
                let places = blocks.iter().enumerate();
                found.by_stmt.extend(places.map(|(at, it)| ((it.file, it.stmt), (number, at))));
                found.merges.push(Merge::new(program, &blocks));
            }
        }
        found
    }
}

impl Merge {
    fn new(program: &Program, blocks: &[Block]) -> Self {
        let mut order = EntryOrder::default();
        let mut void: Vec<MergedEntry> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let module = &program.file(block.file).module;
            let Expr::Config(items) = &module[block.config].kind else { continue };
            for (at, item) in items.iter().enumerate() {
                let key = item.key.and_then(|key| {
                    let span = module[key].span;
                    Some(Ident { name: key_name(module, key)?, span })
                });
                let entry = MergedEntry { block: number, item: at, key };
                void.extend(order.add(entry_name(module, item), item.op, entry));
            }
        }
        let empty =
            |it: &Block| MergedBlock { config: it.config, entries: Vec::new(), void: Vec::new() };
        let mut merge = Self {
            blocks: blocks.iter().map(empty).collect(),
            entries: order.into_entries().collect(),
            by_key: FxHashMap::default(),
        };
        for (at, entry) in merge.entries.iter().enumerate() {
            merge.blocks[entry.block].entries.push(at);
            if let Some(key) = entry.key {
                merge.by_key.entry(key.name).or_default().push(at);
            }
        }
        for entry in void {
            merge.blocks[entry.block].void.push(entry.item);
        }
        merge
    }

    /// Returns the key that brings a name into scope, of the first of some entries that has one.
    pub(crate) fn key_among(&self, name: Name, entries: Range<usize>) -> Option<Ident> {
        let all = self.by_key.get(&name)?;
        let at = *all.get(all.partition_point(|it| *it < entries.start))?;
        self.entries[at].key.filter(|_| entries.contains(&at))
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
