//! The walk over statements and expressions that resolves their names.

use super::scope::{Binding, BindingKind, Function, Resolver};
use super::{DefinitionKind, Meaning, Place};
use base_text::Name;
use kcl_syntax::ast::{
    Check, CompClause, ConfigEntry, Expr, ExprId, Ident, Keyword, Lambda, MemberOrIndex, Module,
    Number, Params, Stmt, StmtId, StringPart, UnaryOp,
};

impl Resolver<'_, '_> {
    fn stmts(&mut self, stmts: &[StmtId]) {
        for &stmt in stmts {
            self.stmt(stmt);
        }
    }

    pub(super) fn stmt(&mut self, id: StmtId) {
        let module = self.module;
        match &module[id].kind {
            Stmt::Expr(exprs) => self.exprs(exprs),
            Stmt::Unification(unification) => {
                self.expr(unification.value);
                if let Some(target) = unification.target.names.first()
                    && let Some(slot) = self.bind_target(id, 0, *target)
                {
                    self.sink.target_start(id, 0, Meaning::Local(slot));
                }
            }
            Stmt::Assign(assign) => {
                let is_lambda = matches!(module[assign.value].kind, Expr::Lambda(_));
                if is_lambda {
                    self.assign_targets(id, &assign.targets);
                }
                self.expr(assign.value);
                if !is_lambda {
                    self.assign_targets(id, &assign.targets);
                }
            }
            Stmt::AugAssign(assign) => {
                self.expr(assign.value);
                let name_ref = self.lookup(assign.target.name.name);
                self.sink.target_start(id, 0, name_ref);
                self.assign_targets(id, std::slice::from_ref(&assign.target));
            }
            Stmt::Assert(assert) => {
                self.expr(assert.test);
                self.optional(assert.if_cond);
                self.optional(assert.msg);
            }
            Stmt::If(if_stmt) => {
                self.expr(if_stmt.cond);
                self.function().conditions += 1;
                self.stmts(&if_stmt.body);
                self.stmts(&if_stmt.orelse);
                self.function().conditions -= 1;
            }
            Stmt::SchemaAttr(attr) => {
                self.exprs(&attr.decorators);
                self.optional(attr.value);
            }
            Stmt::TypeAlias(_) | Stmt::Import(_) | Stmt::Schema(_) | Stmt::Rule(_) => {}
        }
    }

    fn assign_targets(&mut self, stmt: StmtId, targets: &[kcl_syntax::ast::Target]) {
        for (at, target) in targets.iter().enumerate() {
            for path in &target.paths {
                if let MemberOrIndex::Index(index) = path {
                    self.expr(*index);
                }
            }
            if target.paths.is_empty() {
                self.bind_target(stmt, at as u32, target.name);
            } else {
                let name_ref = self.lookup(target.name.name);
                self.sink.target_start(stmt, at as u32, name_ref);
            }
        }
    }

    /// Binds a target of an assignment in a lambda: to the slot that it has, or a new one.
    fn bind_target(&mut self, stmt: StmtId, at: u32, target: Ident) -> Option<u32> {
        if !self.function().is_lambda() {
            return None;
        }
        let known = self.function().outermost(target.name);
        let known =
            known.filter(|binding| matches!(binding.kind, BindingKind::Local | BindingKind::Param));
        let slot = match known.and_then(|binding| binding.slot) {
            Some(slot) => Some(slot),
            None => self.bind(target, BindingKind::Local, None),
        };
        self.sink.target(stmt, at, slot?);
        slot
    }

    /// Resolves a schema or rule: parameters, body, checks, decorators, index signature.
    pub(super) fn schema(&mut self, stmt: StmtId) {
        self.functions[0].place = Place::Schema;
        match &self.module[stmt].kind {
            Stmt::Schema(schema) => {
                self.params(schema.params.as_ref());
                self.exprs(&schema.decorators);
                self.stmts(&schema.body);
                self.checks(&schema.checks);
                if let Some(signature) = &schema.index_signature {
                    self.optional(signature.value);
                }
            }
            Stmt::Rule(rule) => {
                self.params(rule.params.as_ref());
                self.exprs(&rule.decorators);
                self.checks(&rule.checks);
            }
            _ => {}
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            self.expr(check.test);
            self.optional(check.if_cond);
            self.optional(check.msg);
        }
    }

