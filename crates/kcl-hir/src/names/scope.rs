//! Scopes: which binding a name stands for.

use super::merged::MergedConfig;
use super::{DefinitionKind, Layer, Meaning, Place, Sink, order};
use crate::program::Program;
use base_text::{FileId, Name};
use kcl_syntax::ast::{ExprId, Ident, Module};
use rustc_hash::FxHashMap;

/// What binds a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BindingKind {
    Loop,
    Param,
    Local,
    Key(ExprId),
    /// A key of another block that the config is merged with.
    Merged,
}

impl BindingKind {
    fn definition(self) -> Option<DefinitionKind> {
        match self {
            Self::Loop => Some(DefinitionKind::LoopVariable),
            Self::Param => Some(DefinitionKind::Parameter),
            Self::Local => Some(DefinitionKind::Variable),
            Self::Key(_) | Self::Merged => None,
        }
    }

    fn is_key(self) -> bool {
        matches!(self, Self::Key(_) | Self::Merged)
    }
}

/// A name that is bound to a slot, or will be when something refers to it.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub(super) name: Name,
    pub(super) kind: BindingKind,
    pub(super) slot: Option<u32>,
    pub(super) conditional: bool,
    /// The config literal, for keys.
    pub(super) config: Option<ExprId>,
    /// The binding of the same name that this one hides.
    previous: u32,
}

impl Binding {
    pub(super) fn new(name: Name, kind: BindingKind, slot: Option<u32>) -> Self {
        Self { name, kind, slot, conditional: false, config: None, previous: NOTHING }
    }
}

const NOTHING: u32 = u32::MAX;

/// How many bindings are looked through before they are put into the index.
const FEW: usize = 16;

/// The scopes of a unit or lambda.
pub(super) struct Function {
    pub(super) place: Place,
    pub(super) n_slots: u32,
    pub(super) bindings: Vec<Binding>,
    /// Where scopes start in `bindings`.
    pub(super) scopes: Vec<usize>,
    /// The innermost position in `bindings` by name, for the first `n_indexed` bindings.
    by_name: FxHashMap<Name, u32>,
    n_indexed: usize,
    /// How many of the bindings are loop variables.
    n_loops: usize,
    captured: FxHashMap<Name, u32>,
    pub(super) captures: Vec<(u32, u32)>,
    /// How many `if`s are open around the place being resolved.
    pub(super) conditions: u32,
}

impl Function {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            n_slots: 0,
            bindings: Vec::new(),
            scopes: Vec::new(),
            by_name: FxHashMap::default(),
            n_indexed: 0,
            n_loops: 0,
            captured: FxHashMap::default(),
            captures: Vec::new(),
            conditions: 0,
        }
    }

    pub(super) fn is_lambda(&self) -> bool {
        matches!(self.place, Place::Lambda | Place::LambdaInSchema)
    }

    pub(super) fn slot(&mut self) -> u32 {
        self.n_slots += 1;
        self.n_slots - 1
    }

    pub(super) fn push(&mut self, binding: Binding) {
        self.n_loops += usize::from(binding.kind == BindingKind::Loop);
        self.bindings.push(binding);
    }

    pub(super) fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        while self.bindings.len() > start {
            let Some(binding) = self.bindings.pop() else { break };
            self.n_loops -= usize::from(binding.kind == BindingKind::Loop);
            if self.bindings.len() < self.n_indexed {
                self.n_indexed = self.bindings.len();
                self.by_name.insert(binding.name, binding.previous);
            }
        }
    }

    /// The position of the innermost binding of a name. The last few are looked through; others
    /// enter the index when a name is looked up: most keys of configs are never referred to.
    fn innermost(&mut self, name: Name) -> Option<usize> {
        if self.bindings.len() - self.n_indexed > FEW {
            for at in self.n_indexed..self.bindings.len() {
                let binding = &mut self.bindings[at];
                let previous = self.by_name.insert(binding.name, at as u32);
                binding.previous = previous.unwrap_or(NOTHING);
            }
            self.n_indexed = self.bindings.len();
        }
        self.last_below(self.bindings.len(), name)
    }

    /// The next binding of the same name further out.
    fn outer(&self, at: usize) -> Option<usize> {
        let Binding { name, previous, .. } = self.bindings[at];
        if at < self.n_indexed {
            return (previous != NOTHING).then_some(previous as usize);
        }
        self.last_below(at, name)
    }

    /// The last binding of a name before `end`, which is not in the index.
    fn last_below(&self, end: usize, name: Name) -> Option<usize> {
        let tail = &self.bindings[self.n_indexed..end];
        if let Some(at) = tail.iter().rposition(|binding| binding.name == name) {
            return Some(self.n_indexed + at);
        }
        if self.n_indexed == 0 {
            return None;
        }
        self.by_name.get(&name).filter(|at| **at != NOTHING).map(|at| *at as usize)
    }

    /// The outermost binding of a name.
    pub(super) fn outermost(&mut self, name: Name) -> Option<Binding> {
        let mut at = self.innermost(name)?;
        while let Some(outer) = self.outer(at) {
            at = outer;
        }
        Some(self.bindings[at])
    }

    /// Whether anything but a config key has that name.
    fn has_variable(&mut self, name: Name) -> bool {
        let mut next = self.innermost(name);
        while let Some(at) = next {
            if !self.bindings[at].kind.is_key() {
                return true;
            }
            next = self.outer(at);
        }
        false
    }
}

