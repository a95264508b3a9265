//! Calls: lambdas, built-ins, string methods, schemas as functions.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::expr::load_attr;
use crate::instance::Instance;
use crate::layout::SchemaId;
use crate::names::{LambdaInfo, NameRef};
use crate::plugin::function_value;
use crate::rule::RuleRef;
use crate::runtime_type::RuntimeType;
use crate::typing::is_plainly;
use base_text::{FileId, Name};
use kcl_hir::PackageId;
use kcl_syntax::ast::{Call, Expr, ExprId, Keyword, Lambda, Params};
use kcl_value::{CallArgs, Dict, Func, Origin, Str, Value};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The types of parameters, made when they are needed first.
pub(crate) type ParamTypes = OnceCell<Box<[Option<Rc<RuntimeType>>]>>;

/// The type of a lambda's result, made when it is needed first.
pub(crate) type ReturnType = OnceCell<Rc<RuntimeType>>;

/// A lambda with what it captured.
pub(crate) struct Closure {
    pub(crate) file: FileId,
    pub(crate) lambda: ExprId,
    pub(crate) info: Rc<LambdaInfo>,
    captured: Vec<Value>,
    this: Option<Rc<Instance>>,
    /// The slot under which the lambda knows itself, for recursion of local lambdas.
    own_slot: Cell<Option<u32>>,
}

/// A string method bound to its string.
struct BoundMethod {
    text: Str,
    method: &'static kcl_std::Method,
}

/// `Schema.instances`
struct Instances(SchemaId);