    fn params(&mut self, params: Option<&Params>) {
        for param in params.iter().flat_map(|params| &params.list) {
            self.bind(param.name, BindingKind::Param, None);
        }
        for param in params.iter().flat_map(|params| &params.list) {
            self.optional(param.default);
        }
    }

    fn optional(&mut self, expr: Option<ExprId>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn exprs(&mut self, exprs: &[ExprId]) {
        for &expr in exprs {
            self.expr(expr);
        }
    }

    fn keywords(&mut self, kwargs: &[Keyword]) {
        for keyword in kwargs {
            self.optional(keyword.value);
        }
    }

    pub(super) fn expr(&mut self, id: ExprId) {
        let module = self.module;
        match &module[id].kind {
            Expr::Ident(path) => {
                if let Some(first) = path.names.first() {
                    let name_ref = self.lookup_first(first.name, path.names.len() > 1);
                    self.set(id, name_ref);
                }
            }
            Expr::Unary { operand: inner, .. }
            | Expr::Selector { value: inner, .. }
            | Expr::Paren(inner)
            | Expr::Starred(inner) => self.expr(*inner),
            Expr::Binary { op, left, right } => {
                self.expr(*left);
                self.expr(*right);
                self.sink.binary(id, *op, *left, *right);
            }
            Expr::Compare { left, rest } => {
                self.expr(*left);
                for (_, right) in rest {
                    self.expr(*right);
                }
                self.sink.compare(id, *left, rest);
            }
            Expr::If { body, cond, orelse } => {
                self.expr(*cond);
                self.expr(*body);
                self.expr(*orelse);
            }
            Expr::Call(call) => {
                self.expr(call.func);
                self.exprs(&call.args);
                self.keywords(&call.kwargs);
            }
            Expr::Quant(quant) => {
                self.expr(quant.target);
                self.enter();
                self.loop_vars(id, quant.vars.iter().copied());
                self.optional(quant.if_cond);
                self.expr(quant.test);
                self.leave();
            }
            Expr::List(items) => self.exprs(items),
            Expr::ListIf { cond, items, orelse } => {
                self.expr(*cond);
                self.exprs(items);
                self.optional(*orelse);
            }
            Expr::ListComp { elt, generators } => {
                self.enter();
                self.generators(id, generators);
                self.expr(*elt);
                self.leave();
            }
            Expr::DictComp { entry, generators } => {
                self.enter();
                self.generators(id, generators);
                self.optional(entry.key);
                self.expr(entry.value);
                self.leave();
            }
            Expr::ConfigIf { cond, items, orelse } => self.config_if(id, *cond, items, *orelse),
            Expr::Schema(schema) => {
                self.expr(schema.config);
                if let Some(first) = schema.name.names.first() {
                    let name_ref = self.lookup_first(first.name, schema.name.names.len() > 1);
                    self.set(id, name_ref);
                }
                self.exprs(&schema.args);
                self.keywords(&schema.kwargs);
            }
            Expr::Config(items) => self.config(id, items),
            Expr::Lambda(lambda) => self.lambda(id, lambda),
            Expr::Subscript(subscript) => {
                self.expr(subscript.value);
                self.optional(subscript.index);
                self.optional(subscript.lower);
                self.optional(subscript.upper);
                self.optional(subscript.step);
            }
            Expr::Joined(joined) => {
                for part in &joined.parts {
                    if let StringPart::Formatted { value, .. } = part {
                        self.expr(*value);
                    }
                }
            }
            Expr::Number(_)
            | Expr::String(_)
            | Expr::Constant(_)
            | Expr::Type(_)
            | Expr::Missing => {}
        }
    }

    fn lambda(&mut self, id: ExprId, lambda: &Lambda) {
        let place = match self.function().place {
            Place::TopLevel | Place::Lambda => Place::Lambda,
            Place::Schema | Place::LambdaInSchema => Place::LambdaInSchema,
        };
        self.functions.push(Function::new(place));
        self.sink.enter_lambda();
        self.params(lambda.params.as_ref());
        self.stmts(&lambda.body);
        let function = self.functions.pop().expect("pushed above");
        self.sink.lambda(id, lambda, function.n_slots, function.captures);
    }

    /// Binds loop variables to slots that follow each other.
    fn loop_vars(&mut self, id: ExprId, vars: impl Iterator<Item = Ident>) {
        let first = self.function().n_slots;
        for var in vars {
            self.bind_loop(var);
        }
        self.set(id, Meaning::Local(first));
    }

    fn bind_loop(&mut self, name: Ident) {
        let conditions = std::mem::take(&mut self.function().conditions);
        self.bind(name, BindingKind::Loop, None);
        self.function().conditions = conditions;
    }

    fn generators(&mut self, id: ExprId, generators: &[CompClause]) {
        // The variables of all generators come first, in one row.
        let first = self.function().n_slots;
        self.set(id, Meaning::Local(first));
        let n_vars: usize = generators.iter().map(|generator| generator.targets.len()).sum();
        self.function().n_slots += n_vars as u32;
        let mut next = first;
        for generator in generators {
            self.expr(generator.iter);
            for target in &generator.targets {
                let binding = Binding::new(target.name, BindingKind::Loop, Some(next));
                let (depth, kind) = (self.functions.len() - 1, DefinitionKind::LoopVariable);
                self.sink.bound(depth, next, target.name, kind, target.span);
                next += 1;
                self.function().push(binding);
            }
            self.exprs(&generator.ifs);
        }
    }

    fn config(&mut self, id: ExprId, items: &[ConfigEntry]) {
        self.enter();
        if self.merged.is_some() {
            self.merged_entries(id, items);
        } else {
            self.entries(id, items);
        }
        self.leave();
    }

    pub(super) fn entries(&mut self, config: ExprId, items: &[ConfigEntry]) {
        for item in items {
            self.entry(config, item);
        }
    }

    #[inline]
    pub(super) fn entry(&mut self, config: ExprId, item: &ConfigEntry) {
        if let Expr::ConfigIf { cond, items, orelse } = &self.module[item.value].kind
            && item.key.is_none()
        {
            self.config_if(config, *cond, items, *orelse);
            return;
        }
        self.expr(item.value);
        if let Some(key) = item.key {
            self.key(config, key);
        }
    }

    fn config_if(
        &mut self,
        config: ExprId,
        cond: ExprId,
        items: &[ConfigEntry],
        orelse: Option<ExprId>,
    ) {
        self.expr(cond);
        self.function().conditions += 1;
        self.entries(config, items);
        if let Some(orelse) = orelse {
            match &self.module[orelse].kind {
                Expr::Config(items) => self.entries(config, items),
                Expr::ConfigIf { cond, items, orelse } => {
                    self.config_if(config, *cond, items, *orelse);
                }
                _ => self.expr(orelse),
            }
        }
        self.function().conditions -= 1;
    }

    /// Resolves a config key: a loop variable stands for its value, other names for
    /// themselves.
    fn key(&mut self, config: ExprId, key: ExprId) {
        let module = self.module;
        let name = key_name(module, key);
        let Some(name) = name else {
            self.expr(key);
            return;
        };
        let depth = self.functions.len() - 1;
        match self.local(depth, name, true, Meaning::Missing) {
            Some(Meaning::Local(slot)) if !matches!(module[key].kind, Expr::String(_)) => {
                self.set(key, Meaning::LocalOr(slot, u32::MAX));
            }
            _ => {
                let span = module[key].span;
                self.bind(Ident { name, span }, BindingKind::Key(key), Some(config));
            }
        }
    }
}

/// The name that a config key brings into scope.
#[inline]
pub(crate) fn key_name(module: &Module, key: ExprId) -> Option<Name> {
    match &module[key].kind {
        Expr::Ident(path) => path.names.first().map(|first| first.name),
        Expr::String(text) => Some(Name::new(&text.value)),
        Expr::Subscript(subscript)
            if subscript.index.is_some_and(|index| literal_index(module, index).is_some()) =>
        {
            match &module[subscript.value].kind {
                Expr::Ident(path) => path.names.first().map(|first| first.name),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A literal list index, possibly negative.
pub fn literal_index(module: &Module, index: ExprId) -> Option<i32> {
    match &module[index].kind {
        Expr::Number(Number::Int(number)) => i32::try_from(*number).ok(),
        Expr::Unary { op: UnaryOp::Minus, operand } => match &module[*operand].kind {
            Expr::Number(Number::Int(number)) => i32::try_from(-*number).ok(),
            _ => None,
        },
        _ => None,
    }
}
