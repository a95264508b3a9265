//! Schema instances.

use crate::error::{Eval, Failure, fail};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::SchemaId;
use crate::ordered::Holder;
use crate::rule::RuleRef;
use kcl_hir::PackageId;
use kcl_syntax::ast::{
    AugOp, BinOp, ExprId, IndexSignature, LiteralType, Number, SchemaAttr, SchemaExpr, Stmt,
    StmtId, Type,
};
use kcl_value::{CallArgs, Dict, Entry, MergeOp, Origin, SchemaValue, Slot, Str, Value, Whole};
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Evaluates `Name(args) {…}`.
    pub(crate) fn eval_schema_expr(&mut self, id: ExprId, schema: &'p SchemaExpr) -> Eval<Value> {
        self.schema_expr_depth += 1;
        let config = self.eval(schema.config)?;
        let value = self.instantiate_expr(id, schema, config)?;
        self.schema_expr_depth -= 1;
        Ok(value)
    }

    /// The same with a config that was evaluated already.
    pub(crate) fn eval_schema_with(
        &mut self,
        id: ExprId,
        schema: &'p SchemaExpr,
        config: Value,
    ) -> Eval<Value> {
        self.schema_expr_depth += 1;
        let value = self.instantiate_expr(id, schema, config)?;
        self.schema_expr_depth -= 1;
        Ok(value)
    }

    /// Evaluates a schema expression with the entries of several blocks.
    pub(crate) fn eval_merged(&mut self, id: ExprId, blocks: &[kcl_hir::Block]) -> Eval<Value> {
        let kcl_syntax::ast::Expr::Schema(schema) = &self.frame.module[id].kind else {
            return self.eval(id);
        };
        self.schema_expr_depth += 1;
        let config = self.eval_blocks(blocks)?;
        let value = self.instantiate_expr(id, schema, config)?;
        self.schema_expr_depth -= 1;
        Ok(value)
    }

    fn instantiate_expr(
        &mut self,
        id: ExprId,
        schema: &'p SchemaExpr,
        config: Value,
    ) -> Eval<Value> {
        let Some(first) = schema.name.names.first() else { return Ok(Value::Undefined) };
        let callee = self.load_path(self.name_ref(id), first.name, &schema.name.names[1..])?;
        let args = if schema.args.is_empty() && schema.kwargs.is_empty() {
            self.no_args.clone()
        } else {
            Rc::new(*self.eval_args(&schema.args, &schema.kwargs)?)
        };
        if let (Value::Func(func), Value::Dict(config)) = (&callee, &config) {
            let site = self.origin(id);
            if let Some(schema) = func.body.downcast_ref::<SchemaId>() {
                return self.instantiate(*schema, config.clone(), site, args);
            }
            if let Some(rule) = func.body.downcast_ref::<RuleRef>() {
                return self.run_rule(*rule, config.clone(), site, &args);
            }
            return Ok(Value::Undefined);
        }
        self.bit_or(callee, config)
    }

    /// Makes an instance of a schema from a config.
    pub(crate) fn instantiate(
        &mut self,
        id: SchemaId,
        config: Rc<Dict>,
        site: Origin,
        args: Rc<CallArgs>,
    ) -> Eval<Value> {
        if self.partial {
            let layout = self.layout(id)?;
            return self.partial_instance(id, layout, config, site, args);
        }
        let instance = self.make_instance(id, config, site, args)?;
        Ok(self.finish(instance))
    }

    /// Runs all bodies and checks of an instance.
    pub(crate) fn make_instance(
        &mut self,
        id: SchemaId,
        config: Rc<Dict>,
        site: Origin,
        args: Rc<CallArgs>,
    ) -> Eval<Rc<Instance>> {
        self.enter()?;
        let layout = self.layout(id)?;
        self.charge(size_of::<Instance>() + layout.attrs.len() * size_of::<Entry>())?;
        let instance = Rc::new(Instance::new(id, layout, config, site, args));
        let backtrack = self.backtrack.take();
        let loops = std::mem::take(&mut self.loop_depth);
        self.schema_depth += 1;
        // What a statement outside sets is no attribute of that name.
        self.targets.push(self.no_name);
        let caller = self.frame.package;
        let result = self.complete(id, &instance, caller);
        self.targets.pop();
        self.schema_depth -= 1;
        self.loop_depth = loops;
        self.backtrack = backtrack;
        self.leave();
        result.map(|()| instance)
    }

    fn complete(&mut self, id: SchemaId, this: &Rc<Instance>, caller: PackageId) -> Eval<()> {
        self.run_body(id, this, caller)?;
        let decl = self.schema(id).decl;
        match decl.index_signature.as_ref().and_then(|signature| signature.key_name) {
            None => {
                self.relax(id, this, decl.index_signature.as_ref())?;
                self.check_required(this)?;
                self.run_checks(id, this)
            }
            Some(key_name) => {
                let name = self.string(key_name.name);
                for entry in this.config.iter() {
                    if this.layout.declares(&entry.key) {
                        continue;
                    }
                    let value = Value::Str(entry.key.clone());
                    this.set_key(name.clone(), value, Slot::default(), Origin::default());
                    self.relax(id, this, decl.index_signature.as_ref())?;
                    self.run_checks(id, this)?;
                }
                // The reference's order: the last key takes the place of the key's name.
                this.attrs.borrow_mut().swap_remove(&name);
                self.check_required(this)
            }
        }
    }

    /// Runs the body of a schema for an instance, after those of its bases, before mixins.
    fn run_body(&mut self, id: SchemaId, this: &Rc<Instance>, caller: PackageId) -> Eval<()> {
        self.enter()?;
        let links = self.links(id)?;
        let (file, stmt, decl) = {
            let schema = self.schema(id);
            (schema.file, schema.stmt, schema.decl)
        };
        let package = self.schema(id).package;
        if let Some(parent) = links.parent {
            self.run_body(parent, this, package)?;
        }
        let n_slots = self.unit(file, stmt);
        let mut frame = self.file_frame(file);
        frame.this = Some(this.clone());
        self.in_frame(frame, n_slots as usize, |evaluator| {
            evaluator.bind_schema_params(id, this)?;
            for &stmt in &decl.body {
                match &this.layout.ordered {
                    Some(ordered) if ordered.has_stmt(file, stmt) => {
                        let holder = Holder::Instance(this.clone());
                        evaluator.run_in_order(&holder, ordered, stmt)?;
                    }
                    _ if evaluator.is_attr_done(this, stmt) => {}
                    _ => drop(evaluator.run_stmt(stmt)?),
                }
            }
            for &decorator in &decl.decorators {
                evaluator.run_decorator(decorator, decl.name.name, true, this)?;
            }
            Ok(())
        })?;
        for &mixin in &links.mixins {
            self.run_body(mixin, this, package)?;
        }
        if self.notes_instances {
            self.note_instance(id, caller, this);
        }
        self.leave();
        Ok(())
    }

    /// Whether an attribute's only statement ran already because the attribute was read.
    fn is_attr_done(&self, this: &Instance, stmt: StmtId) -> bool {
        let Stmt::SchemaAttr(attr) = &self.frame.module[stmt].kind else { return false };
        let Some(slot) = this.slot(attr.name.name) else { return false };
        this.layout.attrs[slot].setters.len() == 1
            && this.states.borrow()[slot].progress.cache.is_some()
    }

    /// Puts the parameters of a schema into the slots of the current frame.
    fn bind_schema_params(&mut self, id: SchemaId, this: &Instance) -> Eval<()> {
        let Some(params) = &self.schema(id).decl.params else { return Ok(()) };
        let base = self.frame.base;
        let known = this.params.borrow().iter().find(|(schema, _)| *schema == id).cloned();
        if let Some((_, values)) = known {
            self.stack[base..base + values.len()].clone_from_slice(&values);
            return Ok(());
        }
        let n_args = this.args.positional.len().min(params.list.len());
        self.stack[base..base + n_args].clone_from_slice(&this.args.positional[..n_args]);
        // A base takes the arguments of the schema that was called as they are.
        let types = if id == this.schema {
            self.schema(id).param_types.clone()
        } else {
            Rc::new(vec![None; params.list.len()].into_boxed_slice().into())
        };
        self.bind_params(Some(params), n_args, &this.args.named, &types)?;
        let values = self.stack[base..base + params.list.len()].to_vec();
        this.params.borrow_mut().push((id, values));
        Ok(())
    }

    /// Runs one statement of a schema's body because an attribute was read.
    pub(crate) fn run_schema_stmt(
        &mut self,
        this: &Rc<Instance>,
        id: SchemaId,
        stmt: StmtId,
    ) -> Eval<()> {
        let (file, schema_stmt) = (self.schema(id).file, self.schema(id).stmt);
        let n_slots = self.unit(file, schema_stmt);
        let mut frame = self.file_frame(file);
        frame.this = Some(this.clone());
        let loops = std::mem::take(&mut self.loop_depth);
        let result = self.in_frame(frame, n_slots as usize, |evaluator| {
            evaluator.bind_schema_params(id, this)?;
            evaluator.run_stmt(stmt).map(drop)
        });
        self.loop_depth = loops;
        result
    }

    /// Runs `name?: T = value`.
    pub(crate) fn run_schema_attr(&mut self, id: StmtId, attr: &'p SchemaAttr) -> Eval<()> {
        self.targets.push(attr.name.name);
        let result = self.declare_attr(id, attr);
        self.targets.pop();
        result
    }

    fn declare_attr(&mut self, id: StmtId, attr: &'p SchemaAttr) -> Eval<()> {
        let Some(this) = self.frame.this.clone() else { return Ok(()) };
        let Some(slot) = this.slot(attr.name.name) else { return Ok(()) };
        for &decorator in &attr.decorators {
            self.run_decorator(decorator, attr.name.name, false, &this)?;
        }
        let ty = self.runtime_type(attr.ty);
        this.states.borrow_mut()[slot].ty = Some(ty.clone());
        let entry = this.config.entry(&this.layout.attrs[slot].key).cloned();
        let replaces = entry.as_ref().is_some_and(|entry| {
            entry.slot.op() == MergeOp::Override && entry.slot.index().is_none()
        });
        if !replaces {
            let default = match attr.value {
                Some(expr) => {
                    let circles = self.circles;
                    let value = self.eval(expr)?;
                    if entry.is_none() {
                        self.check_circles(circles, attr.name.name, &value)?;
                    }
                    let origin = self.origin_of(expr, &value);
                    Some((value, origin))
                }
                None => self.literal_default(id, attr),
            };
            if let Some((value, origin)) = default {
                if !self.may_set_attr(&this, slot, id) {
                    return Ok(());
                }
                let value = match attr.op {
                    Some(AugOp::With(BinOp::BitOr)) => {
                        let before = this.get(slot);
                        let value = self.stamped(value, origin);
                        self.bit_or(before, value)?
                    }
                    _ => value,
                };
                // What the config adds may be what makes the default fit.
                let value = match &entry {
                    Some(_) => value,
                    None => self.cast(value, &ty, false)?,
                };
                let was = this.origin_of(slot);
                let origin = match attr.op {
                    // What is added knows its own place.
                    Some(AugOp::With(_)) if was.0 != 0 => was,
                    _ => self.outvote(was, origin),
                };
                this.set(slot, value, Slot::new(MergeOp::Override, None), origin);
            }
        } else if self.options.tracks_items()
            && let Some(value) = attr.value
        {
            let origin = self.outvote(this.origin_of(slot), self.origin(value));
            let before = this.get(slot);
            this.set(slot, before, Slot::default(), origin);
        }
        if let Some(entry) = entry {
            self.merge_config(&this, slot, entry)?;
        }
        self.note_attr(&this, slot, id);
        Ok(())
    }

    /// An attribute whose type is a single literal has that literal as default.
    fn literal_default(&mut self, id: StmtId, attr: &SchemaAttr) -> Option<(Value, Origin)> {
        let Type::Literal(literal) = &self.frame.module[attr.ty].kind else { return None };
        if attr.is_optional {
            return None;
        }
        let value = match literal {
            LiteralType::Bool(flag) => Value::Bool(*flag),
            LiteralType::Int(number) => Value::Int(*number),
            LiteralType::Float(number) => Value::Float(*number),
            LiteralType::Str(text) => Value::str(text.clone()),
            LiteralType::Unit { value, unit } => {
                crate::expr::number_value(Number::Unit { value: *value, unit: *unit })
            }
        };
        self.at = self.stmt_origin(self.frame.file, id);
        Some((value, self.at))
    }

    /// Merges the config's entry into an attribute.
    fn merge_config(&mut self, this: &Rc<Instance>, slot: usize, entry: Entry) -> Eval<()> {
        let was = this.origin_of(slot);
        let operator = entry.slot;
        let before = this.take(slot);
        let (value, origin) = self.merge_attr(before, was, entry)?;
        let ty = this.states.borrow()[slot].ty.clone();
        let value = match ty {
            Some(ty) => self.cast(value, &ty, false)?,
            None => value,
        };
        this.set(slot, value, operator, origin);
        Ok(())
    }

    /// Runs `name = value` in a schema body.
    pub(crate) fn assign_attr(
        &mut self,
        this: &Rc<Instance>,
        slot: usize,
        value: Value,
        origin: Origin,
        stmt: StmtId,
    ) -> Eval<()> {
        let ty = this.states.borrow()[slot].ty.clone();
        let value = match ty {
            Some(ty) => self.cast(value, &ty, false)?,
            None => value,
        };
        let origin = self.outvote(this.origin_of(slot), origin);
        this.set(slot, value, Slot::new(MergeOp::Override, None), origin);
        if let Some(entry) = this.config.entry(&this.layout.attrs[slot].key).cloned() {
            self.merge_config(this, slot, entry)?;
        }
        self.note_attr(this, slot, stmt);
        Ok(())
    }

    /// Whether a statement may set an attribute: of ordered ones, if no later one has.
    pub(crate) fn may_set_attr(&mut self, this: &Rc<Instance>, slot: usize, stmt: StmtId) -> bool {
        let attr = &this.layout.attrs[slot];
        !attr.is_ordered || self.may_store(&Holder::Instance(this.clone()), attr.name, stmt)
    }

    fn note_attr(&self, this: &Instance, slot: usize, stmt: StmtId) {
        if this.layout.attrs[slot].is_ordered {
            return;
        }
        let value = this.get(slot);
        let setters = &this.layout.attrs[slot].setters;
        this.states.borrow_mut()[slot].progress.note(setters, self.frame.file, stmt, &value);
    }

    /// Takes in the keys of the config that are no attributes.
    fn relax(
        &mut self,
        id: SchemaId,
        this: &Rc<Instance>,
        signature: Option<&'p IndexSignature>,
    ) -> Eval<()> {
        let is_known = |key: &Str| this.attrs.borrow().has_shared_key(key);
        let Some(signature) = signature else {
            return match this.config.keys().find(|key| !is_known(key)) {
                Some(key) => fail(format!(
                    "No attribute named '{key}' in the schema '{}'",
                    self.schema(id).info.name
                )),
                None => Ok(()),
            };
        };
        let (default, origin) = match signature.value {
            Some(value) => self.in_schema(id, this, |evaluator| {
                Ok((evaluator.eval(value)?, evaluator.origin(value)))
            })?,
            None => (Value::Undefined, Origin(0)),
        };
        let key_name = signature.key_name.map(|name| name.name.as_str());
        let only = key_name.and_then(|name| this.get_key(name));
        let ty =
            self.in_schema(id, this, |evaluator| Ok(evaluator.runtime_type(signature.value_ty)))?;
        for entry in this.config.iter() {
            if is_known(&entry.key) {
                continue;
            }
            if let Some(Value::Str(only)) = &only
                && *only != entry.key
            {
                continue;
            }
            let slot = Slot::new(entry.slot.op(), None);
            let entry = Entry { slot, ..entry.clone() };
            let (value, origin) = self.merge_relaxed(default.clone(), origin, entry.clone())?;
            let value = self.cast(value, &ty, false)?;
            this.set_key(entry.key.clone(), value, entry.slot, origin);
        }
        Ok(())
    }

    /// Runs code in the frame of a schema's body.
    pub(crate) fn in_schema<T>(
        &mut self,
        id: SchemaId,
        this: &Rc<Instance>,
        code: impl FnOnce(&mut Self) -> Eval<T>,
    ) -> Eval<T> {
        let (file, stmt) = (self.schema(id).file, self.schema(id).stmt);
        let n_slots = self.unit(file, stmt);
        let mut frame = self.file_frame(file);
        frame.this = Some(this.clone());
        self.in_frame(frame, n_slots as usize, |evaluator| {
            evaluator.bind_schema_params(id, this)?;
            code(evaluator)
        })
    }

    /// The value of a finished instance.
    pub(crate) fn finish(&self, instance: Rc<Instance>) -> Value {
        match Rc::try_unwrap(instance) {
            Ok(instance) => {
                let attrs = instance.attrs.take();
                self.value_of(&instance, attrs)
            }
            Err(shared) => self.snapshot(&shared),
        }
    }

    /// The value of an instance as it is now.
    pub(crate) fn snapshot(&self, instance: &Instance) -> Value {
        self.value_of(instance, instance.attrs.borrow().clone())
    }

    pub(crate) fn value_of(&self, instance: &Instance, attrs: Dict) -> Value {
        Value::Schema(Rc::new(SchemaValue {
            info: self.schema(instance.schema).info.clone(),
            attrs,
            config_keys: instance.config.keys().cloned().collect(),
            optional: instance.layout.optional.clone(),
            args: instance.args.clone(),
            origin: instance.site,
            whole: Whole::new(instance.is_whole.get()),
        }))
    }

    /// Says that required attributes are missing, for the outermost instance.
    fn check_required(&mut self, this: &Rc<Instance>) -> Eval<()> {
        if self.schema_depth > 1 || self.schema_expr_depth > 1 {
            return Ok(());
        }
        let name = self.schema(this.schema).info.name.clone();
        let attrs = this.attrs.borrow();
        required(&name, &attrs, &this.layout.optional, this.site)
            .and_then(|()| attrs.iter().try_for_each(|entry| required_within(&entry.value)))
            .map_err(|(message, origin)| match origin {
                Origin(0) => Failure::new(message),
                origin => Failure::at(message, self.first_entry(origin)),
            })?;
        this.is_whole.set(true);
        Ok(())
    }
}

