//! Statements.

use crate::error::{Eval, Failure, fail};
use crate::evaluator::Evaluator;
use crate::expr::load_attr;
use crate::lazy::{Backtrack, Part};
use crate::names::NameRef;
use crate::ordered::Holder;
use base_text::{FileId, Name};
use kcl_syntax::ast::{
    Assert, Assign, AugAssign, AugOp, Expr, ExprId, If, MemberOrIndex, Stmt, StmtId, Target, Type,
    TypeAlias, Unification,
};
use kcl_value::output::OutputOptions;
use kcl_value::{List, Origin, Value, ops};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Runs a top-level statement in its turn.
    pub(crate) fn run_global_stmt(&mut self, file: FileId, stmt: StmtId) -> Eval<()> {
        if self.merges.removed.contains(&(file, stmt)) || self.is_done(file, stmt) {
            return Ok(());
        }
        if let Stmt::Schema(decl) = &self.program.file(file).module[stmt].kind {
            self.run_schema_decl(file, decl.name.name);
            return Ok(());
        }
        match self.run_ordered_global(file, stmt) {
            Some(result) => result,
            None => self.run_unit(file, stmt, None),
        }
    }

    /// Whether a statement only sets one name and has done so already, because it was read.
    fn is_done(&mut self, file: FileId, stmt: StmtId) -> bool {
        let source = self.program.file(file);
        let name = match &source.module[stmt].kind {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] if target.paths.is_empty() => target.name.name,
                _ => return false,
            },
            Stmt::Unification(unification) => match unification.target.names.as_slice() {
                [name] => name.name,
                _ => return false,
            },
            _ => return false,
        };
        let Some(at) = self.program.package(source.package).globals.get_index_of(&name) else {
            return false;
        };
        let state = self.global(source.package, at as u32);
        state.setters.len() == 1 && state.progress.cache.is_some()
    }

    /// Runs a top-level statement, or the part of it that sets a name.
    pub(crate) fn run_unit(
        &mut self,
        file: FileId,
        stmt: StmtId,
        backtrack: Option<Backtrack>,
    ) -> Eval<()> {
        let source = self.program.file(file);
        if matches!(source.module[stmt].kind, Stmt::Schema(_) | Stmt::Rule(_) | Stmt::Import(_)) {
            return Ok(());
        }
        let n_slots = self.unit(file, stmt);
        let frame = self.file_frame(file);
        let loops = std::mem::take(&mut self.loop_depth);
        let saved = std::mem::replace(&mut self.backtrack, backtrack);
        let result = self.in_frame(frame, n_slots as usize, |this| this.run_stmt(stmt));
        self.backtrack = saved;
        self.loop_depth = loops;
        result.map(drop)
    }

    /// Runs statements of the current file and returns the value of the last one.
    pub(crate) fn run_stmts(&mut self, stmts: &'p [StmtId]) -> Eval<Value> {
        let mut value = Value::Undefined;
        for &stmt in stmts {
            value = self.run_stmt(stmt)?;
        }
        Ok(value)
    }

    /// Runs one statement of the current file.
    pub(crate) fn run_stmt(&mut self, id: StmtId) -> Eval<Value> {
        if self.backtrack.is_some_and(|backtrack| backtrack.stopped) {
            return Ok(Value::Undefined);
        }
        let module = self.frame.module;
        let value = match &module[id].kind {
            Stmt::Expr(exprs) => {
                let mut value = Value::Undefined;
                for &expr in exprs {
                    value = self.eval(expr)?;
                    let kind = &module[expr].kind;
                    if !matches!(kind, Expr::Call(_)) {
                        let origin = self.origin(expr);
                        self.add_scalar(&value, matches!(kind, Expr::Schema(_)), origin);
                    }
                }
                value
            }
            Stmt::Unification(unification) => self.run_unification(id, unification)?,
            Stmt::Assign(assign) => self.run_assign(id, assign)?,
            Stmt::AugAssign(assign) => self.run_aug_assign(id, assign)?,
            Stmt::Assert(assert) => {
                self.run_assert(assert)?;
                Value::Undefined
            }
            Stmt::If(if_stmt) => {
                self.run_if(id, if_stmt)?;
                Value::Undefined
            }
            Stmt::SchemaAttr(attr) => {
                self.run_schema_attr(id, attr)?;
                Value::Undefined
            }
            Stmt::TypeAlias(alias) => {
                self.run_type_alias(id, alias)?;
                Value::Undefined
            }
            Stmt::Import(_) | Stmt::Schema(_) | Stmt::Rule(_) => Value::Undefined,
        };
        if let Some(backtrack) = &mut self.backtrack
            && backtrack.stop == Some(id)
        {
            backtrack.stopped = true;
        }
        Ok(value)
    }

    /// Keeps the value of an expression statement of the main package.
    fn add_scalar(&mut self, value: &Value, is_schema: bool, origin: Origin) {
        if self.frame.in_lambda || self.frame.this.is_some() {
            return;
        }
        let package = &mut self.packages[self.frame.package.0 as usize];
        if is_schema {
            // A later instance takes the place of an earlier one.
            if package.schema_scalar < package.scalars.len() {
                package.scalars.remove(package.schema_scalar);
            }
            package.scalars.push((value.clone(), origin));
            package.schema_scalar = package.scalars.len() - 1;
        } else {
            package.scalars.push((value.clone(), origin));
        }
    }

    /// Runs `type T = …`: the name of a schema or rule stands for it wherever a value may stand.
    fn run_type_alias(&mut self, id: StmtId, alias: &'p TypeAlias) -> Eval<()> {
        let Type::Named(path) = &self.frame.module[alias.ty].kind else { return Ok(()) };
        let file = self.frame.file;
        let declared = self.declared_value(file, path)?;
        if let Some(value) = declared.filter(|value| matches!(value, Value::Func(_))) {
            let origin = self.stmt_origin(file, id);
            self.store(id, 0, alias.name.name, value, origin)?;
        }
        Ok(())
    }

    fn run_unification(&mut self, id: StmtId, unification: &'p Unification) -> Eval<Value> {
        let Some(first) = unification.target.names.first() else { return Ok(Value::Undefined) };
        let name = first.name;
        self.targets.push(name);
        let result = self.unify(id, name, unification);
        self.targets.pop();
        result
    }

    fn unify(&mut self, id: StmtId, name: Name, unification: &'p Unification) -> Eval<Value> {
        let file = self.frame.file;
        let value = match self.merges.blocks.get(&(file, id)).cloned() {
            Some(blocks) => self.eval_merged(unification.value, &blocks)?,
            None => match &self.frame.module[unification.value].kind {
                Expr::Schema(schema) => {
                    self.enter()?;
                    let value = self.eval_schema_expr(unification.value, schema)?;
                    self.leave();
                    value
                }
                _ => self.eval(unification.value)?,
            },
        };
        let name_ref = self.target_ref(id, 0, name);
        let before = self.load(name_ref, name)?;
        let value = self.bit_or(before, value)?;
        let origin = self.origin(unification.value);
        self.store(id, 0, name, value.clone(), origin)?;
        Ok(value)
    }

    /// The global or attribute that a statement outside lambdas sets.
    fn own_name(&self, name: Name) -> NameRef {
        if let Some(this) = &self.frame.this
            && this.slot(name).is_some()
        {
            return NameRef::Attr(0);
        }
        let package = self.program.package(self.frame.package);
        match package.globals.get_index_of(&name) {
            Some(at) => NameRef::Global(at as u32),
            None => NameRef::Missing,
        }
    }

    fn run_assign(&mut self, id: StmtId, assign: &'p Assign) -> Eval<Value> {
        let n_targets = self.targets.len();
        self.targets.extend(assign.targets.iter().map(|target| target.name.name));
        let result = self.assign(id, assign);
        self.targets.truncate(n_targets);
        result
    }

    fn assign(&mut self, id: StmtId, assign: &'p Assign) -> Eval<Value> {
        let file = self.frame.file;
        let is_global = !self.frame.in_lambda && self.frame.this.is_none();
        let blocks = if is_global { self.merges.blocks.get(&(file, id)).cloned() } else { None };
        let circles = self.circles;
        let mut value = match blocks {
            Some(blocks) => self.eval_merged(assign.value, &blocks)?,
            None => self.eval(assign.value)?,
        };
        if let Some(target) = assign.targets.first() {
            self.check_circles(circles, target.name.name, &value)?;
        }
        if let Some(ty) = assign.ty {
            let ty = self.runtime_type(ty);
            value = self.cast(value, &ty, false)?;
        }
        let origin = self.origin_of(assign.value, &value);
        for (at, target) in assign.targets.iter().enumerate() {
            self.store_target(id, at as u32, target, value.clone(), origin)?;
        }
        Ok(value)
    }

    fn run_aug_assign(&mut self, id: StmtId, assign: &'p AugAssign) -> Eval<Value> {
        let name = assign.target.name.name;
        self.targets.push(name);
        let result = self.aug_assign(id, assign);
        self.targets.pop();
        result
    }

    fn aug_assign(&mut self, id: StmtId, assign: &'p AugAssign) -> Eval<Value> {
        let name = assign.target.name.name;
        let right = self.eval(assign.value)?;
        let name_ref = self.target_ref(id, 0, name);
        let mut left = self.load(name_ref, name)?;
        for step in &assign.target.paths {
            left = self.step_into(&left, step)?;
        }
        let mut origin = self.origin(assign.value);
        let value = match assign.op {
            AugOp::Assign => right,
            AugOp::With(op) => {
                let was = match name_ref {
                    NameRef::Global(at) if assign.target.paths.is_empty() => {
                        self.global(self.frame.package, at).origin
                    }
                    _ => Origin(0),
                };
                let (left, right) = (self.stamped(left, was), self.stamped(right, origin));
                let value = self.binary(op, left, right)?;
                if (was.0 != 0 || !assign.target.paths.is_empty())
                    && (value.is_config() || matches!(value, Value::List(_)))
                {
                    // What is added knows its own place.
                    origin = was;
                }
                value
            }
        };
        self.store_target(id, 0, &assign.target, value.clone(), origin)?;
        Ok(value)
    }

    fn target_ref(&self, id: StmtId, at: u32, name: Name) -> NameRef {
        let names = &self.files[self.frame.file.0 as usize].names;
        names.target_refs.get(&(id, at)).copied().unwrap_or_else(|| self.own_name(name))
    }

    fn step_into(&mut self, value: &Value, step: &'p MemberOrIndex) -> Eval<Value> {
        match step {
            MemberOrIndex::Member(member) => load_attr(value, member.name),
            MemberOrIndex::Index(index) => {
                let index = self.eval(*index)?;
                Ok(ops::index(value, &index)?)
            }
        }
    }

    fn store_target(
        &mut self,
        id: StmtId,
        at: u32,
        target: &'p Target,
        value: Value,
        origin: Origin,
    ) -> Eval<()> {
        let name = target.name.name;
        if target.paths.is_empty() {
            return self.store(id, at, name, value, origin);
        }
        let name_ref = self.target_ref(id, at, name);
        let whole = self.load(name_ref, name)?;
        let whole = self.with_step(whole, &target.paths, value, origin)?;
        // The rest of the whole is from where it was.
        let was = match name_ref {
            NameRef::Global(at) => self.global(self.frame.package, at).origin,
            _ => Origin(0),
        };
        self.store_by_ref(id, name_ref, name, whole, if was.0 == 0 { origin } else { was })
    }

    /// A value with something deep inside replaced.
    fn with_step(
        &mut self,
        whole: Value,
        path: &'p [MemberOrIndex],
        value: Value,
        origin: Origin,
    ) -> Eval<Value> {
        let Some((step, rest)) = path.split_first() else { return Ok(value) };
        let value = if rest.is_empty() {
            value
        } else {
            let inner = self.step_into(&whole, step)?;
            self.with_step(inner, rest, value, origin)?
        };
        match step {
            MemberOrIndex::Member(member) => {
                let key = self.string(member.name);
                self.with_member(whole, key, value, origin)
            }
            MemberOrIndex::Index(index) => {
                let index = self.eval(*index)?;
                self.with_item(whole, &index, value, origin)
            }
        }
    }

    /// A dict or instance with one member replaced; an instance is made anew.
    fn with_member(
        &mut self,
        whole: Value,
        key: kcl_value::Str,
        value: Value,
        origin: Origin,
    ) -> Eval<Value> {
        match whole {
            Value::Dict(dict) => {
                let mut dict = Rc::unwrap_or_clone(dict);
                let have = dict.entry(&key);
                let slot = have.map(|entry| entry.slot).unwrap_or_default();
                let was = have.map(|entry| entry.origin).unwrap_or_default();
                let origin = self.outvote(was, origin);
                dict.put(kcl_value::Entry { key, value, slot, origin });
                Ok(Value::dict(dict))
            }
            Value::Schema(schema) => {
                let mut schema = Rc::unwrap_or_clone(schema);
                let is_known = schema.attrs.contains_key(&key);
                let have = schema.attrs.entry(&key);
                let slot = have.map(|entry| entry.slot).unwrap_or_default();
                let was = have.map(|entry| entry.origin).unwrap_or_default();
                let origin = self.outvote(was, origin);
                schema.attrs.put(kcl_value::Entry { key: key.clone(), value, slot, origin });
                schema.whole = kcl_value::Whole::default();
                let has_args = !schema.args.positional.is_empty();
                if self.frame.this.is_none() && has_args && is_known {
                    return Ok(Value::Schema(Rc::new(schema)));
                }
                let mut keys: Vec<_> = schema.config_keys.to_vec();
                if !keys.contains(&key) {
                    keys.push(key);
                }
                self.resolve_schema(&schema, &keys)
            }
            other => fail(format!(
                "failed to update the dict. An iterable of key-value pairs was expected, but got {}. \
                 Check if the syntax for updating the dictionary with the attribute '{key}' is correct",
                other.type_name()
            )),
        }
    }

    fn with_item(
        &mut self,
        whole: Value,
        index: &Value,
        value: Value,
        origin: Origin,
    ) -> Eval<Value> {
        match (whole, index) {
            (Value::List(list), Value::Int(index)) => {
                let mut list = Rc::unwrap_or_clone(list);
                let len = list.items.len() as i64;
                let at = if *index < 0 { index + len } else { *index };
                let Some(item) = usize::try_from(at).ok().and_then(|at| list.items.get_mut(at))
                else {
                    return fail(format!(
                        "index out of bounds: the len is {len} but the index is {index}"
                    ));
                };
                *item = value;
                if let Some(have) = list.origins.get_mut(at as usize) {
                    *have = self.outvote(*have, origin);
                }
                Ok(Value::List(Rc::new(List { ..list })))
            }
            (whole, Value::Str(key)) if whole.is_config() => {
                self.with_member(whole, key.clone(), value, origin)
            }
            (whole, index) => fail(format!(
                "'{}' object is not subscriptable with '{}'",
                whole.type_name(),
                index.type_name()
            )),
        }
    }

    /// Assigns to a name.
    fn store(&mut self, id: StmtId, at: u32, name: Name, value: Value, origin: Origin) -> Eval<()> {
        if self.frame.in_lambda {
            let names = &self.files[self.frame.file.0 as usize].names;
            if let Some(&slot) = names.targets.get(&(id, at)) {
                self.tie_closure(&value, slot);
                self.stack[self.frame.base + slot as usize] = value;
            }
            return Ok(());
        }
        let name_ref = self.own_name(name);
        self.store_by_ref(id, name_ref, name, value, origin)
    }

    fn store_by_ref(
        &mut self,
        id: StmtId,
        name_ref: NameRef,
        name: Name,
        value: Value,
        origin: Origin,
    ) -> Eval<()> {
        match name_ref {
            NameRef::Attr(_) => {
                if let Some(this) = self.frame.this.clone()
                    && let Some(slot) = this.slot(name)
                    && self.may_set_attr(&this, slot, id)
                {
                    return self.assign_attr(&this, slot, value, origin, id);
                }
                Ok(())
            }
            NameRef::Global(at) => {
                let package = self.frame.package;
                if self.global(package, at).is_ordered
                    && !self.may_store(&Holder::Package(package), name, id)
                {
                    return Ok(());
                }
                let was = self.global(package, at).origin;
                let origin = self.outvote(was, origin);
                self.set_global(package, at, value, origin, id);
                Ok(())
            }
            NameRef::Local(slot) | NameRef::LocalOr(slot, _) => {
                self.stack[self.frame.base + slot as usize] = value;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn run_assert(&mut self, assert: &'p Assert) -> Eval<()> {
        if let Some(cond) = assert.if_cond {
            let applies = self.eval(cond)?.is_truthy();
            self.note_decision(cond, applies);
            if !applies {
                return Ok(());
            }
        }
        let holds = self.eval(assert.test)?.is_truthy();
        self.note_decision(assert.test, holds);
        let message = self.eval_optional(assert.msg)?;
        if holds {
            return Ok(());
        }
        let message = message.map_or(String::new(), |message| kcl_value::show(&message));
        let note = if self.options.explain_asserts { self.compared(assert.test)? } else { None };
        Err(Failure::new(message).with_note(note))
    }

    /// Says what the two sides of a comparison are.
    #[cold]
    fn compared(&mut self, test: ExprId) -> Eval<Option<String>> {
        let (at, module) = (self.at, self.frame.module);
        let Expr::Compare { left, rest } = &module[test].kind else { return Ok(None) };
        let [(op, right)] = rest.as_slice() else { return Ok(None) };
        let (left, right) = (self.eval(*left)?, self.eval(*right)?);
        self.at = at;
        let op = op.as_str();
        Ok(Some(format!(
            "left {op} right, where left is {}, right is {}",
            brief(&left),
            brief(&right)
        )))
    }

    fn run_if(&mut self, id: StmtId, if_stmt: &'p If) -> Eval<()> {
        let holds = self.condition(if_stmt.cond)?;
        let part = self.backtrack.filter(|backtrack| backtrack.stmt == id);
        let part = part.map_or(Part::Whole, |backtrack| backtrack.part);
        if holds && part != Part::Else {
            self.run_stmts(&if_stmt.body)?;
        } else if !holds && part != Part::Then {
            self.run_stmts(&if_stmt.orelse)?;
        }
        Ok(())
    }
}

/// A value in few characters.
fn brief(value: &Value) -> String {
    const MAX_CHARS: usize = 400;
    let filter = OutputOptions::default().filter();
    if kcl_value::text_size(value, filter, 0, MAX_CHARS * 8).is_none() {
        return format!("a large {}", value.type_text());
    }
    let text = match value {
        Value::Undefined | Value::Func(_) => kcl_value::show(value),
        _ => kcl_value::json::write(value),
    };
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
