//! Lazy globals and attributes.
//!
//! A global or attribute is set by one or more statements, its *setters*. They run in order;
//! a read that comes before the last of them has run runs the last one at once, whose own
//! reads of the name run the one before it, and so on. The result is kept.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::SchemaId;
use base_text::{FileId, Name};
use kcl_hir::names::visit_definitions;
use kcl_hir::{GlobalKind, PackageId};
use kcl_syntax::ast::{Module, Stmt, StmtId};
use kcl_value::{Func, Origin, Value};
use std::rc::Rc;

/// Which part of a statement sets a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// The branch of an `if` that is taken when its condition holds.
    Then,
    /// The other branch.
    Else,
}

/// A statement that sets a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setter {
    /// The file of the statement.
    pub(crate) file: FileId,
    /// The schema in whose body the statement stands, for attributes.
    pub(crate) schema: SchemaId,
    /// The outermost statement.
    pub(crate) stmt: StmtId,
    /// The statement inside an `if` after which nothing more needs to run.
    pub(crate) stop: Option<StmtId>,
    /// Which branch of the `if`.
    pub(crate) part: Part,
}

impl Setter {
    /// A top-level statement that sets one name and nothing else.
    fn whole(file: FileId, stmt: StmtId) -> Self {
        Self { file, schema: SchemaId::NONE, stmt, stop: None, part: Part::Whole }
    }
}

/// A setter that runs because its name was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backtrack {
    pub(crate) stmt: StmtId,
    pub(crate) stop: Option<StmtId>,
    pub(crate) part: Part,
    pub(crate) stopped: bool,
}

impl Backtrack {
    fn new(setter: &Setter) -> Self {
        Self { stmt: setter.stmt, stop: setter.stop, part: setter.part, stopped: false }
    }
}

/// How far a lazy name has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The final value, once known.
    pub(crate) cache: Option<Value>,
    /// How many of its setters are running because it was read.
    pub(crate) level: u32,
    /// How many setters ran in their turn.
    pub(crate) n_runs: u32,
    /// How often it was set at all.
    pub(crate) n_sets: u32,
    /// Whether `cache` is what the statements that ran in their turn have made of it so far.
    pub(crate) follows_turns: bool,
    /// Whether it was read for its own value, when it had none.
    pub(crate) is_circular: bool,
}

impl Progress {
    /// Notes that a setter ran; `stmt` is the innermost statement that did the setting.
    pub(crate) fn note(&mut self, setters: &[Setter], file: FileId, stmt: StmtId, value: &Value) {
        self.n_sets += 1;
        if self.level > 0 {
            return;
        }
        self.n_runs += 1;
        if self.follows_turns {
            self.cache = Some(value.clone());
            return;
        }
        let is_last = || {
            let last = setters.last();
            last.is_some_and(|last| last.file == file && last.stop.unwrap_or(last.stmt) == stmt)
        };
        if self.cache.is_none() && (self.n_runs as usize >= setters.len() || is_last()) {
            self.cache = Some(value.clone());
        }
    }
}

impl Progress {
    /// Refuses a name whose value is only that value: `a = b`, `b = a`. It would be left out
    /// without a word.
    fn check(&self, name: Name, value: &Value) -> Eval<()> {
        if self.is_circular && matches!(value, Value::Undefined) {
            return Err(circular(name));
        }
        Ok(())
    }

    /// Notes `name += value` in its turn: from now on readers see the name as it is then,
    /// unless one has seen its final value before.
    fn note_update(&mut self, value: &Value) {
        if self.level == 0 && self.cache.is_none() {
            self.follows_turns = true;
            self.cache = Some(value.clone());
        }
    }
}

/// Says that the value of a name is only that value.
pub(crate) fn circular(name: Name) -> Failure {
    Failure::new(format!("circular reference: the value of '{name}' depends on itself"))
}

/// One global.
pub(crate) struct GlobalState {
    pub(crate) name: Name,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    pub(crate) progress: Progress,
    pub(crate) setters: Rc<[Setter]>,
    /// Whether it is a variable, so that it belongs to the output.
    pub(crate) is_variable: bool,
    /// Whether the statements that set it run once each, in order.
    pub(crate) is_ordered: bool,
}

