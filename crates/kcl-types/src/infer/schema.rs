//! Schema statements and schema expressions.

use super::call::Callee;
use crate::checker::{Checker, Expected, SchemaBody};
use crate::diagnostics;
use crate::ty::{IndexSignature, SchemaRef, Type};
use base_text::{Name, Span};
use kcl_hir::names::names_set;
use kcl_syntax::ast::{
    self, AugOp, BinOp, Check, Expr, ExprId, Params, Rule, Schema, SchemaAttr, SchemaExpr, Stmt,
    StmtId,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl<'p> Checker<'p> {
    /// Walks a schema statement.
    pub(super) fn schema_stmt(&mut self, schema: &'p Schema) -> Type {
        let Some(ty) = self.enter_schema(schema.name.name, schema.name.span, "schema") else {
            return Type::Any;
        };
        let place = self.place;
        for param in schema.params.iter().flat_map(|params| &params.list) {
            self.optional_annotation(param.ty, param.name.span);
        }
        self.check_defaults(schema.params.as_ref());
        if self.table.is_none() && self.is_declared_only(schema) {
            self.schema = None;
            return Type::Schema(ty);
        }
        self.blocks.enter(schema.body.len());
        self.define_params(ty, schema.params.as_ref(), place);
        let signature = self.schema_type(ty.id).index_signature.clone();
        if let (Some(signature), Some(node)) = (signature, &schema.index_signature) {
            self.index_signature(&signature, node);
        }
        for name in names_set(self.module, &schema.body) {
            if self.own(name).is_none() {
                self.define(name, Type::Any, self.at(schema.name.span));
                if self.attribute(ty.id, name).is_none() {
                    self.set_assigned(name, Type::Any);
                }
            }
        }
        for &stmt in &schema.body {
            self.stmt(stmt);
        }
        self.checks(&schema.checks);
        self.blocks.leave();
        self.schema = None;
        Type::Schema(ty)
    }

    /// Whether a schema has nothing but attributes without defaults: all there is to say about
    /// those is said when its type is built.
    fn is_declared_only(&self, schema: &Schema) -> bool {
        let is_declared = |stmt: &StmtId| matches!(&self.module[*stmt].kind, Stmt::SchemaAttr(attr) if attr.value.is_none());
        schema.checks.is_empty()
            && schema.index_signature.as_ref().is_none_or(|signature| signature.value.is_none())
            && schema.body.iter().all(is_declared)
    }

    /// Walks a rule statement.
    pub(super) fn rule_stmt(&mut self, rule: &'p Rule, span: Span) -> Type {
        let Some(ty) = self.enter_schema(rule.name.name, rule.name.span, "rule") else {
            return Type::Any;
        };
        self.check_defaults(rule.params.as_ref());
        self.blocks.enter(0);
        self.define_params(ty, rule.params.as_ref(), span);
        self.checks(&rule.checks);
        self.blocks.leave();
        self.schema = None;
        Type::Schema(ty)
    }

    fn enter_schema(&mut self, name: Name, name_span: Span, what: &str) -> Option<SchemaRef> {
        let at = self.at(name_span);
        if self.blocks.is_empty() && self.noted_global(name).is_none() {
            self.note_global(name, name_span);
        } else {
            let first = self.noted_global(name);
            self.report(diagnostics::not_unique(at, name.as_str(), first));
        }
        let meaning = self.program.global_meaning(self.file, name);
        let ty = self.global(meaning, name);
        match ty.unwrap_or(Type::Any) {
            Type::Schema(schema) => {
                let assigned = FxHashMap::default();
                self.schema = Some(SchemaBody { id: schema.id, assigned });
                Some(schema)
            }
            ty => {
                let message = format!("expected {what} type, got {ty}");
                self.report(diagnostics::type_error(at, message));
                None
            }
        }
    }

    fn define_params(&mut self, schema: SchemaRef, params: Option<&Params>, span: Span) {
        let at = self.at(span);
        let func = Arc::clone(&self.schema_type(schema.id).func);
        let names = params.into_iter().flat_map(|params| &params.list).map(|param| param.name);
        for (param, ident) in func.params.iter().zip(names) {
            self.define_local(ident, param.ty.clone(), at);
        }
    }

    fn index_signature(&mut self, signature: &IndexSignature, node: &'p ast::IndexSignature) {
        let at = self.at(node.span);
        if let Some(name) = signature.key_name {
            self.define(name, signature.key.clone(), at);
            self.set_assigned(name, signature.key.clone());
        }
        let Some(value) = node.value else { return };
        let ty = if let Type::Schema(_) = &signature.value {
            self.expr_for(value, &signature.value)
        } else {
            self.expr(value)
        };
        self.expect(&ty, &signature.value, at, None);
    }

    /// Reports parameters with defaults that stand before ones without.
    pub(super) fn check_defaults(&mut self, params: Option<&Params>) {
        let Some(params) = params else { return };
        let mut has_required = false;
        for param in params.list.iter().rev() {
            match param.default {
                Some(default) if has_required => {
                    let at = self.at(self.module[default].span);
                    self.report(diagnostics::default_before_required(at));
                }
                Some(_) => {}
                None => has_required = true,
            }
        }
    }

    fn checks(&mut self, checks: &'p [Check]) {
        for check in checks {
            if let Some(msg) = check.msg {
                self.message(msg);
            }
            if let Some(cond) = check.if_cond {
                self.expr_in_place(cond);
            }
            self.expr(check.test);
        }
    }

    /// Checks the message of an assertion.
    pub(super) fn message(&mut self, msg: ExprId) {
        let ty = self.expr(msg);
        self.expect(&ty, &Type::Str, self.at(self.module[msg].span), None);
    }

    /// Walks an attribute of a schema.
    pub(super) fn schema_attr(&mut self, attr: &'p SchemaAttr) {
        let at = self.at(attr.name.span);
        let name = attr.name.name;
        let declared = self.schema.as_ref().and_then(|body| {
            body.assigned
                .get(&name)
                .cloned()
                .or_else(|| self.attribute(body.id, name).map(|attr| attr.ty.clone()))
        });
        let expected = declared.unwrap_or(Type::Any);
        self.define(name, expected.clone(), at);
        let Some(value) = attr.value else { return };
        let ty = match &expected {
            Type::Schema(_) | Type::List(_) | Type::Dict(_) | Type::Union(_) => {
                self.expr_for(value, &expected)
            }
            _ => self.expr(value),
        };
        let ty = match attr.op {
            Some(AugOp::With(BinOp::BitOr)) => self.binary(&ty, &expected, BinOp::BitOr, at),
            _ => ty,
        };
        self.expect(&ty, &expected, at, None);
    }

    /// The type of `Name(args) {…}`.
    pub(super) fn schema_expr(&mut self, id: ExprId, expr: &'p SchemaExpr) -> Type {
        let ty = self.read_path(id, &expr.name, expr.name.span);
        let module = self.module;
        if !matches!(module[expr.config].kind, Expr::Config(_)) {
            let message =
                "Invalid schema config expr, expect config entries, e.g., {k1 = v1, k2 = v2}";
            let at = self.at(module[expr.config].span);
            self.report(diagnostics::compile_error(at, message));
        }
        let at = self.at(expr.name.span);
        match &ty {
            Type::Dict(_) => {
                let config = self.config_for(expr.config, &ty);
                self.binary(&ty, &config, BinOp::BitOr, at)
            }
            Type::Schema(schema) => {
                self.schema_instance(expr, *schema);
                ty.as_instance()
            }
            Type::Any => Type::Any,
            _ => {
                let message = format!("Invalid schema type '{ty}'");
                self.report(diagnostics::compile_error(at, message));
                Type::Any
            }
        }
    }

    fn schema_instance(&mut self, expr: &'p SchemaExpr, schema: SchemaRef) {
        if !schema.is_instance && !self.is_in_open_schema() {
            self.check_required(expr, schema.id);
        }
        self.check_config_for(expr.config, &Type::Schema(schema));
        if !schema.is_instance {
            let func = Arc::clone(&self.schema_type(schema.id).func);
            self.arguments(
                Callee::Named(&expr.name),
                expr.name.span,
                &expr.args,
                &expr.kwargs,
                &func,
            );
        } else if !expr.args.is_empty() || !expr.kwargs.is_empty() {
            let message = "Arguments cannot be used in the schema modification expression";
            self.report(diagnostics::compile_error(self.at(expr.name.span), message));
        }
    }

    fn config_for(&mut self, config: ExprId, ty: &Type) -> Type {
        self.expected.push(Some(Expected { ty: ty.clone(), at: None }));
        let ty = self.expr(config);
        self.expected.pop();
        ty
    }

    /// The same where only findings count.
    fn check_config_for(&mut self, config: ExprId, ty: &Type) {
        let module = self.module;
        match &module[config].kind {
            Expr::Config(entries) if self.table.is_none() => {
                self.expected.push(Some(Expected { ty: ty.clone(), at: None }));
                self.nested(|this| {
                    this.check_config(config, entries);
                    Type::Any
                });
                self.expected.pop();
            }
            _ => {
                self.config_for(config, ty);
            }
        }
    }

    /// Whether the config around the current one has an index signature, whose default may
    /// set attributes.
    fn is_in_open_schema(&self) -> bool {
        match self.expected.iter().nth_back(1) {
            Some(Some(Expected { ty: Type::Schema(schema), .. })) => {
                self.schema_type(schema.id).index_signature.is_some()
            }
            _ => false,
        }
    }

    /// Whether all items of a list are expressions of one schema.
    pub(super) fn is_all_one_schema(&mut self, items: &'p [ExprId]) -> bool {
        let mut first = None;
        for &item in items {
            let Expr::Schema(expr) = &self.module[item].kind else { return false };
            let ty = self.read_path(item, &expr.name, expr.name.span);
            let Type::Schema(schema) = ty else { return false };
            if *first.get_or_insert(schema.id) != schema.id {
                return false;
            }
        }
        true
    }

    /// Walks the configs of a list whose items are all of one schema.
    pub(super) fn list_of_one_schema(&mut self, items: &'p [ExprId]) {
        for &item in items {
            if let Expr::Schema(expr) = &self.module[item].kind {
                let ty = self.read_path(item, &expr.name, expr.name.span);
                self.check_config_for(expr.config, &ty);
            }
        }
    }
}
