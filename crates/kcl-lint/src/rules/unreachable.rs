//! `L1003`: code that never runs.

use super::{Context, constant_truth};
use base_diag::Diagnostic;
use kcl_syntax::ast::{Expr, ExprId, Stmt};

const CODE: (&str, &str) = ("L1003", "Unreachable");

/// Finds branches whose condition is constant, or the same as that of a branch before.
pub(crate) fn unreachable(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    // The first condition of each chain; those that follow an `elif` are part of a chain.
    let mut is_inner = vec![false; module.stmts.len()];
    let mut is_inner_expr = vec![false; module.exprs.len()];
    for stmt in &module.stmts {
        if let Stmt::If(stmt) = &stmt.kind
            && let [only] = stmt.orelse.as_slice()
        {
            is_inner[only.index()] = true;
        }
    }
    for expr in &module.exprs {
        if let Expr::ListIf { orelse, .. } | Expr::ConfigIf { orelse, .. } = &expr.kind
            && let Some(orelse) = orelse
        {
            is_inner_expr[orelse.index()] = true;
        }
    }
    for (at, stmt) in module.stmts.iter().enumerate() {
        let (Stmt::If(stmt), false) = (&stmt.kind, is_inner[at]) else { continue };
        let mut conditions = vec![stmt.cond];
        let mut next = stmt.orelse.as_slice();
        while let [only] = next
            && let Stmt::If(inner) = &module[*only].kind
        {
            conditions.push(inner.cond);
            next = &inner.orelse;
        }
        chain(context, &conditions, !next.is_empty(), found);
    }
    for (at, expr) in module.exprs.iter().enumerate() {
        let parts = |expr: &Expr| match expr {
            Expr::ListIf { cond, orelse, .. } | Expr::ConfigIf { cond, orelse, .. } => {
                Some((*cond, *orelse))
            }
            _ => None,
        };
        let (Some((cond, mut next)), false) = (parts(&expr.kind), is_inner_expr[at]) else {
            continue;
        };
        let mut conditions = vec![cond];
        while let Some((cond, orelse)) = next.and_then(|next| parts(&module[next].kind)) {
            conditions.push(cond);
            next = orelse;
        }
        chain(context, &conditions, next.is_some(), found);
    }
}

/// Looks at the conditions of `if`, `elif` … in order.
fn chain(
    context: &Context<'_>,
    conditions: &[ExprId],
    has_else: bool,
    found: &mut Vec<Diagnostic>,
) {
    let module = context.module();
    let mut seen: Vec<String> = Vec::new();
    for (at, &cond) in conditions.iter().enumerate() {
        let span = module[cond].span;
        match constant_truth(module, cond) {
            Some(false) => {
                let message = "this branch never runs: its condition is always false";
                found.push(context.warning(CODE, span, message));
            }
            Some(true) if has_else || at + 1 < conditions.len() => {
                let message =
                    "the branches behind this one never run: its condition is always true";
                found.push(context.warning(CODE, span, message));
                return;
            }
            _ => {
                let written = context.written(cond);
                // A call may have another result the second time.
                if seen.contains(&written) && !written.contains('(') {
                    let message = "this branch never runs: a branch before has the same condition";
                    found.push(context.warning(CODE, span, message));
                }
                seen.push(written);
            }
        }
    }
}
