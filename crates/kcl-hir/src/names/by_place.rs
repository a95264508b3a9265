//! The meanings of the names of one file, by the places where they are written.

use super::define::target_name;
use super::{Definition, DefinitionKind, Meaning, Sink, resolve_unit};
use crate::program::Program;
use base_text::{FileId, Name, Span};
use kcl_syntax::ast::{ExprId, Lambda, Module, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Stands for a slot that holds no local name.
const NO_DEFINITION: u32 = u32::MAX;

/// What the names of a file mean, for those who walk its tree on their own: the checker.
///
/// Units are added one by one ([`add_unit`](Self::add_unit)). In the meanings that this table
/// returns, the number of a local name is that of its definition, not of a slot: a name that a
/// lambda captures is the same definition there.
#[derive(Debug, Default)]
pub struct NamesByPlace {
    /// By expression: identifiers, schema expressions and config keys.
    meanings: Vec<Option<Meaning>>,
    alternatives: Vec<Meaning>,
    definitions: Vec<Definition>,
    /// By the first byte of the name: the definition that is bound or set there.
    bound: FxHashMap<u32, u32>,
    /// By the first byte of the name: what a target with a path, or one that is updated, starts
    /// from.
    starts: FxHashMap<u32, Meaning>,
    /// Config keys inside an `if`.
    conditional: FxHashSet<u32>,
    /// Keys of other blocks that a config is merged with.
    merged: FxHashSet<u32>,
}

impl NamesByPlace {
    /// Resolves the names of a top-level statement or schema of the file.
    pub fn add_unit(&mut self, program: &Program, file: FileId, stmt: StmtId) {
        let module = &program.file(file).module;
        if self.meanings.is_empty() {
            self.meanings.resize(module.exprs.len(), None);
        }
        let mut unit = Unit { module, names: self, frames: vec![Vec::new()] };
        resolve_unit(program, file, stmt, &mut unit);
    }

    /// Returns what an identifier or a schema expression means; `None` if its unit was not added.
    pub fn meaning(&self, expr: ExprId) -> Option<Meaning> {
        self.meanings.get(expr.index()).copied().flatten()
    }

    /// Returns an alternative of [`Meaning::LocalOr`] or [`Meaning::Attr`].
    pub fn alternative(&self, number: u32) -> Meaning {
        self.alternatives.get(number as usize).copied().unwrap_or(Meaning::Missing)
    }

    /// Returns the definition that a parameter, a loop variable, or an assignment in a lambda
    /// binds or sets.
    pub fn bound_at(&self, name: Span) -> Option<u32> {
        self.bound.get(&name.start).copied()
    }

    /// Returns the definition that a config key makes; `None` if nothing reads it by its name.
    pub fn key(&self, key: ExprId, at: Span) -> Option<u32> {
        self.meaning(key)?;
        self.bound_at(at)
    }

    /// Whether a config key stands for the value of a loop variable.
    pub fn is_variable_key(&self, key: ExprId) -> bool {
        matches!(self.meaning(key), Some(Meaning::LocalOr(_, u32::MAX)))
    }

    /// Whether a definition is a config key that only an `if` sets.
    pub fn is_conditional(&self, definition: u32) -> bool {
        self.conditional.contains(&definition)
    }

    /// Whether a definition is a key of another block that the config is merged with.
    pub fn is_merged(&self, definition: u32) -> bool {
        self.merged.contains(&definition)
    }

    /// Returns what the target of an assignment starts from, if it has a path or is updated.
    pub fn start_of(&self, target: Span) -> Option<Meaning> {
        self.starts.get(&target.start).copied()
    }

    /// Returns a definition by its number.
    pub fn definition(&self, number: u32) -> Option<&Definition> {
        self.definitions.get(number as usize)
    }
}

/// Adds one unit.
struct Unit<'p, 'n> {
    module: &'p Module,
    names: &'n mut NamesByPlace,
    /// The definitions of the slots of open frames, the outermost first.
    frames: Vec<Vec<u32>>,
}

impl Unit<'_, '_> {
    /// A meaning in the innermost frame with definitions instead of slots.
    fn with_definitions(&self, meaning: Meaning) -> Meaning {
        let definition = |slot: u32| {
            let found = self.frames.last().and_then(|frame| frame.get(slot as usize));
            found.copied().unwrap_or(NO_DEFINITION)
        };
        match meaning {
            Meaning::Local(slot) => Meaning::Local(definition(slot)),
            Meaning::LocalOr(slot, next) => Meaning::LocalOr(definition(slot), next),
            other => other,
        }
    }

    fn set_slot(&mut self, depth: usize, slot: u32, definition: u32) {
        let Some(frame) = self.frames.get_mut(depth) else { return };
        let slot = slot as usize;
        if frame.len() <= slot {
            frame.resize(slot + 1, NO_DEFINITION);
        }
        frame[slot] = definition;
    }
}

impl Sink for Unit<'_, '_> {
    fn meaning(&mut self, expr: ExprId, meaning: Meaning) {
        self.names.meanings[expr.index()] = Some(self.with_definitions(meaning));
    }

    fn alternative(&mut self, meaning: Meaning) -> u32 {
        let meaning = self.with_definitions(meaning);
        self.names.alternatives.push(meaning);
        self.names.alternatives.len() as u32 - 1
    }

    fn target(&mut self, stmt: StmtId, at: u32, slot: u32) {
        if let (Some(target), Meaning::Local(definition)) =
            (target_name(self.module, stmt, at), self.with_definitions(Meaning::Local(slot)))
        {
            self.names.bound.insert(target.span.start, definition);
        }
    }

    fn target_start(&mut self, stmt: StmtId, at: u32, meaning: Meaning) {
        if let Some(target) = target_name(self.module, stmt, at) {
            let meaning = self.with_definitions(meaning);
            self.names.starts.insert(target.span.start, meaning);
        }
    }

    fn reset(&mut self, _: ExprId, _: u32) {
        // Called for the key that was bound last.
        self.names.conditional.extend((self.names.definitions.len() as u32).checked_sub(1));
    }

    fn merged_key(&mut self, _: ExprId, slot: u32, name: Name) {
        // It may stand in another file.
        let number = self.names.definitions.len() as u32;
        let (kind, at) = (DefinitionKind::Key, Span::default());
        self.names.definitions.push(Definition { name, kind, at });
        self.names.merged.insert(number);
        self.set_slot(0, slot, number);
    }

    fn enter_lambda(&mut self) {
        self.frames.push(Vec::new());
    }

    fn lambda(&mut self, _: ExprId, _: &Lambda, _: u32, _: Vec<(u32, u32)>) {
        self.frames.pop();
    }

    fn bound(&mut self, depth: usize, slot: u32, name: Name, kind: DefinitionKind, at: Span) {
        let number = self.names.definitions.len() as u32;
        self.names.definitions.push(Definition { name, kind, at });
        self.names.bound.insert(at.start, number);
        self.set_slot(depth, slot, number);
    }

    fn captured(&mut self, depth: usize, slot: u32, outer: u32) {
        let around = depth.checked_sub(1).and_then(|at| self.frames.get(at)?.get(outer as usize));
        if let Some(&definition) = around {
            self.set_slot(depth, slot, definition);
        }
    }
}
