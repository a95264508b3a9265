//! Globals that hold plain data.
//!
//! There is nothing to be found wrong in a literal made of constants, so its type is found
//! only if something reads the global: data files are large, and mostly just written out.

use crate::checker::Checker;
use crate::ty::Type;
use base_text::Name;
use kcl_hir::PackageId;
use kcl_syntax::ast::{Assign, ConfigOp, Expr, ExprId, Module, Number, UnaryOp};
use std::mem;

impl<'p> Checker<'p> {
    /// Puts off finding the type of an assigned global, if its value is plain data.
    pub(super) fn defer_literal(&mut self, assign: &'p Assign, expected: &Type) -> bool {
        let [target] = assign.targets.as_slice() else { return false };
        let is_global = self.blocks.is_empty()
            && self.schema.is_none()
            && self.table.is_none()
            && self.expected.is_empty()
            && assign.ty.is_none()
            && target.paths.is_empty()
            && expected.is_any();
        let value = assign.value;
        let is_container = matches!(self.module[value].kind, Expr::Config(_) | Expr::List(_));
        if !is_global
            || !is_container
            || self.own(target.name.name).is_none()
            || !is_data(self.module, value)
        {
            return false;
        }
        let literals = &mut self.packages[self.package.0 as usize].literals;
        literals.insert(target.name.name, (self.file, value));
        true
    }

    /// Finds the type of a global if that was put off.
    pub(crate) fn read_literal(&mut self, package: PackageId, name: Name) {
        let literals = &mut self.packages[package.0 as usize].literals;
        if literals.is_empty() {
            return;
        }
        let Some((file, value)) = literals.remove(&name) else { return };
        let (came_from, depth) = (self.file, mem::replace(&mut self.depth, 0));
        let expected = mem::take(&mut self.expected);
        self.enter_file(file);
        let ty = self.expr(value);
        self.enter_file(came_from);
        self.expected = expected;
        self.depth = depth;
        if let Some(object) = self.packages[package.0 as usize].objects.get_mut(name) {
            object.is_narrow = !ty.is_any();
            object.ty = ty;
        }
    }
}

/// Whether an expression consists of constants, so that nothing can be wrong with it.
fn is_data(module: &Module, expr: ExprId) -> bool {
    match &module[expr].kind {
        Expr::Number(_) | Expr::String(_) | Expr::Constant(_) => true,
        Expr::Unary { op: UnaryOp::Minus, operand } => {
            matches!(module[*operand].kind, Expr::Number(Number::Int(_) | Number::Float(_)))
        }
        Expr::List(items) => items.iter().all(|item| is_data(module, *item)),
        Expr::Config(entries) => entries.iter().all(|entry| {
            let is_plain_key = entry.key.is_some_and(|key| match &module[key].kind {
                Expr::Ident(path) => path.names.len() == 1,
                Expr::String(_) => true,
                _ => false,
            });
            is_plain_key && entry.op != ConfigOp::Insert && is_data(module, entry.value)
        }),
        _ => false,
    }
}
