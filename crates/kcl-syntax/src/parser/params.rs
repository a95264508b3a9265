//! Parameters and decorators.

use super::Parser;
use crate::ast::{Call, Expr, ExprId, Param, Params};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `[a: int, b = 1]` behind the name of a schema or rule.
    pub(super) fn schema_params(&mut self) -> Option<Params> {
        let start = self.token.start;
        if !self.eat(TokenKind::OpenBracket) {
            return None;
        }
        let list = self.params(|kind| kind == TokenKind::CloseBracket, &["]"]);
        self.eat(TokenKind::CloseBracket);
        let span = self.span_from(start);
        self.skip_newlines();
        Some(Params { list, span })
    }

    /// What stands between `lambda` and `->` or `{`.
    pub(super) fn lambda_params(&mut self) -> Params {
        let start = self.token.start;
        let list = self
            .params(|kind| matches!(kind, TokenKind::Arrow | TokenKind::OpenBrace), &["->", "{"]);
        let span = self.span_from(start);
        self.skip_newlines();
        Params { list, span }
    }

    /// `{a: int, b}` between `lambda` and `->`; line ends may stand between parameters.
    pub(super) fn braced_params(&mut self) -> Params {
        let start = self.token.start;
        self.bump();
        let mut list = Vec::new();
        loop {
            let pos = self.pos;
            self.skip_newlines();
            self.skip_indentation();
            if matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Eof) {
                break;
            }
            list.push(self.param());
            self.ensure_progress(pos);
        }
        self.expect_or_stay(TokenKind::CloseBrace, "}");
        Params { list, span: self.span_from(start) }
    }

    /// Parameters up to a token for which `ends` holds, written as one of `closing`.
    fn params(&mut self, ends: fn(TokenKind) -> bool, closing: &[&str]) -> Vec<Param> {
        let mut list = Vec::new();
        while !ends(self.kind()) {
            let pos = self.pos;
            if matches!(self.kind(), TokenKind::Newline | TokenKind::Eof) {
                self.expected(closing);
                break;
            }
            list.push(self.param());
            self.ensure_progress(pos);
        }
        list
    }

    /// `name: T = default,`
    fn param(&mut self) -> Param {
        let name = self.joined_ident();
        let ty = self.eat(TokenKind::Colon).then(|| self.type_annotation());
        let default = self.eat(TokenKind::Assign).then(|| self.expr());
        self.eat(TokenKind::Comma);
        Param { name, ty, default }
    }

    /// `@name`, `@name(args)`, each on a line; a bare name is a call without arguments.
    pub(super) fn decorators(&mut self) -> Vec<ExprId> {
        let mut decorators = Vec::new();
        while self.eat(TokenKind::At) {
            let expr = self.expr();
            match self.module[expr].kind {
                Expr::Call(_) => decorators.push(expr),
                Expr::Ident(_) => {
                    let span = self.module[expr].span;
                    let call = Call { func: expr, args: Vec::new(), kwargs: Vec::new() };
                    decorators.push(self.module.add_expr(Expr::Call(Box::new(call)), span));
                }
                _ => self.expected(&["identifier"]),
            }
            self.skip_newlines();
        }
        decorators
    }
}