/// What is to be called.
enum Callee {
    Value(Value),
    Builtin(&'static kcl_std::Function),
    Method(Str, &'static kcl_std::Method),
}

pub(crate) fn builtin_value(function: &'static kcl_std::Function) -> Value {
    Value::Func(Rc::new(Func {
        name: function.name.into(),
        is_type: false,
        body: Box::new(function),
    }))
}

pub(crate) fn method_value(text: Str, method: &'static kcl_std::Method) -> Value {
    let body = BoundMethod { text, method };
    Value::Func(Rc::new(Func { name: method.name.into(), is_type: false, body: Box::new(body) }))
}

/// `instances` of a schema; of any other function nothing.
pub(crate) fn instances_value(func: &Func) -> Value {
    match func.body.downcast_ref::<SchemaId>() {
        Some(id) => {
            let body = Box::new(Instances(*id));
            Value::Func(Rc::new(Func { name: "instances".into(), is_type: false, body }))
        }
        None => Value::Undefined,
    }
}

impl<'p> Evaluator<'p> {
    #[inline(never)]
    pub(crate) fn eval_call(&mut self, call: &'p Call) -> Eval<Value> {
        self.nested(|it| {
            if call.kwargs.is_empty()
                && let NameRef::Global(at) = it.name_ref(call.func)
                && let Some(func) = it.known_global(call.func, at)
                && let Some(closure) = func.body.downcast_ref::<Closure>()
            {
                return it.call_closure_with(&func, closure, &call.args);
            }
            it.call_any(call)
        })
    }

    /// Evaluates what is called and its arguments, and calls it.
    fn call_any(&mut self, call: &'p Call) -> Eval<Value> {
        let Call { func, args, kwargs } = call;
        let callee = self.eval_callee(*func)?;
        if let Callee::Value(Value::Func(func)) = &callee
            && kwargs.is_empty()
            && let Some(closure) = func.body.downcast_ref::<Closure>()
        {
            return self.call_closure_with(func, closure, args);
        }
        let args = self.eval_args(args, kwargs)?;
        let result = match callee {
            Callee::Value(value) => return self.call(&value, *args),
            Callee::Builtin(function) => {
                self.call_at = self.origin(*func);
                self.call_builtin(function, &args)
            }
            Callee::Method(text, method) => {
                if self.weighs_work {
                    let text = Value::Str(text.clone());
                    self.weigh(args.positional.iter().chain([&text]))?;
                }
                (method.run)(&text, &args, self.room()).map_err(Failure::from).and_then(|value| {
                    self.charge_value(&value)?;
                    Ok(value)
                })
            }
        };
        self.spare_args(args);
        result
    }

    /// The function that a global of the file's package holds, if it is final.
    fn known_global(&mut self, func: ExprId, at: u32) -> Option<Rc<Func>> {
        let Expr::Ident(path) = &self.frame.module[func].kind else { return None };
        let target = self.targets.last().copied();
        let state = self.global(self.frame.package, at);
        if path.names.len() != 1 || target == Some(state.name) || state.setters.is_empty() {
            return None;
        }
        match &state.progress.cache {
            Some(Value::Func(found)) => {
                let found = found.clone();
                self.at = self.origin(func);
                Some(found)
            }
            _ => None,
        }
    }

    /// Counts what a built-in made.
    fn charge_value(&mut self, value: &Value) -> Eval<()> {
        match value {
            Value::Str(text) => self.charge(text.len()),
            Value::List(list) => self.charge(list.items.len() * size_of::<Value>()),
            _ => Ok(()),
        }
    }

    pub(crate) fn eval_args(
        &mut self,
        args: &'p [ExprId],
        kwargs: &'p [Keyword],
    ) -> Eval<Box<CallArgs>> {
        let mut made = self.spare_args.take().unwrap_or_default();
        for &arg in args {
            made.positional.push(self.eval(arg)?);
        }
        for keyword in kwargs {
            let value = match keyword.value {
                Some(value) => self.eval(value)?,
                None => Value::None,
            };
            if let Some(name) = keyword.arg.names.first() {
                let name = self.string(name.name);
                made.named.push((name, value));
            }
        }
        Ok(made)
    }

    /// Gives the memory of arguments back for the next call.
    fn spare_args(&mut self, mut args: Box<CallArgs>) {
        args.positional.clear();
        args.named.clear();
        self.spare_args = Some(args);
    }

    /// The string method of a name.
    fn string_method(&mut self, name: Name) -> Option<&'static kcl_std::Method> {
        if let Some(known) = self.methods.get(&name) {
            return *known;
        }
        let method = kcl_std::string_method(name.as_str());
        self.methods.insert(name, method);
        method
    }

    /// A method of a string, or the attribute of anything else.
    fn method_or_attr(&mut self, value: &Value, name: Name) -> Eval<Callee> {
        if let Value::Str(text) = value
            && let Some(method) = self.string_method(name)
        {
            return Ok(Callee::Method(text.clone(), method));
        }
        load_attr(value, name).map(Callee::Value)
    }

    /// Evaluates what is called, without making a function value where none is needed.
    fn eval_callee(&mut self, func: ExprId) -> Eval<Callee> {
        let module = self.frame.module;
        match &module[func].kind {
            Expr::Ident(path) if path.names.len() == 1 => {
                if let NameRef::Builtin(function) = self.name_ref(func) {
                    self.at = self.origin(func);
                    return Ok(Callee::Builtin(function));
                }
            }
            Expr::Ident(path) => {
                let (first, last) = (path.names[0].name, path.names[path.names.len() - 1].name);
                self.at = self.origin(func);
                if let (NameRef::System(module), [_, second]) =
                    (self.name_ref(func), path.names.as_slice())
                    && let Some(function) = module.function(second.name.as_str())
                {
                    return Ok(Callee::Builtin(function));
                }
                if let NameRef::Plugin(plugin) = self.name_ref(func)
                    && path.names.len() == 2
                {
                    let function = function_value(plugin, last, self.origin(func));
                    return Ok(Callee::Value(function));
                }
                if self.string_method(last).is_some() {
                    let rest = &path.names[1..path.names.len() - 1];
                    let value = self.load_path(self.name_ref(func), first, rest)?;
                    return self.method_or_attr(&value, last);
                }
            }
            Expr::Selector { value, attr, has_question: false } if attr.names.len() == 1 => {
                self.at = self.origin(func);
                let value = self.eval(*value)?;
                return self.method_or_attr(&value, attr.names[0].name);
            }
            _ => {}
        }
        self.eval(func).map(Callee::Value)
    }

    /// Calls a value.
    pub(crate) fn call(&mut self, callee: &Value, args: CallArgs) -> Eval<Value> {
        let Value::Func(func) = callee else { return Ok(Value::Undefined) };
        if let Some(closure) = func.body.downcast_ref::<Closure>() {
            return self.call_closure(func, closure, &args);
        }
        if let Some(function) = func.body.downcast_ref::<&'static kcl_std::Function>() {
            return self.call_builtin(function, &args);
        }
        if let Some(bound) = func.body.downcast_ref::<BoundMethod>() {
            if self.weighs_work {
                let text = Value::Str(bound.text.clone());
                self.weigh(args.positional.iter().chain([&text]))?;
            }
            let value = (bound.method.run)(&bound.text, &args, self.room())?;
            self.charge_value(&value)?;
            return Ok(value);
        }
        if let Some(id) = func.body.downcast_ref::<SchemaId>() {
            let config = Rc::new(Dict::new());
            return self.instantiate(*id, config, Origin::default(), Rc::new(args));
        }
        if let Some(rule) = func.body.downcast_ref::<RuleRef>() {
            let config = Rc::new(Dict::new());
            return self.run_rule(*rule, config, Origin::default(), &Rc::new(args));
        }
        if let Some(Instances(id)) = func.body.downcast_ref::<Instances>() {
            return Ok(self.instances_of(*id, &args));
        }
        self.call_if_plugin(func, &args).unwrap_or(Ok(Value::Undefined))
    }

