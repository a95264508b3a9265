//! Expressions: operators, conditions, and what follows an operand.

use super::Parser;
use crate::ast::{BinOp, Call, CmpOp, Expr, ExprId, Keyword, Names, Path, Subscript, UnaryOp};
use crate::token::TokenKind;
use base_text::{Name, Span};

/// An operator that waits for its right side, and what was read to its left.
pub(super) struct Frame {
    /// Operators that bind no stronger end the expression that the frame belongs to.
    floor: u8,
    start: u32,
    left: ExprId,
    /// Comparisons read so far: `left < a <= b`.
    compare: Vec<(CmpOp, ExprId)>,
    op: Operator,
}

#[derive(Clone, Copy)]
enum Operator {
    Bin(BinOp),
    Cmp(CmpOp),
    /// `~` or `!`, which stand before an operand only.
    Misplaced,
}

const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "**", "//", "<<", ">>", "^", "&", "|", "and", "or", "as", "==", "!=",
    "<", "<=", ">", ">=", "is", "in", "not in", "not", "is not",
];

impl Parser<'_> {
    /// `simple_expr ["if" simple_expr "else" expr]`
    pub(super) fn expr(&mut self) -> ExprId {
        if let Some(expr) = self.lone_operand() {
            return expr;
        }
        if self.at(TokenKind::Indent) {
            self.unexpected_token();
            self.bump();
        }
        let start = self.token.start;
        let body = self.simple_expr();
        if self.at(TokenKind::If) { self.if_expr(body, start) } else { body }
    }

    fn if_expr(&mut self, body: ExprId, start: u32) -> ExprId {
        self.bump();
        let cond = self.simple_expr();
        let orelse = if !self.at(TokenKind::Else) {
            self.expected(&["else"]);
            self.missing()
        } else if self.enter() {
            self.bump();
            let orelse = self.expr();
            self.leave();
            orelse
        } else {
            self.missing()
        };
        self.add(Expr::If { body, cond, orelse }, start)
    }

    /// Operands and operators, without `if`.
    pub(super) fn simple_expr(&mut self) -> ExprId {
        if !self.enter() {
            return self.missing();
        }
        let start = self.token.start;
        let first = self.unary_expr();
        let expr = match self.operator() {
            None => first,
            Some(_) => self.binary_expr(start, first),
        };
        self.leave();
        expr
    }

    /// Climbs over operators with a stack instead of recursion.
    fn binary_expr(&mut self, start: u32, first: ExprId) -> ExprId {
        let base = self.frames.len();
        let (mut floor, mut start, mut left, mut compare) = (0, start, first, Vec::new());
        loop {
            if let Some((op, power, n_tokens)) = self.operator()
                && power > floor
                && !self.stopped
            {
                if matches!(op, Operator::Misplaced) {
                    self.expected(OPERATORS);
                } else {
                    for _ in 0..n_tokens {
                        self.bump();
                    }
                    self.frames.push(Frame { floor, start, left, compare, op });
                    floor = power;
                    start = self.token.start;
                    compare = Vec::new();
                    left = self.unary_expr();
                    continue;
                }
            } else if !compare.is_empty() {
                left = self.add(Expr::Compare { left, rest: compare }, start);
            }
            // The right side of the last frame is complete.
            if self.frames.len() == base {
                return left;
            }
            let Some(frame) = self.frames.pop() else { return left };
            let right = left;
            (floor, start, left, compare) = (frame.floor, frame.start, frame.left, frame.compare);
            match frame.op {
                Operator::Cmp(op) => compare.push((op, right)),
                Operator::Bin(op) => {
                    if !compare.is_empty() {
                        let rest = std::mem::take(&mut compare);
                        let end = rest.last().map_or(start, |(_, e)| self.module[*e].span.end);
                        let span = Span::new(start, end);
                        left = self.module.add_expr(Expr::Compare { left, rest }, span);
                    }
                    let right = if op == BinOp::As { self.as_type(right) } else { right };
                    left = self.add(Expr::Binary { op, left, right }, start);
                }
                Operator::Misplaced => {}
            }
        }
    }

    /// The name on the right of `as` is a type; anything else is left to later stages.
    fn as_type(&mut self, expr: ExprId) -> ExprId {
        let node = &mut self.module.exprs[expr.index()];
        if let Expr::Ident(path) = &mut node.kind {
            let path = std::mem::replace(path, Path { names: Names::default(), span: node.span });
            let span = node.span;
            let kind = super::types::named(path);
            let ty = self.module.add_type(kind, span);
            self.module.exprs[expr.index()].kind = Expr::Type(ty);
        }
        expr
    }

    /// The operator at the current token, how strongly it binds, and its number of tokens.
    fn operator(&self) -> Option<(Operator, u8, usize)> {
        use Operator::{Bin, Cmp};
        let (op, power) = match self.kind() {
            TokenKind::As => (Bin(BinOp::As), 1),
            TokenKind::Or => (Bin(BinOp::Or), 2),
            TokenKind::And => (Bin(BinOp::And), 3),
            TokenKind::EqEq => (Cmp(CmpOp::Eq), 4),
            TokenKind::NotEq => (Cmp(CmpOp::NotEq), 4),
            TokenKind::In => (Cmp(CmpOp::In), 5),
            TokenKind::Not if self.peek(1) == TokenKind::In => {
                return Some((Cmp(CmpOp::NotIn), 5, 2));
            }
            TokenKind::Is if self.peek(1) == TokenKind::Not => {
                return Some((Cmp(CmpOp::IsNot), 6, 2));
            }
            TokenKind::Is => (Cmp(CmpOp::Is), 6),
            TokenKind::Lt => (Cmp(CmpOp::Lt), 7),
            TokenKind::LtEq => (Cmp(CmpOp::LtE), 7),
            TokenKind::Gt => (Cmp(CmpOp::Gt), 7),
            TokenKind::GtEq => (Cmp(CmpOp::GtE), 7),
            TokenKind::Pipe => (Bin(BinOp::BitOr), 8),
            TokenKind::Caret => (Bin(BinOp::BitXor), 9),
            TokenKind::Amp => (Bin(BinOp::BitAnd), 10),
            TokenKind::Shl => (Bin(BinOp::LShift), 11),
            TokenKind::Shr => (Bin(BinOp::RShift), 11),
            TokenKind::Plus => (Bin(BinOp::Add), 12),
            TokenKind::Minus => (Bin(BinOp::Sub), 12),
            TokenKind::Star => (Bin(BinOp::Mul), 13),
            TokenKind::Slash => (Bin(BinOp::Div), 13),
            TokenKind::Percent => (Bin(BinOp::Mod), 13),
            TokenKind::SlashSlash => (Bin(BinOp::FloorDiv), 13),
            TokenKind::StarStar => (Bin(BinOp::Pow), 14),
            TokenKind::Tilde | TokenKind::Bang => (Operator::Misplaced, 15),
            _ => return None,
        };
        Some((op, power, 1))
    }

    /// One prefix operator, which binds to the next primary expression only.
    fn unary_expr(&mut self) -> ExprId {
        let start = self.token.start;
        let op = match self.kind() {
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Tilde => UnaryOp::Invert,
            TokenKind::Bang | TokenKind::Not => UnaryOp::Not,
            _ => return self.primary_expr(),
        };
        self.bump();
        if op == UnaryOp::Minus
            && let Some(min) = self.min_int(start)
        {
            return min;
        }
        let operand = self.primary_expr();
        self.add(Expr::Unary { op, operand }, start)
    }

    /// An operand with calls, selections and subscripts.
    pub(super) fn primary_expr(&mut self) -> ExprId {
        let start = self.token.start;
        let mut value = self.operand();
        let mut n_members = 0;
        loop {
            if self.at(TokenKind::OpenParen) {
                let (args, kwargs) = self.call_args();
                let call = Call { func: value, args, kwargs };
                value = self.add(Expr::Call(Box::new(call)), start);
            } else if let Some(member) = self.member(value, start) {
                value = member;
            } else {
                return value;
            }
            n_members += 1;
            if self.is_too_long(n_members) {
                return value;
            }
        }
    }

    /// `.name`, `[index]`, `?.name` or `?[index]` behind `value`, if it stands there.
    pub(super) fn member(&mut self, value: ExprId, start: u32) -> Option<ExprId> {
        let kind = match self.kind() {
            TokenKind::Question => self.peek(1),
            kind => kind,
        };
        match kind {
            TokenKind::Dot => Some(self.selector(value, start)),
            TokenKind::OpenBracket => Some(self.subscript(value, start)),
            _ => None,
        }
    }

    fn selector(&mut self, value: ExprId, start: u32) -> ExprId {
        let has_question = self.eat(TokenKind::Question);
        self.bump();
        let attr = self.path();
        self.add(Expr::Selector { value, attr, has_question }, start)
    }

    fn subscript(&mut self, value: ExprId, start: u32) -> ExprId {
        let has_question = self.eat(TokenKind::Question);
        self.bump();
        let mut parts = [None, None, None];
        let mut n_colons = 0;
        let mut consecutive = 0;
        for round in 0..5 {
            match self.kind() {
                TokenKind::CloseBracket => break,
                TokenKind::Colon => {
                    self.bump();
                    n_colons += 1;
                    consecutive -= 1;
                    if n_colons > 2 {
                        self.expected(&["expression", "]"]);
                    }
                }
                _ => {
                    if n_colons == 0 && round == 1 {
                        self.error(self.token.span(), "a list should have only one expr");
                    }
                    let expr = self.expr();
                    parts[n_colons.min(2)] = Some(expr);
                    consecutive += 1;
                    if consecutive > 1 {
                        self.error(self.token.span(), "consecutive exprs found");
                    }
                }
            }
        }
        self.expect_or_stay(TokenKind::CloseBracket, "]");
        let [first, upper, step] = parts;
        let subscript = if n_colons > 0 {
            Subscript { value, index: None, lower: first, upper, step, has_question }
        } else {
            if first.is_none() {
                let text = self.token_text(self.token);
                self.error(self.token.span(), format!("expected expression got {text}"));
            }
            Subscript { value, index: first, lower: None, upper: None, step: None, has_question }
        };
        self.add(Expr::Subscript(Box::new(subscript)), start)
    }

    /// `(a, b, k=v)`
    pub(super) fn call_args(&mut self) -> (Vec<ExprId>, Vec<Keyword>) {
        self.bump();
        let multi_line = self.at(TokenKind::Newline);
        if multi_line {
            self.skip_newlines();
            self.skip_indentation();
        }
        if self.eat(TokenKind::CloseParen) {
            return (Vec::new(), Vec::new());
        }
        let found = self.arguments(multi_line);
        self.eat(TokenKind::Comma);
        self.expect_or_stay(TokenKind::CloseParen, ")");
        found
    }

    fn arguments(&mut self, multi_line: bool) -> (Vec<ExprId>, Vec<Keyword>) {
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        loop {
            let pos = self.pos;
            self.skip_indentation();
            match self.kind() {
                TokenKind::CloseParen | TokenKind::Eof | TokenKind::For => break,
                TokenKind::Newline if !multi_line => break,
                _ => {}
            }
            let token = self.token;
            let expr = self.expr();
            if self.at(TokenKind::Assign) {
                let keyword = self.keyword(expr, token.start);
                kwargs.push(keyword);
            } else {
                if self.is_missing(expr) {
                    self.expected(&[","]);
                    self.bump();
                } else {
                    args.push(expr);
                }
                if !kwargs.is_empty() {
                    self.error(token.span(), "positional argument follows keyword argument");
                }
            }
            self.eat(TokenKind::Comma);
            if multi_line {
                self.skip_newlines();
            }
            self.ensure_progress(pos);
        }
        (args, kwargs)
    }

    /// `=value` behind the name `expr`.
    fn keyword(&mut self, expr: ExprId, start: u32) -> Keyword {
        self.bump();
        let arg = self.take_path(expr).unwrap_or_else(|| {
            self.expected(&["identifier"]);
            self.missing_path(expr)
        });
        let value = self.expr();
        Keyword { arg, value: Some(value), span: self.span_from(start) }
    }

    /// The name that `expr` is; leaves nothing behind in the arena if it can.
    pub(super) fn take_path(&mut self, expr: ExprId) -> Option<Path> {
        if !matches!(self.module[expr].kind, Expr::Ident(_)) {
            return None;
        }
        if expr.index() + 1 == self.module.exprs.len() {
            return match self.module.exprs.pop()?.kind {
                Expr::Ident(path) => Some(path),
                _ => None,
            };
        }
        match &self.module[expr].kind {
            Expr::Ident(path) => Some(path.clone()),
            _ => None,
        }
    }

    /// Stands for a name where `expr` is none.
    pub(super) fn missing_path(&self, expr: ExprId) -> Path {
        let span = self.module[expr].span;
        let ident = crate::ast::Ident { name: Name::new(""), span };
        Path { names: ident.into(), span }
    }

    /// The name that `expr` is, or an error at `at`.
    pub(super) fn expect_path(&mut self, expr: ExprId, at: Span) -> Path {
        self.take_path(expr).unwrap_or_else(|| {
            self.error(at, "expected identifier");
            self.missing_path(expr)
        })
    }
}
