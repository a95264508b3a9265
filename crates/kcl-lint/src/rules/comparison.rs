//! `L1007`: comparisons with one possible result.

use super::Context;
use base_diag::Diagnostic;
use kcl_syntax::ast::{CmpOp, Expr, ExprId, Module, Number};

const CODE: (&str, &str) = ("L1007", "ConstantComparison");

/// Finds comparisons of an expression with itself, and of two literals.
pub(crate) fn comparison(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    for expr in &module.exprs {
        let Expr::Compare { left, rest } = &expr.kind else { continue };
        let [(op, right)] = rest.as_slice() else { continue };
        let result = if is_plain(module, *left) && context.written(*left) == context.written(*right)
        {
            match op {
                CmpOp::Eq | CmpOp::LtE | CmpOp::GtE | CmpOp::Is => true,
                CmpOp::NotEq | CmpOp::Lt | CmpOp::Gt | CmpOp::IsNot => false,
                CmpOp::In | CmpOp::NotIn | CmpOp::Not => continue,
            }
        } else if let (Some(left), Some(right)) = (number(module, *left), number(module, *right)) {
            match op {
                CmpOp::Eq => left == right,
                CmpOp::NotEq => left != right,
                CmpOp::Lt => left < right,
                CmpOp::LtE => left <= right,
                CmpOp::Gt => left > right,
                CmpOp::GtE => left >= right,
                _ => continue,
            }
        } else {
            continue;
        };
        let message = format!("this comparison is always {result}");
        found.push(context.warning(CODE, expr.span, message));
    }
}

/// Whether an expression has the same value each time.
fn is_plain(module: &Module, expr: ExprId) -> bool {
    match &module[expr].kind {
        Expr::Ident(_) | Expr::String(_) | Expr::Constant(_) => true,
        Expr::Number(number) => !matches!(number, Number::Float(_)),
        Expr::Paren(inner) => is_plain(module, *inner),
        Expr::Selector { value, .. } => is_plain(module, *value),
        Expr::Subscript(subscript) => {
            is_plain(module, subscript.value)
                && subscript.index.is_some_and(|index| is_plain(module, index))
        }
        _ => false,
    }
}

fn number(module: &Module, expr: ExprId) -> Option<i64> {
    match &module[expr].kind {
        Expr::Number(Number::Int(value)) => Some(*value),
        Expr::Paren(inner) => number(module, *inner),
        _ => None,
    }
}
