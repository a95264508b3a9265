//! Operands: names, literals, brackets, lambdas, quantifiers.

use super::{MAX_DEPTH, Parser};
use crate::ast::{Call, Constant, Expr, ExprId, Lambda, Number, Path, Quant, QuantOp, SchemaExpr};
use crate::lexer::{int_value, unit};
use crate::token::{ARROW_FOLLOWS, NUMBER_IS_BAD, Token, TokenKind};

const OPERAND: &[&str] = &["identifier", "literal", "(", "[", "{"];

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> ExprId {
        match self.kind() {
            TokenKind::None => self.constant(Constant::None),
            TokenKind::Undefined => self.constant(Constant::Undefined),
            TokenKind::True => self.constant(Constant::True),
            TokenKind::False => self.constant(Constant::False),
            TokenKind::Lambda => self.lambda(),
            TokenKind::All => self.quant(QuantOp::All),
            TokenKind::Any => self.quant(QuantOp::Any),
            TokenKind::Map => self.quant(QuantOp::Map),
            TokenKind::Filter => self.quant(QuantOp::Filter),
            TokenKind::Int | TokenKind::Float => self.number(),
            TokenKind::Str | TokenKind::LongStr => self.string(),
            TokenKind::OpenParen => self.paren(),
            TokenKind::OpenBracket => self.list(),
            TokenKind::OpenBrace => self.config(),
            kind if kind.is_ident() => self.name_or_schema(),
            _ => {
                self.expected(OPERAND);
                self.missing()
            }
        }
    }

    /// A name or literal that is an expression of its own, as most are: the token behind it
    /// says so.
    pub(super) fn lone_operand(&mut self) -> Option<ExprId> {
        if self.depth >= MAX_DEPTH || !self.peek(1).ends_operand() {
            return None;
        }
        let expr = match self.kind() {
            TokenKind::Ident => {
                let ident = self.ident();
                let path = Path { names: ident.into(), span: ident.span };
                self.module.add_expr(Expr::Ident(path), ident.span)
            }
            TokenKind::Int | TokenKind::Float => self.number(),
            TokenKind::Str => self.string(),
            TokenKind::True => self.constant(Constant::True),
            TokenKind::False => self.constant(Constant::False),
            TokenKind::None => self.constant(Constant::None),
            TokenKind::Undefined => self.constant(Constant::Undefined),
            _ => return None,
        };
        Some(expr)
    }

    fn constant(&mut self, constant: Constant) -> ExprId {
        let start = self.token.start;
        self.bump();
        self.add(Expr::Constant(constant), start)
    }

    fn paren(&mut self) -> ExprId {
        let start = self.token.start;
        self.bump();
        let inner = self.expr();
        self.expect_or_stay(TokenKind::CloseParen, ")");
        self.add(Expr::Paren(inner), start)
    }

    /// `a.b`, `f(x)`, `Name {…}`, `Name(x) {…}`
    fn name_or_schema(&mut self) -> ExprId {
        let start = self.token.start;
        let name = self.path();
        match self.kind() {
            TokenKind::OpenBrace => self.schema_expr(name, start),
            TokenKind::OpenParen => {
                let name_span = name.span;
                let func = self.module.add_expr(Expr::Ident(name), name_span);
                let (args, kwargs) = self.call_args();
                if self.at(TokenKind::OpenBrace) {
                    let name = match &self.module[func].kind {
                        Expr::Ident(name) => name.clone(),
                        _ => self.missing_path(func),
                    };
                    let config = self.config();
                    let schema = SchemaExpr { name, args, kwargs, config };
                    self.add(Expr::Schema(Box::new(schema)), start)
                } else {
                    self.add(Expr::Call(Box::new(Call { func, args, kwargs })), start)
                }
            }
            _ => self.add(Expr::Ident(name), start),
        }
    }

    /// `{…}` behind the name of a schema.
    pub(super) fn schema_expr(&mut self, name: Path, start: u32) -> ExprId {
        let config = self.config();
        let schema = SchemaExpr { name, args: Vec::new(), kwargs: Vec::new(), config };
        self.add(Expr::Schema(Box::new(schema)), start)
    }

    /// `all k, v in target { test if cond }`
    fn quant(&mut self, op: QuantOp) -> ExprId {
        let start = self.token.start;
        self.bump();
        let mut vars = vec![self.joined_ident()];
        if self.eat(TokenKind::Comma) {
            vars.push(self.joined_ident());
        }
        self.expect_or_stay(TokenKind::In, "in");
        let target = self.quant_target();
        self.expect_or_stay(TokenKind::OpenBrace, "{");
        let multi_line = self.at(TokenKind::Newline);
        if multi_line {
            self.skip_newlines();
            self.expect_or_stay(TokenKind::Indent, "indent");
        }
        let test = self.simple_expr();
        let if_cond = self.eat(TokenKind::If).then(|| self.expr());
        if multi_line {
            if self.at(TokenKind::Newline) {
                self.skip_newlines();
            } else {
                self.expected(&["newline"]);
            }
            self.check_dedent();
            self.expect_or_stay(TokenKind::Dedent, "dedent");
        }
        self.expect_or_stay(TokenKind::CloseBrace, "}");
        self.add(Expr::Quant(Box::new(Quant { op, vars, target, test, if_cond })), start)
    }

    fn quant_target(&mut self) -> ExprId {
        match self.kind() {
            TokenKind::None
            | TokenKind::Undefined
            | TokenKind::Lambda
            | TokenKind::Any
            | TokenKind::All
            | TokenKind::Map
            | TokenKind::Filter => {
                self.expected(&["None", "Undefined", "lambda", "any", "all", "map", "filter"]);
                self.missing()
            }
            TokenKind::Str | TokenKind::LongStr => self.string(),
            TokenKind::Int | TokenKind::Float => {
                self.expected(&["str"]);
                self.missing()
            }
            TokenKind::OpenBracket => self.list(),
            TokenKind::OpenBrace => self.config(),
            TokenKind::OpenParen => {
                self.expected(&["[", "{"]);
                self.missing()
            }
            kind if kind.is_ident() => {
                let start = self.token.start;
                let path = self.path();
                let mut target = self.add(Expr::Ident(path), start);
                let mut n_members = 0;
                while let Some(longer) = self.member(target, start) {
                    target = longer;
                    n_members += 1;
                    if self.is_too_long(n_members) {
                        break;
                    }
                }
                target
            }
            _ => {
                self.expected(&["identifier", "literal"]);
                self.missing()
            }
        }
    }

    /// `lambda params -> ret { body }`
    fn lambda(&mut self) -> ExprId {
        let start = self.token.start;
        self.bump();
        let params = match self.kind() {
            TokenKind::OpenBrace if self.token.extra == ARROW_FOLLOWS => Some(self.braced_params()),
            TokenKind::Arrow
            | TokenKind::OpenParen
            | TokenKind::OpenBracket
            | TokenKind::OpenBrace => None,
            _ => Some(self.lambda_params()),
        };
        let return_ty = self.eat(TokenKind::Arrow).then(|| self.type_annotation());
        self.expect(TokenKind::OpenBrace, "{");
        if self.at(TokenKind::Newline) {
            self.skip_newlines();
        }
        let mut body = Vec::new();
        loop {
            let pos = self.pos;
            self.skip_indentation();
            if matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Eof) {
                break;
            }
            match self.stmt() {
                Some(stmt) => {
                    body.push(stmt);
                    self.skip_newlines();
                }
                None => self.bump(),
            }
            self.ensure_progress(pos);
        }
        self.expect(TokenKind::CloseBrace, "}");
        self.add(Expr::Lambda(Box::new(Lambda { params, return_ty, body })), start)
    }

    fn number(&mut self) -> ExprId {
        let token = self.token;
        let number = self.number_value(token).unwrap_or_else(|| {
            let is_int = token.kind == TokenKind::Int;
            self.expected(&[if is_int { "int" } else { "float" }]);
            if is_int { Number::Int(0) } else { Number::Float(0.0) }
        });
        self.bump();
        self.add(Expr::Number(number), token.start)
    }

    /// The value of a number; `None` if it has none that fits.
    pub(super) fn number_value(&self, token: Token) -> Option<Number> {
        let text = token.span().slice(self.text);
        let is_bad = token.extra & NUMBER_IS_BAD != 0;
        let suffix_len = usize::from(token.extra & !NUMBER_IS_BAD);
        let (digits, suffix) = text.split_at(text.len() - suffix_len);
        if token.kind == TokenKind::Float {
            return if is_bad {
                Some(Number::Float(0.0))
            } else {
                digits.parse().ok().map(Number::Float)
            };
        }
        let value = if is_bad { 0 } else { i64::try_from(int_value(digits)?).ok()? };
        Some(match unit(suffix) {
            Some(unit) => Number::Unit { value, unit },
            None => Number::Int(value),
        })
    }

    /// The smallest integer, whose digits alone do not fit: `-9223372036854775808`.
    pub(super) fn min_int(&mut self, start: u32) -> Option<ExprId> {
        let is_min = self.at(TokenKind::Int)
            && self.token.extra == 0
            && int_value(self.token.span().slice(self.text)) == Some(i64::MIN.unsigned_abs());
        if !is_min {
            return None;
        }
        self.bump();
        Some(self.add(Expr::Number(Number::Int(i64::MIN)), start))
    }
}