/// Adds the setters of a statement to `found`, with the names they set.
pub(crate) fn setters_of(
    module: &Module,
    file: FileId,
    schema: SchemaId,
    stmt: StmtId,
    found: &mut impl FnMut(Name, Setter),
) {
    let new = |stop, part| Setter { file, schema, stmt, stop, part };
    match &module[stmt].kind {
        Stmt::If(if_stmt) => {
            for (stmts, part) in [(&if_stmt.body, Part::Then), (&if_stmt.orelse, Part::Else)] {
                for &inner in stmts {
                    visit_definitions(module, inner, &mut |defined| {
                        if defined.is_value() {
                            found(defined.ident.name, new(Some(defined.stmt), part));
                        }
                    });
                }
            }
        }
        _ => visit_definitions(module, stmt, &mut |defined| {
            if defined.is_value() {
                found(defined.ident.name, new(None, Part::Whole));
            }
        }),
    }
}

impl<'p> Evaluator<'p> {
    /// The globals of a package before anything ran.
    pub(crate) fn global_states(&mut self, package: PackageId) -> Vec<GlobalState> {
        let program = self.program;
        let ordered = self.packages[package.0 as usize].ordered.clone();
        let mut states = Vec::with_capacity(program.package(package).globals.len());
        for (&name, global) in &program.package(package).globals {
            let mut setters = Vec::with_capacity(global.definitions.len());
            let mut value = Value::Undefined;
            for &(file, stmt) in &global.definitions {
                if self.merges.removed.contains(&(file, stmt)) {
                    continue;
                }
                let module: &'p Module = &program.file(file).module;
                match &module[stmt].kind {
                    Stmt::Schema(_) => {
                        if let Some(id) = self.schema_ids.get(&(package, name)) {
                            value = self.schema_value(*id);
                        }
                    }
                    Stmt::Rule(_) => {
                        let body = crate::rule::RuleRef { file, stmt };
                        value = Value::Func(Rc::new(Func {
                            name: name.as_str().into(),
                            is_type: true,
                            body: Box::new(body),
                        }));
                    }
                    Stmt::TypeAlias(_) => setters.push(Setter::whole(file, stmt)),
                    _ => setters_of(module, file, SchemaId::NONE, stmt, &mut |found, setter| {
                        if found == name {
                            setters.push(setter);
                        }
                    }),
                }
            }
            states.push(GlobalState {
                name,
                value,
                origin: Origin::default(),
                progress: Progress::default(),
                setters: setters.into(),
                is_variable: global.kind == GlobalKind::Variable,
                is_ordered: ordered.as_ref().is_some_and(|ordered| ordered.has_name(name)),
            });
        }
        states
    }

    pub(crate) fn global(&mut self, package: PackageId, at: u32) -> &mut GlobalState {
        &mut self.packages[package.0 as usize].globals[at as usize]
    }

    /// Reads a global, making it final if it is not.
    pub(crate) fn read_global(&mut self, package: PackageId, at: u32) -> Eval<Value> {
        let target = self.targets.last().copied();
        let state = self.global(package, at);
        if state.is_ordered {
            return self.read_ordered_global(package, at);
        }
        let level = state.progress.level;
        let is_own = target == Some(state.name) && (level == 0 || state.setters.len() <= 1);
        if is_own || state.setters.is_empty() {
            let value = state.value.clone();
            if is_own {
                self.note_own_read(&value);
            }
            return Ok(value);
        }
        if let Some(value) = &state.progress.cache {
            return Ok(value.clone());
        }
        let setters = state.setters.clone();
        if level == 0 && self.have_passed(package, &setters) {
            let state = self.global(package, at);
            state.progress.cache = Some(state.value.clone());
            return Ok(state.value.clone());
        }
        let state = self.global(package, at);
        let mut next = level as usize + 1;
        state.progress.level = level + 1;
        if next > setters.len() {
            state.progress.is_circular = true;
            return Ok(state.value.clone());
        }
        while next <= setters.len() {
            let n_sets = self.global(package, at).progress.n_sets;
            self.run_global_setter(&setters[setters.len() - next])?;
            let state = self.global(package, at);
            if state.progress.n_sets != n_sets || !matches!(state.value, Value::Undefined) {
                break;
            }
            next += 1;
        }
        let state = self.global(package, at);
        state.progress.level = level;
        state.progress.cache = Some(state.value.clone());
        state.progress.check(state.name, &state.value)?;
        Ok(state.value.clone())
    }

