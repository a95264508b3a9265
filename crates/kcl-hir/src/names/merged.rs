//! The keys of a config block that is merged with others.

use super::define::{expr_path, names_set, stmt_paths, type_path};
use super::scope::{BindingKind, Resolver};
use crate::blocks::Merge;
use crate::program::Program;
use base_text::{FileId, Name};
use indexmap::IndexSet;
use kcl_syntax::ast::{ConfigEntry, ExprId, Module, Path, StmtId};
use kcl_syntax::walk::{Node, children};
use rustc_hash::FxBuildHasher;
use std::ops::Range;

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
        let (merge, own) = (merged.merge, &merged.merge.blocks[merged.own]);
        // Only names that the block has can mean keys of others: there may be many blocks.
        let names = first_names(self.module, items);
        let mut next = 0;
        for &at in &own.entries {
            self.bind_merged(config, merge, &names, next..at);
            self.entry(config, &items[merge.entries[at].item]);
            next = at + 1;
        }
        if !own.void.is_empty() {
            self.bind_merged(config, merge, &names, next..merge.entries.len());
            own.void.iter().for_each(|item| self.expr(items[*item].value));
        }
    }

    /// Brings the keys of entries of other blocks into scope.
    fn bind_merged(
        &mut self,
        config: ExprId,
        merge: &Merge,
        names: &IndexSet<Name, FxBuildHasher>,
        entries: Range<usize>,
    ) {
        if entries.is_empty() {
            return;
        }
        for name in names {
            if let Some(key) = merge.key_among(*name, entries.clone()) {
                self.bind(key, BindingKind::Merged, Some(config));
            }
        }
    }
}

/// The first names of all paths in entries, and those that statements in them set.
fn first_names(module: &Module, items: &[ConfigEntry]) -> IndexSet<Name, FxBuildHasher> {
    let mut names = IndexSet::default();
    let mut add = |path: &Path| names.extend(path.names.first().map(|first| first.name));
    let mut open: Vec<Node> = Vec::new();
    for item in items {
        open.extend(item.key.into_iter().chain([item.value]).map(Node::Expr));
    }
    let mut set = Vec::new();
    while let Some(node) = open.pop() {
        match node {
            Node::Expr(id) => expr_path(&module[id].kind).into_iter().for_each(&mut add),
            Node::Type(id) => type_path(&module[id].kind).into_iter().for_each(&mut add),
            Node::Stmt(id) => {
                stmt_paths(&module[id].kind, &mut add);
                set.extend(names_set(module, &[id]));
            }
        }
        children(module, node, |child| open.push(child));
    }
    names.extend(set);
    names
}
