//! Statements.

use super::Parser;
use super::branches::Branch;
use super::target::Taken;
use crate::ast::{
    Assert, Assign, AugAssign, AugOp, BinOp, Expr, ExprId, If, Import, SchemaAttr, SchemaExpr,
    Stmt, StmtId, StrNode, Type, TypeAlias, TypeId, Unification,
};
use crate::lexer::string::normalize;
use crate::token::TokenKind;
use base_text::Span;

impl Parser<'_> {
    /// Parses the whole text.
    pub(super) fn file(&mut self) {
        self.module.doc = self.doc();
        let mut body = Vec::new();
        while !self.at(TokenKind::Eof) {
            match self.stmt() {
                Some(stmt) => body.push(stmt),
                None => self.bump(),
            }
        }
        self.module.body = body;
    }

    /// A docstring: a long string on a line of its own.
    pub(super) fn doc(&mut self) -> Option<StrNode> {
        if !self.at(TokenKind::LongStr) {
            return None;
        }
        let token = self.token;
        let content = if self.has_docs { self.string_parts(token).content } else { "" };
        let value = if token.extra == 0 { content.into() } else { normalize(content).into() };
        if token.extra == 0 {
            self.bump();
        } else {
            // Interpolations in it are checked like in any string.
            let n_exprs = self.module.exprs.len();
            self.string();
            self.module.exprs.truncate(n_exprs);
        }
        self.skip_newlines();
        Some(StrNode { value, span: token.span() })
    }

    /// Parses a statement; `None` after an error, or at the end of the text.
    pub(super) fn stmt(&mut self) -> Option<StmtId> {
        self.skip_newlines();
        if self.at(TokenKind::Eof) {
            return None;
        }
        if self.at(TokenKind::If) {
            return Some(self.if_stmt());
        }
        let decorators = self.decorators();
        match self.kind() {
            TokenKind::Schema | TokenKind::Mixin | TokenKind::Protocol => {
                return Some(self.schema_stmt(decorators));
            }
            TokenKind::Rule => return Some(self.rule_stmt(decorators)),
            TokenKind::Import => return Some(self.import_stmt()),
            TokenKind::Type => return Some(self.type_alias()),
            TokenKind::Assert => return Some(self.assert_stmt()),
            TokenKind::Tilde | TokenKind::Bang => {
                let start = self.token.start;
                let expr = self.expr();
                let stmt = self.add_stmt(Stmt::Expr(vec![expr]), start);
                self.skip_newlines();
                return Some(stmt);
            }
            TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace => {}
            kind if kind.is_ident() || kind.is_literal() => {}
            _ => {
                self.unexpected_token();
                return None;
            }
        }
        let stmt = self.expr_or_assign(false);
        if stmt.is_none() {
            self.unexpected_token();
        }
        stmt
    }

    pub(super) fn add_stmt(&mut self, kind: Stmt, start: u32) -> StmtId {
        let span = self.span_from(start);
        self.module.add_stmt(kind, span)
    }

    /// What was read since `start`; it stands before `start` if nothing was.
    fn read_since(&self, start: u32) -> Span {
        Span::new(start.min(self.prev_end), start.max(self.prev_end))
    }

    /// Statements between an indent and the dedent that fits.
    fn block(&mut self) -> Vec<StmtId> {
        let mut body = Vec::new();
        if !self.enter() {
            return body;
        }
        self.check_dedent();
        self.expect(TokenKind::Indent, "indent");
        loop {
            if self.at(TokenKind::Eof) {
                break;
            }
            self.check_dedent();
            if self.eat(TokenKind::Dedent) {
                break;
            }
            match self.stmt() {
                Some(stmt) => body.push(stmt),
                None => self.bump(),
            }
        }
        self.leave();
        self.skip_newlines();
        body
    }

    /// An expression, an assignment, a unification or (in a schema) an attribute.
    pub(super) fn expr_or_assign(&mut self, in_schema: bool) -> Option<StmtId> {
        let start = self.token.start;
        let first = self.expr();
        let read = self.read_since(start);
        if self.at(TokenKind::Newline) {
            // The common case of an expression on its own.
            let span = self.module[first].span;
            self.skip_newlines();
            return Some(self.module.add_stmt(Stmt::Expr(vec![first]), span));
        }
        if let Some(op) = self.aug_op() {
            return self.aug_assign(first, op, start);
        }
        let first_span = self.module[first].span;
        let mut pending = Pending { first, read, ty: None, in_schema, start };
        if self.eat(TokenKind::Colon) {
            let ty = self.type_annotation();
            pending.ty = Some(ty);
            if matches!(self.kind(), TokenKind::OpenBrace | TokenKind::OpenParen)
                && let Type::Named(_) = self.module[ty].kind
            {
                return Some(self.unification(first, ty, start));
            }
        }
        if self.at(TokenKind::Assign) {
            return self.assign(&pending);
        }
        let Some(ty) = pending.ty else {
            self.skip_newlines();
            return Some(self.module.add_stmt(Stmt::Expr(vec![first]), first_span));
        };
        self.declaration(first, ty, in_schema, start)
    }

    /// `name: T` without `=`.
    fn declaration(
        &mut self,
        first: ExprId,
        ty: TypeId,
        in_schema: bool,
        start: u32,
    ) -> Option<StmtId> {
        if in_schema {
            let given = self.aug_op().map(|op| {
                self.bump();
                (op, self.expr())
            });
            if let Some(name) = self.path_name(first) {
                return Some(self.plain_attr(name, given, ty, start));
            }
        }
        let value = self.missing();
        let span = self.module[first].span;
        self.skip_newlines();
        self.expected(&["="]);
        if in_schema {
            return None;
        }
        let target = self.take_target(first, span);
        let targets = self.keep_targets(vec![target]);
        let assign = Assign { targets, ty: Some(ty), value };
        Some(self.module.add_stmt(Stmt::Assign(assign), span))
    }

    /// `= b = value` behind the first target.
    fn assign(&mut self, pending: &Pending) -> Option<StmtId> {
        let mut taken = vec![self.take_target(pending.first, pending.read)];
        let mut value = None;
        let mut value_span = pending.read;
        while self.eat(TokenKind::Assign) {
            if let Some(target) = value {
                taken.push(self.take_target(target, value_span));
            }
            let start = self.token.start;
            value = Some(self.expr());
            value_span = self.read_since(start);
        }
        let value = value?;
        if pending.in_schema
            && let Some(ty) = pending.ty
            && let [Taken::Target(target)] = taken.as_slice()
        {
            if let Some(op) = self.aug_op() {
                // `+= value` behind `name: T = value`: the last one counts.
                self.bump();
                let given = (op, self.expr());
                return Some(self.plain_attr(target.name, Some(given), ty, pending.start));
            }
            let name = crate::ast::Ident { name: target.name.name, span: target.span };
            let given = (AugOp::Assign, value);
            return Some(self.plain_attr(name, Some(given), ty, pending.start));
        }
        let span = self.span_from(pending.start);
        let targets = self.keep_targets(taken);
        self.skip_newlines();
        let assign = Assign { targets, ty: pending.ty, value };
        Some(self.module.add_stmt(Stmt::Assign(assign), span))
    }

    /// Ends an attribute of a schema, with the operator and value it is given.
    fn plain_attr(
        &mut self,
        name: crate::ast::Ident,
        given: Option<(AugOp, ExprId)>,
        ty: TypeId,
        start: u32,
    ) -> StmtId {
        let (op, value) = given.unzip();
        let attr = SchemaAttr { name, op, value, is_optional: false, decorators: Vec::new(), ty };
        let stmt = self.add_stmt(Stmt::SchemaAttr(attr), start);
        self.skip_newlines();
        stmt
    }

    /// The augmented assignment at the current token.
    pub(super) fn aug_op(&self) -> Option<AugOp> {
        Some(AugOp::With(match self.kind() {
            TokenKind::PlusEq => BinOp::Add,
            TokenKind::MinusEq => BinOp::Sub,
            TokenKind::StarEq => BinOp::Mul,
            TokenKind::SlashEq => BinOp::Div,
            TokenKind::PercentEq => BinOp::Mod,
            TokenKind::StarStarEq => BinOp::Pow,
            TokenKind::SlashSlashEq => BinOp::FloorDiv,
            TokenKind::CaretEq => BinOp::BitXor,
            TokenKind::AmpEq => BinOp::BitAnd,
            TokenKind::PipeEq => BinOp::BitOr,
            TokenKind::ShlEq => BinOp::LShift,
            TokenKind::ShrEq => BinOp::RShift,
            _ => return None,
        }))
    }

    fn aug_assign(&mut self, first: ExprId, op: AugOp, start: u32) -> Option<StmtId> {
        let span = self.read_since(start);
        self.bump();
        let taken = self.take_target(first, span);
        if let Taken::Illegal { .. } = taken {
            self.keep_targets(vec![taken]);
            self.expr();
            self.skip_newlines();
            return None;
        }
        let value = self.expr();
        let target = self.keep_targets(vec![taken]).pop()?;
        let stmt = self.add_stmt(Stmt::AugAssign(AugAssign { target, op, value }), start);
        self.skip_newlines();
        Some(stmt)
    }

    /// `name: Schema {…}`, at the `{` or `(`.
    fn unification(&mut self, first: ExprId, ty: TypeId, start: u32) -> StmtId {
        let name = match &self.module[ty].kind {
            Type::Named(name) => name.clone(),
            _ => self.missing_path(first),
        };
        let value = if self.at(TokenKind::OpenParen) {
            let (args, kwargs) = self.call_args();
            // Whatever stands there is taken for the `{`.
            let config = self.config();
            let schema = SchemaExpr { name, args, kwargs, config };
            self.add(Expr::Schema(Box::new(schema)), start)
        } else {
            self.schema_expr(name, start)
        };
        let at = Span::new(start, self.module[first].span.end);
        let target = self.expect_path(first, at);
        let stmt = self.add_stmt(Stmt::Unification(Unification { target, value }), start);
        self.skip_newlines();
        stmt
    }

    /// `assert test if cond, msg`
    pub(super) fn assert_stmt(&mut self) -> StmtId {
        let start = self.token.start;
        self.bump();
        let test = self.simple_expr();
        let if_cond = self.eat(TokenKind::If).then(|| self.simple_expr());
        let msg = self.eat(TokenKind::Comma).then(|| self.expr());
        let stmt = self.add_stmt(Stmt::Assert(Assert { test, if_cond, msg }), start);
        self.skip_newlines();
        stmt
    }

    /// `import .a.b as c`
    fn import_stmt(&mut self) -> StmtId {
        let start = self.token.start;
        self.bump();
        let path_start = self.token.start;
        let mut value = String::new();
        while self.eat(TokenKind::DotDotDot) {
            value.push_str("...");
        }
        while self.eat(TokenKind::Dot) {
            value.push('.');
        }
        let name = self.joined_ident();
        value.push_str(name.name.as_str());
        let path = StrNode { value: value.into(), span: self.span_from(path_start) };
        let mut asname = None;
        if self.eat(TokenKind::As) {
            let alias = self.path();
            if let [only] = alias.names.as_slice() {
                asname = Some(*only);
            } else {
                self.error(self.token.span(), "Invalid import asname");
            }
        }
        let stmt = self.add_stmt(Stmt::Import(Import { path, asname }), start);
        self.skip_newlines();
        stmt
    }

    /// `type Name = T`; the statement starts at the name.
    fn type_alias(&mut self) -> StmtId {
        self.bump();
        let token = self.token;
        let expr = self.expr();
        let name = super::join(&self.expect_path(expr, token.span()));
        self.expect(TokenKind::Assign, "=");
        let ty = self.type_annotation();
        let stmt = self.add_stmt(Stmt::TypeAlias(TypeAlias { name, ty }), token.start);
        self.skip_newlines();
        stmt
    }

    /// `if cond: … elif cond: … else: …`
    pub(super) fn if_stmt(&mut self) -> StmtId {
        let start = self.token.start;
        let mut branches = self.branches(Self::if_body);
        let mut orelse = if self.at(TokenKind::Else) { self.else_body() } else { Vec::new() };
        let whole = self.span_from(start);
        let mut stmt = None;
        while let Some(Branch { span, cond, body }) = branches.pop() {
            let end = orelse.last().map_or(span.end, |last: &StmtId| self.module[*last].span.end);
            let span = if branches.is_empty() { whole } else { Span::new(span.start, end) };
            let id = self.module.add_stmt(Stmt::If(If { cond, body, orelse }), span);
            orelse = vec![id];
            stmt = Some(id);
        }
        self.skip_newlines();
        stmt.unwrap_or_else(|| self.add_stmt(Stmt::Expr(Vec::new()), start))
    }

    fn else_body(&mut self) -> Vec<StmtId> {
        let start = self.token.start;
        self.bump();
        if self.at(TokenKind::If) {
            let span = Span::new(start, self.token.end);
            self.error(span, "'else if' here is invalid in KCL, consider using the 'elif' keyword");
            self.bump();
        }
        self.expect(TokenKind::Colon, ":");
        self.if_body()
    }

    /// One statement on the line, or a block.
    fn if_body(&mut self) -> Vec<StmtId> {
        if self.at(TokenKind::Newline) {
            self.skip_newlines();
            return self.block();
        }
        let stmt = self.expr_or_assign(false);
        if stmt.is_none() {
            self.bump();
        }
        stmt.into_iter().collect()
    }
}

/// What was read before the first `=` of an assignment.
struct Pending {
    first: ExprId,
    /// Where the target was read.
    read: Span,
    ty: Option<TypeId>,
    in_schema: bool,
    start: u32,
}