/// Resolves the names of one unit.
pub(super) struct Resolver<'p, 's> {
    pub(super) program: &'p Program,
    pub(super) file: FileId,
    pub(super) module: &'p Module,
    pub(super) sink: &'s mut dyn Sink,
    pub(super) functions: Vec<Function>,
    /// The config of the unit, if it is merged with others and was not walked yet.
    pub(super) merged: Option<MergedConfig<'p>>,
}

impl Resolver<'_, '_> {
    pub(super) fn function(&mut self) -> &mut Function {
        self.functions.last_mut().expect("a unit is a function")
    }

    pub(super) fn bind(
        &mut self,
        name: Ident,
        kind: BindingKind,
        config: Option<ExprId>,
    ) -> Option<u32> {
        let Ident { name, span } = name;
        let depth = self.functions.len() - 1;
        let function = self.function();
        let slot = (!kind.is_key()).then(|| function.slot());
        if let (Some(slot), Some(kind)) = (slot, kind.definition()) {
            self.sink.bound(depth, slot, name, kind, span);
        }
        let function = self.function();
        let conditional = function.conditions > 0;
        function.push(Binding { conditional, config, ..Binding::new(name, kind, slot) });
        slot
    }

    pub(super) fn enter(&mut self) {
        let function = self.function();
        function.scopes.push(function.bindings.len());
    }

    pub(super) fn leave(&mut self) {
        self.function().leave();
    }

    pub(super) fn set(&mut self, expr: ExprId, meaning: Meaning) {
        self.sink.meaning(expr, meaning);
    }

    pub(super) fn chain(&mut self, meaning: Meaning) -> u32 {
        self.sink.alternative(meaning)
    }

    pub(super) fn lookup(&mut self, name: Name) -> Meaning {
        let depth = self.functions.len() - 1;
        let order = order(self.functions[depth].place);
        if order.first() == Some(&Layer::Loops)
            && let Some(found) = self.local(depth, name, true, Meaning::Missing)
        {
            return found;
        }
        // A local that is always set hides everything else.
        if order.first() == Some(&Layer::Locals)
            && let Some(found) = self.certain_local(depth, name)
        {
            return found;
        }
        // From the last place to the first: what a later one means is the alternative.
        let mut meaning = Meaning::Missing;
        for layer in order.iter().rev() {
            meaning = match layer {
                Layer::Globals => self.program.global_meaning(self.file, name),
                Layer::Captured => match self.capture(depth, name) {
                    Some(slot) => Meaning::LocalOr(slot, self.chain(meaning)),
                    None => meaning,
                },
                Layer::Attributes => Meaning::Attr(self.chain(meaning)),
                Layer::Locals => self.local(depth, name, false, meaning).unwrap_or(meaning),
                Layer::Loops => meaning,
            };
        }
        meaning
    }

