//! The keys of a config block that is merged with others.

use super::scope::{BindingKind, Resolver};
use crate::blocks::{EntryOrder, entry_name};
use crate::program::Program;
use base_text::FileId;
use kcl_syntax::ast::{ConfigEntry, Expr, ExprId, Ident, StmtId};

/// A block that is merged with others, as it is seen from its own statement.
pub(super) struct MergedConfig {
    /// Its config.
    config: ExprId,
    /// The entries of all blocks that count, in order.
    entries: Vec<MergedEntry>,
    /// Its own entries that a later one makes void.
    void: Vec<usize>,
}

enum MergedEntry {
    /// An entry of its own, by position.
    Own(usize),
    /// The key of an entry of another block.
    Other(Option<Ident>),
}

impl MergedConfig {
    /// Finds what a top-level statement is merged with; `None` if it stands alone.
    pub(super) fn find(program: &Program, file: FileId, stmt: StmtId) -> Option<Self> {
        let blocks = program.blocks_around(file, stmt)?;
        let own = blocks.iter().find(|block| (block.file, block.stmt) == (file, stmt))?;
        let mut order = EntryOrder::default();
        let mut void = Vec::new();
        for block in &blocks {
            let module = &program.file(block.file).module;
            let Expr::Config(items) = &module[block.config].kind else { continue };
            for (at, item) in items.iter().enumerate() {
                let name = entry_name(module, item);
                let entry = if block == own {
                    MergedEntry::Own(at)
                } else {
                    let key = item.key.and_then(|key| super::resolve::key_name(module, key));
                    let span = item.key.map(|key| module[key].span).unwrap_or_default();
                    MergedEntry::Other(key.map(|name| Ident { name, span }))
                };
                void.extend(order.add(name, item.op, entry).iter().filter_map(MergedEntry::own));
            }
        }
        Some(Self { config: own.config, entries: order.into_entries().collect(), void })
    }
}

impl MergedEntry {
    fn own(&self) -> Option<usize> {
        match self {
            Self::Own(at) => Some(*at),
            Self::Other(_) => None,
        }
    }
}

impl Resolver<'_, '_> {
    /// Resolves the entries of a config in a unit that is merged with others.
    #[cold]
    pub(super) fn merged_entries(&mut self, config: ExprId, items: &[ConfigEntry]) {
        let Some(merged) = self.merged.take_if(|merged| merged.config == config) else {
            self.entries(config, items);
            return;
        };
        for entry in merged.entries {
            match entry {
                MergedEntry::Own(at) => self.entry(config, &items[at]),
                MergedEntry::Other(Some(key)) => {
                    self.bind(key, BindingKind::Merged, Some(config));
                }
                MergedEntry::Other(None) => {}
            }
        }
        for at in merged.void {
            self.expr(items[at].value);
        }
    }
}
