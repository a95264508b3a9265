//! Schemas, mixins, protocols and rules.

use super::Parser;
use crate::ast::{
    AugOp, Check, Expr, ExprId, Ident, IndexSignature, Params, Path, Rule, Schema, SchemaAttr,
    SchemaKind, Stmt, StmtId, StrNode,
};
use crate::token::TokenKind;

/// The inside of a schema.
#[derive(Default)]
struct Body {
    doc: Option<StrNode>,
    mixins: Vec<Path>,
    stmts: Vec<StmtId>,
    checks: Vec<Check>,
    index_signature: Option<IndexSignature>,
}

impl Parser<'_> {
    /// `schema Name[params](Parent) for Host: …`; the statement starts at the keyword.
    pub(super) fn schema_stmt(&mut self, decorators: Vec<ExprId>) -> StmtId {
        let start = self.token.start;
        let keyword = self.kind();
        self.bump();
        let name = self.joined_ident();
        let kind = schema_kind(keyword, name);
        let params = self.bracket_params();
        let mut parent = None;
        if self.eat(TokenKind::OpenParen) {
            parent = Some(self.path());
            self.expect(TokenKind::CloseParen, ")");
        }
        let for_host = self.for_host();
        self.expect(TokenKind::Colon, ":");
        let head = self.span_from(start);
        self.skip_newlines();
        let mut body = Body::default();
        if self.at(TokenKind::Indent) && self.enter() {
            body = self.schema_body();
            self.leave();
        }
        let span = head.to(self.span_from(start));
        let schema = Schema {
            kind,
            name,
            doc: body.doc,
            parent,
            for_host,
            params,
            mixins: body.mixins,
            decorators,
            body: body.stmts,
            checks: body.checks,
            index_signature: body.index_signature,
        };
        self.module.add_stmt(Stmt::Schema(Box::new(schema)), span)
    }

    fn bracket_params(&mut self) -> Option<Params> {
        if self.at(TokenKind::OpenBracket) { self.schema_params() } else { None }
    }

    /// `for Host`
    fn for_host(&mut self) -> Option<Path> {
        if !self.eat(TokenKind::For) {
            return None;
        }
        let at = self.token.span();
        let expr = self.expr();
        Some(self.expect_path(expr, at))
    }

    fn schema_body(&mut self) -> Body {
        self.bump();
        let mut body = Body::default();
        if self.peek(1) != TokenKind::Colon {
            body.doc = self.doc();
        }
        if self.at(TokenKind::Mixin) {
            body.mixins = self.mixins();
            self.skip_newlines();
        }
        loop {
            let pos = self.pos;
            self.check_dedent();
            if matches!(self.kind(), TokenKind::Dedent | TokenKind::Eof | TokenKind::Check) {
                break;
            }
            self.schema_item(&mut body, pos);
        }
        if self.at(TokenKind::Check) {
            self.bump();
            self.expect(TokenKind::Colon, ":");
            self.skip_newlines();
            self.expect(TokenKind::Indent, "indent");
            body.checks = self.checks();
        }
        self.check_dedent();
        self.expect(TokenKind::Dedent, "dedent");
        self.skip_newlines();
        body
    }

    /// One attribute, statement or signature of a schema.
    fn schema_item(&mut self, body: &mut Body, pos: usize) {
        let start = self.token.start;
        match self.kind() {
            TokenKind::Assert => {
                let stmt = self.assert_stmt();
                body.stmts.push(stmt);
                return;
            }
            TokenKind::If => {
                let stmt = self.if_stmt();
                body.stmts.push(stmt);
                return;
            }
            _ => {}
        }
        let is_string_attr = self.kind().is_string() && self.peek(1) == TokenKind::Colon;
        if is_string_attr || self.at(TokenKind::At) || self.peek(1) == TokenKind::Question {
            let stmt = self.schema_attr(start);
            body.stmts.push(stmt);
            return;
        }
        if self.at(TokenKind::OpenBracket) {
            self.signature_or_list(body);
            self.skip_newlines();
            return;
        }
        match self.expr_or_assign(true) {
            Some(stmt) => body.stmts.push(stmt),
            None => self.bump(),
        }
        self.ensure_progress(pos);
    }

    /// `@decorator name?: T = value`
    fn schema_attr(&mut self, start: u32) -> StmtId {
        let decorators = self.decorators();
        let name = match self.string_name() {
            Some(name) => name,
            None => self.joined_ident(),
        };
        let is_optional = self.eat(TokenKind::Question);
        self.expect(TokenKind::Colon, ":");
        let ty = self.type_annotation();
        let op = if self.at(TokenKind::Assign) { Some(AugOp::Assign) } else { self.aug_op() };
        let value = op.map(|_| {
            self.bump();
            self.expr()
        });
        let attr = SchemaAttr { name, op, value, is_optional, decorators, ty };
        let stmt = self.add_stmt(Stmt::SchemaAttr(attr), start);
        self.skip_newlines();
        stmt
    }

    /// A string as the name of an attribute; one with interpolation is none.
    fn string_name(&mut self) -> Option<Ident> {
        if !self.kind().is_string() {
            return None;
        }
        let expr = self.string();
        let span = self.module[expr].span;
        let Expr::String(string) = &self.module[expr].kind else { return None };
        let name = base_text::Name::new(&string.value);
        self.module.exprs.pop();
        Some(Ident { name, span })
    }

    /// `[name: K]: V`, `[...K]: V`, `[K]: V`, or a list on its own.
    fn signature_or_list(&mut self, body: &mut Body) {
        let bracket = self.token.span();
        self.bump();
        let is_named = self.peek(1) == TokenKind::Colon || self.peek(2) == TokenKind::Colon;
        let is_signature = match self.kind() {
            kind if kind.is_ident() => is_named,
            TokenKind::DotDotDot => self.peek(1).is_ident(),
            TokenKind::Newline | TokenKind::CloseBracket => false,
            _ => {
                let text = self.token_text(self.token);
                self.error(
                    self.token.span(),
                    format!("expected a index signature or list expression here, got {text}"),
                );
                return;
            }
        };
        if is_signature {
            let signature = self.index_signature(bracket.start);
            if body.index_signature.is_some() {
                self.error(
                    bracket,
                    "duplicate schema index signature definitions, only one is allowed in the schema",
                );
            }
            body.index_signature = Some(signature);
        } else if self.at(TokenKind::DotDotDot) {
            self.error(
                self.token.span(),
                "expected a index signature or list expression here, got ...",
            );
        } else {
            let list = self.list_rest(bracket.start);
            body.stmts.push(self.add_stmt(Stmt::Expr(vec![list]), bracket.start));
        }
    }

    /// What follows the `[` of an index signature.
    fn index_signature(&mut self, start: u32) -> IndexSignature {
        let mut key_name = None;
        let mut any_other = self.eat(TokenKind::DotDotDot);
        let key_ty = if any_other {
            self.type_annotation()
        } else {
            let path = self.path();
            if self.at(TokenKind::CloseBracket) {
                let span = path.span;
                self.module.add_type(super::types::named(path), span)
            } else {
                self.expect(TokenKind::Colon, ":");
                any_other = self.eat(TokenKind::DotDotDot);
                key_name = Some(super::join(&path));
                self.type_annotation()
            }
        };
        self.expect(TokenKind::CloseBracket, "]");
        self.expect(TokenKind::Colon, ":");
        let value_ty = self.type_annotation();
        let value = self.eat(TokenKind::Assign).then(|| self.expr());
        let span = self.span_from(start);
        self.skip_newlines();
        IndexSignature { key_name, key_ty, value_ty, value, any_other, span }
    }

    /// `mixin [A, b.B]`
    fn mixins(&mut self) -> Vec<Path> {
        self.bump();
        self.expect(TokenKind::OpenBracket, "[");
        let multi_line = self.at(TokenKind::Newline);
        if multi_line {
            self.skip_newlines();
            self.expect_or_stay(TokenKind::Indent, "indent");
        }
        let mut mixins = Vec::new();
        loop {
            let pos = self.pos;
            self.check_dedent();
            if matches!(self.kind(), TokenKind::CloseBracket | TokenKind::Dedent | TokenKind::Eof) {
                break;
            }
            mixins.push(self.path());
            self.eat(TokenKind::Comma);
            self.skip_newlines();
            self.ensure_progress(pos);
        }
        if multi_line {
            self.check_dedent();
            self.expect_or_stay(TokenKind::Dedent, "dedent");
        }
        self.expect(TokenKind::CloseBracket, "]");
        mixins
    }

    /// Conditions up to the dedent.
    fn checks(&mut self) -> Vec<Check> {
        let mut checks = Vec::new();
        while !self.at(TokenKind::Dedent) {
            let pos = self.pos;
            if self.at(TokenKind::Eof) {
                self.expected(&["newline"]);
                break;
            }
            checks.push(self.check());
            self.skip_newlines();
            self.ensure_progress(pos);
        }
        self.check_dedent();
        self.expect(TokenKind::Dedent, "dedent");
        checks
    }

    /// `test if cond, msg`
    fn check(&mut self) -> Check {
        let start = self.token.start;
        let test = self.simple_expr();
        let if_cond = self.eat(TokenKind::If).then(|| self.simple_expr());
        let msg = self.eat(TokenKind::Comma).then(|| self.primary_expr());
        Check { test, if_cond, msg, span: self.span_from(start) }
    }

    /// `rule Name[params](Parents) for Host: …`
    pub(super) fn rule_stmt(&mut self, decorators: Vec<ExprId>) -> StmtId {
        let start = self.token.start;
        self.bump();
        let name = self.joined_ident();
        let params = self.bracket_params();
        let parents = if self.eat(TokenKind::OpenParen) { self.rule_parents() } else { Vec::new() };
        let for_host = self.for_host();
        self.expect(TokenKind::Colon, ":");
        self.skip_newlines();
        self.expect(TokenKind::Indent, "indent");
        let doc = self.doc();
        self.check_dedent();
        let checks = self.checks();
        let rule = Rule { name, doc, parents, for_host, params, decorators, checks };
        self.add_stmt(Stmt::Rule(Box::new(rule)), start)
    }

    fn rule_parents(&mut self) -> Vec<Path> {
        let mut parents = Vec::new();
        while !self.eat(TokenKind::CloseParen) {
            if matches!(self.kind(), TokenKind::Newline | TokenKind::Eof) {
                self.expected(&[")", ","]);
                break;
            }
            let at = self.token.span();
            let expr = self.expr();
            parents.push(self.expect_path(expr, at));
            if !matches!(
                self.kind(),
                TokenKind::Comma | TokenKind::CloseParen | TokenKind::Newline | TokenKind::Eof
            ) {
                self.expected(&[",", ")"]);
                self.bump();
            }
            self.eat(TokenKind::Comma);
        }
        parents
    }
}

/// Names that end in `Mixin` or `Protocol` say what they are, too.
fn schema_kind(keyword: TokenKind, name: Ident) -> SchemaKind {
    match keyword {
        TokenKind::Mixin => SchemaKind::Mixin,
        TokenKind::Protocol => SchemaKind::Protocol,
        _ if name.name.as_str().ends_with("Mixin") => SchemaKind::Mixin,
        _ if name.name.as_str().ends_with("Protocol") => SchemaKind::Protocol,
        _ => SchemaKind::Schema,
    }
}
