//! Lists, their `if` items, and comprehensions.

use super::Parser;
use crate::ast::{CompClause, Expr, ExprId};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `[a, *b, if c: d]` or `[a for x in xs]`
    pub(super) fn list(&mut self) -> ExprId {
        let start = self.token.start;
        self.bump();
        self.list_rest(start)
    }

    /// What follows the `[` at `start`.
    pub(super) fn list_rest(&mut self, start: u32) -> ExprId {
        if self.at(TokenKind::Newline) {
            self.skip_newlines();
            self.skip_indentation();
        }
        if self.eat(TokenKind::CloseBracket) {
            return self.add(Expr::List(Vec::new()), start);
        }
        let first = self.token.span();
        let items = self.list_items();
        let generators = self.comp_clauses();
        self.skip_newlines();
        self.skip_indentation();
        self.expect_or_stay(TokenKind::CloseBracket, "]");
        if generators.is_empty() {
            return self.add(Expr::List(items), start);
        }
        match items.as_slice() {
            [] => {
                self.error(first, "missing list comp clause expression");
                self.add(Expr::List(items), start)
            }
            [elt, rest @ ..] => {
                let elt = *elt;
                if !rest.is_empty() {
                    let n = items.len();
                    self.error(
                        first,
                        format!("multiple list comp clause expression found: expected 1, got {n}"),
                    );
                }
                self.add(Expr::ListComp { elt, generators }, start)
            }
        }
    }

    fn ends_list(&self) -> bool {
        matches!(self.kind(), TokenKind::CloseBracket | TokenKind::Eof | TokenKind::For)
    }

    fn list_items(&mut self) -> Vec<ExprId> {
        if self.ends_list() {
            return Vec::new();
        }
        let base = self.items.len();
        let mut is_first = true;
        loop {
            let pos = self.pos;
            if !is_first {
                self.skip_indentation();
                if self.ends_list() {
                    return self.items.split_off(base);
                }
            }
            let item = self.list_item();
            if !is_first && self.is_missing(item) {
                self.expected(&[","]);
                self.bump();
            } else {
                self.items.push(item);
            }
            self.eat(TokenKind::Comma);
            self.skip_newlines();
            if !is_first {
                self.ensure_progress(pos);
            }
            is_first = false;
        }
    }

    fn list_item(&mut self) -> ExprId {
        let start = self.token.start;
        match self.kind() {
            TokenKind::Star => {
                self.bump();
                let value = self.expr();
                self.add(Expr::Starred(value), start)
            }
            TokenKind::If if self.enter() => {
                let item = self.list_if();
                self.leave();
                item
            }
            _ => self.expr(),
        }
    }

    /// `if cond: items elif cond: items else: items`
    fn list_if(&mut self) -> ExprId {
        let start = self.token.start;
        // Behind a block all branches are blocks.
        let mut is_block = false;
        let branches = self.branches(|this| {
            is_block |= this.at(TokenKind::Newline);
            this.list_block(is_block)
        });
        let orelse = self.else_expr(|this| {
            is_block |= this.at(TokenKind::Newline);
            Expr::List(this.list_block(is_block))
        });
        let whole = self.span_from(start);
        self.nest_branches(branches, orelse, whole, |cond, items, orelse| Expr::ListIf {
            cond,
            items,
            orelse,
        })
    }

    fn list_block(&mut self, is_block: bool) -> Vec<ExprId> {
        if !is_block {
            return vec![self.list_item()];
        }
        self.skip_newlines();
        self.expect(TokenKind::Indent, "indent");
        let mut items = Vec::new();
        loop {
            let pos = self.pos;
            self.check_dedent();
            if matches!(self.kind(), TokenKind::Dedent | TokenKind::Eof) {
                break;
            }
            items.push(self.list_item());
            self.eat(TokenKind::Comma);
            self.skip_newlines();
            self.ensure_progress(pos);
        }
        self.expect(TokenKind::Dedent, "dedent");
        items
    }

    pub(super) fn comp_clauses(&mut self) -> Vec<CompClause> {
        let mut clauses = Vec::new();
        while self.at(TokenKind::For) {
            clauses.push(self.comp_clause());
        }
        clauses
    }

    /// `for a, b in xs if c`
    fn comp_clause(&mut self) -> CompClause {
        let start = self.token.start;
        self.bump();
        let mut targets = vec![self.joined_ident()];
        while self.eat(TokenKind::Comma) {
            targets.push(self.joined_ident());
        }
        self.expect(TokenKind::In, "in");
        let iter = self.simple_expr();
        self.skip_newlines();
        let mut ifs = Vec::new();
        while self.eat(TokenKind::If) {
            ifs.push(self.expr());
        }
        CompClause { targets, iter, ifs, span: self.span_from(start) }
    }
}