    /// The innermost local of a name in one function, if it is set under all conditions.
    fn certain_local(&mut self, depth: usize, name: Name) -> Option<Meaning> {
        let at = self.functions[depth].innermost(name)?;
        let is_certain = !self.functions[depth].bindings[at].conditional;
        is_certain.then(|| Meaning::Local(self.slot_of(depth, at)))
    }

    /// Looks a name up in the scopes of one function.
    pub(super) fn local(
        &mut self,
        depth: usize,
        name: Name,
        loops_only: bool,
        tail: Meaning,
    ) -> Option<Meaning> {
        if loops_only && self.functions[depth].n_loops == 0 {
            return None;
        }
        let mut next = self.functions[depth].innermost(name);
        // Those that are set only under a condition, the innermost first.
        let mut conditional: Vec<u32> = Vec::new();
        let mut result = tail;
        let mut is_found = false;
        while let Some(at) = next {
            let binding = self.functions[depth].bindings[at];
            if !loops_only || binding.kind == BindingKind::Loop {
                let slot = self.slot_of(depth, at);
                is_found = true;
                if !binding.conditional {
                    result = Meaning::Local(slot);
                    break;
                }
                conditional.push(slot);
            }
            next = self.functions[depth].outer(at);
        }
        while let Some(slot) = conditional.pop() {
            let next = self.chain(result);
            result = Meaning::LocalOr(slot, next);
        }
        is_found.then_some(result)
    }

    /// The slot of a binding; keys get theirs now.
    fn slot_of(&mut self, depth: usize, at: usize) -> u32 {
        let function = &mut self.functions[depth];
        let binding = function.bindings[at];
        if let Some(slot) = binding.slot {
            return slot;
        }
        let slot = function.slot();
        function.bindings[at].slot = Some(slot);
        if let (BindingKind::Merged, Some(config)) = (binding.kind, binding.config) {
            self.sink.merged_key(config, slot, binding.name);
        }
        if let BindingKind::Key(key) = binding.kind {
            let at = self.module[key].span;
            self.sink.bound(depth, slot, binding.name, DefinitionKind::Key, at);
            self.set(key, Meaning::Local(slot));
            if let (true, Some(config)) = (binding.conditional, binding.config) {
                self.sink.reset(config, slot);
            }
        }
        slot
    }

    /// Brings a local of an outer function into the frame of the lambda at `depth`.
    fn capture(&mut self, depth: usize, name: Name) -> Option<u32> {
        if let Some(slot) = self.functions[depth].captured.get(&name) {
            return Some(*slot);
        }
        let outer = depth.checked_sub(1)?;
        let found = match self.local(outer, name, false, Meaning::Missing) {
            Some(Meaning::Local(slot) | Meaning::LocalOr(slot, _)) => slot,
            _ if self.functions[outer].is_lambda() => self.capture(outer, name)?,
            _ => return None,
        };
        let function = &mut self.functions[depth];
        let slot = function.slot();
        function.captures.push((found, slot));
        function.captured.insert(name, slot);
        self.sink.captured(depth, slot, found);
        Some(slot)
    }

    /// The first part of a dotted name: imports win over attributes and config keys.
    pub(super) fn lookup_first(&mut self, name: Name, is_dotted: bool) -> Meaning {
        if is_dotted && let Some(import) = self.program.import(self.file, name) {
            let package = self.program.package(self.program.file(self.file).package);
            let shadowed = package.globals.contains_key(&name)
                || self.functions.iter_mut().any(|function| function.has_variable(name));
            if !shadowed {
                return import.meaning();
            }
        }
        self.lookup(name)
    }
}
