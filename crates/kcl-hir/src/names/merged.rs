//! The keys of a config block that is merged with others.

use super::scope::{BindingKind, Resolver};
use crate::blocks::Merge;
use crate::program::Program;
use base_text::FileId;
use kcl_syntax::ast::{ConfigEntry, ExprId, StmtId};

/// A block that is merged with others.
pub(super) struct MergedConfig<'p> {
    merge: &'p Merge,
    /// The number of the block.
    own: usize,
    config: ExprId,
}

impl<'p> MergedConfig<'p> {
    /// Finds what a top-level statement is merged with; `None` if it stands alone.
    pub(super) fn find(program: &'p Program, file: FileId, stmt: StmtId) -> Option<Self> {
        let (merge, own) = program.merge_of(file, stmt)?;
        Some(Self { merge, own, config: merge.blocks[own].config })
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
        for entry in &merged.merge.entries {
            if entry.block == merged.own {
                self.entry(config, &items[entry.item]);
            } else if let Some(key) = entry.key {
                self.bind(key, BindingKind::Merged, Some(config));
            }
        }
        for entry in merged.merge.void.iter().filter(|entry| entry.block == merged.own) {
            self.expr(items[entry.item].value);
        }
    }
}
