//! Statements.

use crate::checker::{Checker, Expected};
use crate::declare::RESERVED;
use crate::diagnostics;
use crate::ty::Type;
use base_text::Name;
use kcl_syntax::ast::{
    Assign, AugAssign, AugOp, BinOp, Expr, ExprId, Stmt, StmtId, TypeAlias, Unification,
};

impl<'p> Checker<'p> {
    /// Walks a statement and returns the type of its value.
    pub(crate) fn stmt(&mut self, id: StmtId) -> Type {
        self.place = self.module[id].span;
        self.nested(|this| this.walk_stmt(id))
    }

    fn walk_stmt(&mut self, id: StmtId) -> Type {
        let module = self.module;
        let node = &module[id];
        match &node.kind {
            Stmt::TypeAlias(alias) => self.type_alias(alias),
            Stmt::Expr(exprs) => self.expr_stmt(exprs),
            Stmt::Unification(unification) => self.unification(unification),
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => self.aug_assign(assign),
            Stmt::Assert(assert) => {
                self.expr(assert.test);
                if let Some(cond) = assert.if_cond {
                    self.expr_in_place(cond);
                }
                if let Some(msg) = assert.msg {
                    self.message(msg);
                }
                Type::Any
            }
            Stmt::If(if_stmt) => {
                self.expr(if_stmt.cond);
                let body = self.stmts(&if_stmt.body);
                let orelse = self.stmts(&if_stmt.orelse);
                self.join2(body, orelse)
            }
            Stmt::Import(_) => Type::Any,
            Stmt::SchemaAttr(attr) => {
                self.schema_attr(attr);
                Type::Any
            }
            Stmt::Schema(schema) => self.schema_stmt(schema),
            Stmt::Rule(rule) => self.rule_stmt(rule, node.span),
        }
    }

    fn stmts(&mut self, stmts: &'p [StmtId]) -> Type {
        let mut ty = Type::Any;
        for &stmt in stmts {
            ty = self.stmt(stmt);
        }
        ty
    }

    fn expr_stmt(&mut self, exprs: &'p [ExprId]) -> Type {
        let mut ty = Type::Any;
        for &expr in exprs {
            ty = self.expr(expr);
        }
        if let Some(&second) = exprs.get(1) {
            let message = "expression statement can only have one expression";
            self.report(diagnostics::compile_error(self.at(self.module[second].span), message));
        }
        ty
    }

    fn type_alias(&mut self, alias: &'p TypeAlias) -> Type {
        let span = alias.name.span;
        let ty = match self.annotation(alias.ty, span) {
            Type::Schema(mut schema) => {
                schema.is_instance = false;
                Type::Schema(schema)
            }
            ty => ty,
        };
        let name = alias.name.name.as_str();
        if RESERVED.contains(&name) {
            let message = format!(
                "type alias '{name}' cannot be the same as the built-in types ({RESERVED:?})"
            );
            self.report(diagnostics::type_error(self.at(span), message));
        }
        self.define(alias.name.name, ty.clone(), self.at(span));
        ty
    }

    fn unification(&mut self, unification: &'p Unification) -> Type {
        let module = self.module;
        let at = self.at(unification.target.span);
        if unification.target.names.len() > 1 {
            let message = "unification identifier can not be selected";
            self.report(diagnostics::compile_error(at, message));
        }
        let value_at = self.at(module[unification.value].span);
        let Some(name) = unification.target.names.first() else {
            let message = "missing target in the unification statement";
            self.report(diagnostics::compile_error(value_at, message));
            return Type::Any;
        };
        let expected = self.store_path(&unification.target);
        self.expected.push(Some(Expected { ty: expected.clone(), at: Some(value_at) }));
        let ty = match &module[unification.value].kind {
            Expr::Schema(schema) => self.schema_expr(unification.value, schema),
            _ => self.expr(unification.value),
        };
        self.expected.pop();
        self.expect(&ty, &expected, at, None);
        if !ty.is_any() && expected.is_any() {
            self.set_inferred(*name, &ty, self.at(name.span));
        }
        expected
    }

    /// Notes a global that an assignment defines, unless it must not.
    fn note_assigned(&mut self, name: Name, value: ExprId, span: base_text::Span) -> bool {
        let is_config = matches!(self.module[value].kind, Expr::Schema(_));
        let is_free = name.is_private() || is_config || self.noted_global(name).is_none();
        if is_free && self.blocks.is_empty() {
            self.note_global(name, span);
        }
        is_free
    }

    fn assign(&mut self, assign: &'p Assign) -> Type {
        let module = self.module;
        let mut value_ty = Type::Any;
        let start = assign.targets.first().map_or(module[assign.value].span, |target| target.span);
        let whole = self.at(start.to(module[assign.value].span));
        for target in &assign.targets {
            let name = target.name.name;
            let at = self.at(target.span);
            self.note_assigned(name, assign.value, target.span);
            let expected = self.assigned_target(target);
            let frame = match &expected {
                Type::Schema(_) | Type::List(_) | Type::Dict(_) | Type::Union(_)
                    if target.paths.is_empty() =>
                {
                    self.expected.push(Some(Expected { ty: expected.clone(), at: Some(whole) }));
                    true
                }
                _ => false,
            };
            if self.defer_literal(assign, &expected) {
                continue;
            }
            value_ty = self.expr(assign.value);
            let is_schema = matches!(expected, Type::Schema(_)) && target.paths.is_empty();
            if !is_schema {
                self.check_annotation(assign, &value_ty);
            }
            if frame {
                self.expected.pop();
            }
            self.expect(&value_ty, &expected, at, None);
            if target.paths.is_empty()
                && !value_ty.is_any()
                && expected.is_any()
                && assign.ty.is_none()
            {
                self.set_inferred(target.name, &value_ty, at);
                if self.schema.is_some() {
                    let ty = self.types().widen(&value_ty);
                    self.set_assigned(name, ty);
                }
            }
        }
        value_ty
    }

    /// Checks the annotation of an assignment against earlier ones and the value.
    fn check_annotation(&mut self, assign: &'p Assign, value: &Type) {
        let Some(annotation) = assign.ty else { return };
        for target in &assign.targets {
            let name = target.name.name;
            let at = self.at(target.span);
            let annotated = self.annotation(annotation, self.module[annotation].span);
            let target_ty = match self.own_variable(target.name) {
                Some(object) if !object.ty.is_any() => {
                    if !self.types().is_upper_bound(&annotated, &object.ty) {
                        let name = name.as_str();
                        let changed =
                            diagnostics::type_changed(at, name, &annotated, object.at, &object.ty);
                        self.report(changed);
                    }
                    object.ty
                }
                _ => annotated,
            };
            self.set_type(target.name, target_ty.clone(), self.at(target.name.span));
            self.expect(value, &target_ty, at, None);
        }
    }

    fn aug_assign(&mut self, assign: &'p AugAssign) -> Type {
        let name = assign.target.name.name;
        let at = self.at(assign.target.span);
        if !self.note_assigned(name, assign.value, assign.target.span) {
            let first = self.noted_global(name);
            let finding = diagnostics::immutable_modified(at, name.as_str(), first);
            self.report_misnamed(finding, name, &format!("_{name}"));
        }
        let left = self.updated_target(&assign.target);
        let right = self.expr(assign.value);
        let op = match assign.op {
            AugOp::With(op) => op,
            AugOp::Assign => BinOp::BitOr,
        };
        let ty = self.binary(&left, &right, op, at);
        let expected = self.assigned_target(&assign.target);
        self.expect(&ty, &expected, at, None);
        ty
    }
}
