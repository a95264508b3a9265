//! What `if` has in common in statements, configs and lists.

use super::Parser;
use crate::ast::{Expr, ExprId};
use crate::token::TokenKind;
use base_text::Span;

/// The `if` or one `elif`.
pub(super) struct Branch<B> {
    pub(super) span: Span,
    pub(super) cond: ExprId,
    pub(super) body: B,
}

impl Parser<'_> {
    /// `if cond: body elif cond: body`, up to the `else`; `body` parses what follows a colon.
    pub(super) fn branches<B>(&mut self, mut body: impl FnMut(&mut Self) -> B) -> Vec<Branch<B>> {
        let mut branches = Vec::new();
        loop {
            let start = self.token.start;
            self.bump();
            let cond = self.expr();
            self.expect(TokenKind::Colon, ":");
            let body = body(self);
            branches.push(Branch { span: self.span_from(start), cond, body });
            if branches.len() == 1 {
                self.skip_newlines();
            }
            if !self.at(TokenKind::Elif) || self.is_too_long(branches.len()) {
                break;
            }
        }
        self.skip_newlines();
        branches
    }

    /// `else: body` of an expression, if it stands here.
    pub(super) fn else_expr(&mut self, body: impl FnOnce(&mut Self) -> Expr) -> Option<ExprId> {
        if !self.at(TokenKind::Else) {
            return None;
        }
        let start = self.token.start;
        self.bump();
        self.expect(TokenKind::Colon, ":");
        let body = body(self);
        Some(self.add(body, start))
    }

    /// Puts each branch of an expression into the `else` of the one before; `whole` is the span
    /// of the first.
    pub(super) fn nest_branches<B>(
        &mut self,
        mut branches: Vec<Branch<B>>,
        mut orelse: Option<ExprId>,
        whole: Span,
        make: impl Fn(ExprId, B, Option<ExprId>) -> Expr,
    ) -> ExprId {
        while let Some(Branch { span, cond, body }) = branches.pop() {
            let span = if branches.is_empty() { whole } else { span };
            orelse = Some(self.module.add_expr(make(cond, body, orelse), span));
        }
        orelse.unwrap_or_else(|| self.missing())
    }
}
