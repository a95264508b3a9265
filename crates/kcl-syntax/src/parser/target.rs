//! What stands on the left of an assignment.

use super::Parser;
use crate::ast::{Expr, ExprId, Ident, MemberOrIndex, Target};
use base_text::Span;

/// An expression taken as a target.
pub(super) enum Taken {
    /// It is one.
    Target(Target),
    /// It is none, for the reason given.
    Illegal { message: String, span: Span },
}

impl Parser<'_> {
    /// Takes `expr`, read from `span`, as a target.
    pub(super) fn take_target(&mut self, expr: ExprId, span: Span) -> Taken {
        let node_span = self.module[expr].span;
        if let Some(path) = self.take_path(expr)
            && let [name, rest @ ..] = path.names.as_slice()
        {
            let paths = rest.iter().copied().map(MemberOrIndex::Member).collect();
            return Taken::Target(Target { name: *name, paths, span: node_span });
        }
        match self.target_paths(expr) {
            Ok((name, paths)) => Taken::Target(Target { name, paths, span: node_span }),
            Err(message) => Taken::Illegal { message, span },
        }
    }

    /// Reports illegal targets and keeps the others.
    pub(super) fn keep_targets(&mut self, taken: Vec<Taken>) -> Vec<Target> {
        let mut targets = Vec::with_capacity(taken.len());
        for one in taken {
            match one {
                Taken::Target(target) => targets.push(target),
                Taken::Illegal { message, span } => self.error(span, message),
            }
        }
        targets
    }

    /// The variable at the root of `expr` and the way from there, or why there is none.
    fn target_paths(&self, expr: ExprId) -> Result<(Ident, Vec<MemberOrIndex>), String> {
        let mut reversed = Vec::new();
        let mut at = expr;
        loop {
            let kind = &self.module[at].kind;
            let illegal = |why: &str| {
                format!("'{}' is an illegal expression for assignment{why}", expr_name(kind))
            };
            match kind {
                Expr::Ident(path) => {
                    let Some((name, rest)) = path.names.split_first() else {
                        return Err(illegal(""));
                    };
                    reversed.extend(rest.iter().rev().copied().map(MemberOrIndex::Member));
                    reversed.reverse();
                    return Ok((*name, reversed));
                }
                Expr::Selector { has_question: true, .. } => {
                    return Err(illegal(
                        ", because the left-hand side of an assignment expression may not be an optional attribute access.",
                    ));
                }
                Expr::Selector { value, attr, .. } => {
                    reversed.extend(attr.names.iter().rev().copied().map(MemberOrIndex::Member));
                    at = *value;
                }
                Expr::Subscript(subscript) if subscript.has_question => {
                    return Err(illegal(
                        ", because the left-hand side of an assignment expression may not be an optional subscript access.",
                    ));
                }
                Expr::Subscript(subscript) => {
                    let Some(index) = subscript.index else {
                        // The base is looked at first, then the slice.
                        self.target_paths_of_base(subscript.value)?;
                        return Err(illegal(
                            ", because the left-hand side of an assignment expression may not be a slice access.",
                        ));
                    };
                    reversed.push(MemberOrIndex::Index(index));
                    at = subscript.value;
                }
                _ => return Err(illegal("")),
            }
        }
    }

    fn target_paths_of_base(&self, mut at: ExprId) -> Result<(), String> {
        // Only one slice is looked through: a chain of slices is reported at its outermost.
        loop {
            match &self.module[at].kind {
                Expr::Ident(_) => return Ok(()),
                Expr::Selector { value, has_question: false, .. } => at = *value,
                Expr::Subscript(inner) if !inner.has_question && inner.index.is_some() => {
                    at = inner.value;
                }
                Expr::Subscript(inner) if !inner.has_question => return Ok(()),
                kind => {
                    return Err(format!(
                        "'{}' is an illegal expression for assignment",
                        expr_name(kind)
                    ));
                }
            }
        }
    }

    /// The name that `expr` is, as one word.
    pub(super) fn path_name(&self, expr: ExprId) -> Option<Ident> {
        match &self.module[expr].kind {
            Expr::Ident(path) => Some(super::join(path)),
            _ => None,
        }
    }
}

/// What an expression is called in messages.
fn expr_name(expr: &Expr) -> &'static str {
    match expr {
        Expr::Ident(_) => "IdentifierExpression",
        Expr::Unary { .. } => "UnaryExpression",
        Expr::Binary { .. } => "BinaryExpression",
        Expr::Compare { .. } => "CompareExpression",
        Expr::If { .. } => "IfExpression",
        Expr::Selector { .. } => "SelectorExpression",
        Expr::Call(_) => "CallExpression",
        Expr::Paren(_) => "ParenExpression",
        Expr::Quant(_) => "QuantExpression",
        Expr::List(_) => "ListExpression",
        Expr::ListIf { .. } => "ListIfItemExpression",
        Expr::ListComp { .. } => "ListCompExpression",
        Expr::Starred(_) => "StarredExpression",
        Expr::DictComp { .. } => "DictCompExpression",
        Expr::ConfigIf { .. } => "ConfigIfEntryExpression",
        Expr::Schema(_) => "SchemaExpression",
        Expr::Config(_) => "ConfigExpression",
        Expr::Lambda(_) => "LambdaExpression",
        Expr::Subscript(_) => "SubscriptExpression",
        Expr::Number(_) => "NumberLitExpression",
        Expr::String(_) => "StringLitExpression",
        Expr::Constant(_) => "NameConstantLitExpression",
        Expr::Joined(_) => "JoinedStringExpression",
        Expr::Type(_) => "TypeExpression",
        Expr::Missing => "MissingExpression",
    }
}