    fn call_builtin(
        &mut self,
        function: &'static kcl_std::Function,
        args: &CallArgs,
    ) -> Eval<Value> {
        if self.weighs_work {
            self.weigh(args.positional.iter().chain(args.named.iter().map(|it| &it.1)))?;
        }
        self.pending = None;
        let result = (function.run)(self, args);
        match result {
            Ok(value) => {
                self.charge_value(&value)?;
                Ok(value)
            }
            Err(fault) => match self.pending.take() {
                Some(failure) if failure.details().message == fault.message => Err(failure),
                _ => Err(fault.into()),
            },
        }
    }

    /// Makes a closure of a lambda expression.
    pub(crate) fn make_closure(&mut self, id: ExprId) -> Value {
        let names = &self.files[self.frame.file.0 as usize].names;
        let info = names.lambdas.get(&id).cloned().unwrap_or_default();
        let base = self.frame.base;
        let captured =
            info.captures.iter().map(|(outer, _)| self.stack[base + *outer as usize].clone());
        let closure = Closure {
            file: self.frame.file,
            lambda: id,
            captured: captured.collect(),
            info,
            this: self.frame.this.clone(),
            own_slot: Cell::new(None),
        };
        Value::Func(Rc::new(Func {
            name: "lambda".into(),
            is_type: false,
            body: Box::new(closure),
        }))
    }

    /// Lets a lambda that was just stored in a local slot see itself under that name.
    pub(crate) fn tie_closure(&self, value: &Value, slot: u32) {
        if let Value::Func(func) = value
            && let Some(closure) = func.body.downcast_ref::<Closure>()
            && closure.file == self.frame.file
        {
            let captures = closure.info.captures.iter().zip(&closure.captured);
            for ((outer, inner), value) in captures {
                if *outer == slot && matches!(value, Value::Undefined) {
                    closure.own_slot.set(Some(*inner));
                }
            }
        }
    }