    /// Whether all of a global's setters ran in their turn: then its value is final.
    fn have_passed(&self, package: PackageId, setters: &[Setter]) -> bool {
        let (Some(last), Some((file, stmt))) =
            (setters.last(), self.packages[package.0 as usize].passed)
        else {
            return false;
        };
        if last.file == file {
            return last.stmt <= stmt;
        }
        let files = &self.program.package(package).files;
        let position = |file| files.iter().position(|it| *it == file);
        position(last.file) < position(file)
    }

    fn run_global_setter(&mut self, setter: &Setter) -> Eval<()> {
        self.enter()?;
        self.detours += 1;
        let result = self.run_unit(setter.file, setter.stmt, Some(Backtrack::new(setter)));
        self.detours -= 1;
        self.leave();
        result
    }

    /// Sets a global from statement `stmt`.
    pub(crate) fn set_global(
        &mut self,
        package: PackageId,
        at: u32,
        value: Value,
        origin: Origin,
        stmt: StmtId,
    ) {
        let file = self.frame.file;
        let is_update = matches!(
            &self.frame.module[stmt].kind,
            Stmt::AugAssign(assign) if assign.target.paths.is_empty()
        );
        let state = self.global(package, at);
        if !state.is_ordered {
            state.progress.note(&state.setters, file, stmt, &value);
            if is_update {
                state.progress.note_update(&value);
            }
        }
        state.origin = origin;
        state.value = value;
    }

    /// Reads an attribute of an instance, making it final if it is not.
    pub(crate) fn read_attr(&mut self, this: &Rc<Instance>, slot: usize) -> Eval<Value> {
        let attr = &this.layout.attrs[slot];
        if attr.is_ordered {
            return self.read_ordered_attr(this, slot);
        }
        let setters = &attr.setters;
        let level = {
            let states = this.states.borrow();
            let progress = &states[slot].progress;
            let level = progress.level;
            let is_own =
                self.targets.last() == Some(&attr.name) && (level == 0 || setters.len() <= 1);
            if is_own || setters.is_empty() {
                let value = this.get(slot);
                if is_own {
                    self.note_own_read(&value);
                }
                return Ok(value);
            }
            if let Some(value) = &progress.cache {
                return Ok(value.clone());
            }
            level
        };
        let mut next = level as usize + 1;
        this.states.borrow_mut()[slot].progress.level = level + 1;
        if next > setters.len() {
            this.states.borrow_mut()[slot].progress.is_circular = true;
            return Ok(this.get(slot));
        }
        // Setters that run in their turn later go on from what it is now.
        let so_far = if level == 0 && setters.len() > 1 { this.entry(slot) } else { None };
        while next <= setters.len() {
            let n_sets = this.states.borrow()[slot].progress.n_sets;
            self.run_attr_setter(this, &setters[setters.len() - next])?;
            let is_set = this.states.borrow()[slot].progress.n_sets != n_sets;
            if is_set || !matches!(this.get(slot), Value::Undefined) {
                break;
            }
            next += 1;
        }
        let value = this.get(slot);
        if let Some(so_far) = so_far {
            this.put(slot, so_far);
        }
        let progress = &mut this.states.borrow_mut()[slot].progress;
        progress.level = level;
        progress.cache = Some(value.clone());
        progress.check(attr.name, &value)?;
        Ok(value)
    }

    fn run_attr_setter(&mut self, this: &Rc<Instance>, setter: &Setter) -> Eval<()> {
        self.enter()?;
        let saved = self.backtrack.replace(Backtrack::new(setter));
        self.detours += 1;
        let result = self.run_schema_stmt(this, setter.schema, setter.stmt);
        self.detours -= 1;
        self.backtrack = saved;
        self.leave();
        result
    }
}