fn required(
    schema: &str,
    attrs: &Dict,
    optional: &[(kcl_value::Str, bool)],
    origin: Origin,
) -> Result<(), (String, Origin)> {
    for (at, (name, is_optional)) in optional.iter().enumerate() {
        if *is_optional {
            continue;
        }
        // Declared attributes stand in the same order more often than not.
        let value = match attrs.at(at) {
            Some(entry) if entry.key.ptr_eq(name) => Some(&entry.value),
            _ => attrs.get(name),
        };
        if value.is_none_or(Value::is_none_or_undefined) {
            let message = format!(
                "attribute '{name}' of {schema} is required and can't be None or Undefined"
            );
            return Err((message, origin));
        }
    }
    Ok(())
}

/// Checks the instances inside a value.
fn required_within(value: &Value) -> Result<(), (String, Origin)> {
    match value {
        Value::List(list) => list.items.iter().try_for_each(required_within),
        Value::Dict(dict) => dict.iter().try_for_each(|entry| required_within(&entry.value)),
        Value::Schema(schema) => {
            if schema.whole.get() {
                return Ok(());
            }
            required(&schema.info.name, &schema.attrs, &schema.optional, schema.origin)?;
            schema.attrs.iter().try_for_each(|entry| required_within(&entry.value))?;
            schema.whole.set();
            Ok(())
        }
        _ => Ok(()),
    }
}