    fn lambda_of(&self, closure: &Closure) -> Option<&'p Lambda> {
        match &self.program.file(closure.file).module[closure.lambda].kind {
            Expr::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    /// Calls a closure whose arguments are still to be evaluated: they go right onto the stack.
    fn call_closure_with(
        &mut self,
        func: &Rc<Func>,
        closure: &Closure,
        args: &'p [ExprId],
    ) -> Eval<Value> {
        if args.len() > closure.info.n_params as usize || self.notes_calls {
            return self.call_with_care(func, closure, args);
        }
        let base = self.stack.len();
        for &arg in args {
            let value = self.eval(arg)?;
            self.stack.push(value);
        }
        self.run_closure(func, closure, base, args.len(), &[])
    }

    /// The same for too many arguments, or with a note of what gave each.
    #[cold]
    fn call_with_care(
        &mut self,
        func: &Rc<Func>,
        closure: &Closure,
        args: &'p [ExprId],
    ) -> Eval<Value> {
        if args.len() > closure.info.n_params as usize {
            let args = self.eval_args(args, &[])?;
            return self.call_closure(func, closure, &args);
        }
        let base = self.stack.len();
        for &arg in args {
            let value = self.eval(arg)?;
            if self.options.follows_reads() {
                self.note_argument(arg, &value);
            }
            self.stack.push(value);
        }
        self.note_lambda(closure.file, closure.lambda);
        let result = self.run_closure(func, closure, base, args.len(), &[]);
        while self.given_arguments.last().is_some_and(|last| last.is_from(base)) {
            self.given_arguments.pop();
        }
        result
    }

    fn call_closure(&mut self, func: &Rc<Func>, closure: &Closure, args: &CallArgs) -> Eval<Value> {
        self.note_lambda(closure.file, closure.lambda);
        let base = self.stack.len();
        let n_args = args.positional.len().min(closure.info.n_params as usize);
        self.stack.extend_from_slice(&args.positional[..n_args]);
        self.run_closure(func, closure, base, n_args, &args.named)
    }

    /// Runs a closure whose first `n_args` arguments are on the stack from `base` on.
    fn run_closure(
        &mut self,
        func: &Rc<Func>,
        closure: &Closure,
        base: usize,
        n_args: usize,
        named: &[(Str, Value)],
    ) -> Eval<Value> {
        self.nested(|it| {
            let info = &*closure.info;
            for _ in n_args..info.n_slots as usize {
                it.stack.push(Value::Undefined);
            }
            for ((_, inner), value) in info.captures.iter().zip(&closure.captured) {
                it.stack[base + *inner as usize] = value.clone();
            }
            if let Some(slot) = closure.own_slot.get() {
                it.stack[base + slot as usize] = Value::Func(func.clone());
            }
            let other_frame = (closure.file != it.frame.file).then(|| {
                let frame = it.file_frame(closure.file);
                std::mem::replace(&mut it.frame, frame)
            });
            let result = it.run_in_file(closure, base, n_args, named);
            if let Some(frame) = other_frame {
                it.frame = frame;
            }
            it.stack.truncate(base);
            result
        })
    }

    /// Runs a closure of the current file, with its variables from `base` on.
    #[inline]
    fn run_in_file(
        &mut self,
        closure: &Closure,
        base: usize,
        n_args: usize,
        named: &[(Str, Value)],
    ) -> Eval<Value> {
        let base_before = std::mem::replace(&mut self.frame.base, base);
        let was_in_lambda = std::mem::replace(&mut self.frame.in_lambda, true);
        let loops = std::mem::take(&mut self.loop_depth);
        let backtrack = self.backtrack.take();
        let in_schema = u32::from(closure.this.is_some());
        let other_this = (in_schema != 0 || self.frame.this.is_some())
            .then(|| std::mem::replace(&mut self.frame.this, closure.this.clone()));
        self.schema_depth += in_schema;
        let result = self.run_lambda(closure, n_args, named);
        self.schema_depth -= in_schema;
        if let Some(this) = other_this {
            self.frame.this = this;
        }
        self.backtrack = backtrack;
        self.loop_depth = loops;
        self.frame.base = base_before;
        self.frame.in_lambda = was_in_lambda;
        result
    }

    /// Runs a lambda in its frame.
    #[inline]
    fn run_lambda(
        &mut self,
        closure: &Closure,
        n_args: usize,
        named: &[(Str, Value)],
    ) -> Eval<Value> {
        let info = &*closure.info;
        let is_bound = n_args == info.n_params as usize && named.is_empty() && !info.has_defaults;
        if !(is_bound && self.args_fit(info)) {
            let Some(lambda) = self.lambda_of(closure) else { return Ok(Value::Undefined) };
            self.bind_params(lambda.params.as_ref(), n_args, named, &info.param_types)?;
        }
        let result = match info.only_expr {
            Some(expr) => self.eval(expr),
            None => {
                let Some(lambda) = self.lambda_of(closure) else { return Ok(Value::Undefined) };
                self.run_stmts(&lambda.body)
            }
        };
        let Some(annotation) = info.return_ty else { return result };
        let value = result?;
        let ty = info.return_type.get_or_init(|| self.runtime_type(annotation));
        if is_plainly(&value, &ty.kind) { Ok(value) } else { self.cast(value, ty, false) }
    }

    /// Whether the arguments in the frame of a lambda fit its parameters as they are.
    fn args_fit(&self, info: &LambdaInfo) -> bool {
        let args = &self.stack[self.frame.base..];
        info.param_types.get().is_some_and(|types| {
            let mut pairs = types.iter().zip(args);
            pairs.all(|(ty, arg)| ty.as_ref().is_none_or(|ty| is_plainly(arg, &ty.kind)))
        })
    }

    /// Fills the parameter slots of the current frame: the first `n_args` hold positional
    /// arguments already.
    pub(crate) fn bind_params(
        &mut self,
        params: Option<&'p Params>,
        n_args: usize,
        named: &[(Str, Value)],
        types: &ParamTypes,
    ) -> Eval<()> {
        let Some(params) = params else { return Ok(()) };
        let base = self.frame.base;
        let types = types.get_or_init(|| {
            let types = params.list.iter().map(|param| param.ty.map(|ty| self.runtime_type(ty)));
            types.collect()
        });
        for (at, param) in params.list.iter().enumerate() {
            // Whatever fails next is reported there, as if the default were always evaluated.
            if let Some(default) = param.default {
                self.at = self.origin(default);
            }
            if at < n_args
                && named.is_empty()
                && types[at].as_ref().is_none_or(|ty| is_plainly(&self.stack[base + at], &ty.kind))
            {
                continue;
            }
            let given = named.iter().find(|(name, _)| name.as_str() == param.name.name.as_str());
            let mut value = match (given, param.default) {
                (Some((_, value)), _) => value.clone(),
                _ if at < n_args => std::mem::take(&mut self.stack[base + at]),
                (None, Some(default)) => self.eval(default)?,
                (None, None) => Value::None,
            };
            if let Some(ty) = &types[at] {
                value = self.cast(value, ty, false)?;
            }
            self.stack[base + at] = value;
        }
        Ok(())
    }

    /// The instances of a schema that were made so far.
    fn instances_of(&mut self, id: SchemaId, args: &CallArgs) -> Value {
        let full = args.positional.first().or_else(|| {
            args.named.iter().find(|(name, _)| name.as_str() == "full_pkg").map(|(_, value)| value)
        });
        let full = full.is_some_and(Value::is_truthy);
        let instances = self.instances.get(&id).cloned().unwrap_or_default();
        let wanted = instances.iter().filter(|(package, _)| full || *package == PackageId(0));
        Value::list(wanted.map(|(_, instance)| self.snapshot(instance)).collect())
    }

    /// The declared type of a lambda's parameter.
    pub(crate) fn lambda_param_type(&self, func: &Value, index: usize) -> Option<String> {
        let Value::Func(func) = func else { return None };
        let closure = func.body.downcast_ref::<Closure>()?;
        let param = self.lambda_of(closure)?.params.as_ref()?.list.get(index)?;
        let source = self.program.file(closure.file);
        Some(source.module[param.ty?].span.slice(&source.text).to_owned())
    }
}
