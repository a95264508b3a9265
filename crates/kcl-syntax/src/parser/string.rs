//! Strings and what is put into them.

use super::Parser;
use crate::ast::{Expr, ExprId, JoinedString, StringLit, StringPart};
use crate::lexer::lex_interpolation;
use crate::lexer::string::{dedent, normalize};
use crate::token::{STRING_HAS_DOLLAR, STRING_IS_ODD, Token, TokenKind};
use base_text::Span;
use std::borrow::Cow;
use std::mem;

impl<'t> Parser<'t> {
    pub(super) fn string(&mut self) -> ExprId {
        let token = self.token;
        if let Some(value) = self.plain_string(token) {
            self.bump();
            let literal = StringLit { value: value.into(), is_long: false };
            return self.module.add_expr(Expr::String(literal), token.span());
        }
        let parts = self.string_parts(token);
        let value = self.string_value(token);
        self.bump();
        let is_long = token.kind == TokenKind::LongStr;
        let may_interpolate = token.extra & (STRING_HAS_DOLLAR | STRING_IS_ODD) != 0;
        let kind = if may_interpolate && !parts.is_raw() && value.contains("${") {
            let content_start = token.start as usize + parts.open;
            let parts = self.interpolation(&value, parts.content, content_start);
            Expr::Joined(Box::new(JoinedString { parts, is_long }))
        } else {
            Expr::String(StringLit { value: value.into(), is_long })
        };
        self.module.add_expr(kind, token.span())
    }

    /// The text of a string in one pair of quotes that stands for what is written.
    fn plain_string(&self, token: Token) -> Option<&'t str> {
        let (start, end) = (token.start as usize, token.end as usize);
        let is_raw = !matches!(self.text.as_bytes()[start], b'"' | b'\'');
        if token.kind != TokenKind::Str || token.extra != 0 || is_raw {
            return None;
        }
        self.text.get(start + 1..end - 1)
    }

    /// What a string stands for; nothing if it is wrong.
    pub(super) fn string_value(&self, token: Token) -> Cow<'t, str> {
        let parts = self.string_parts(token);
        let value = if token.extra & STRING_IS_ODD == 0 {
            Cow::Borrowed(parts.content)
        } else {
            parts.value().unwrap_or_default()
        };
        if token.kind == TokenKind::LongStr { dedent(value) } else { value }
    }

    /// Splits `value` (with escapes resolved) and `raw` (as written from `raw_start` on) at
    /// the same `${…}`: text comes from the first, expressions from the second.
    fn interpolation(&mut self, value: &str, raw: &'t str, raw_start: usize) -> Vec<StringPart> {
        let mut parts = Vec::new();
        let (mut value_at, mut raw_at) = (0, 0);
        while value_at < value.len() && raw_at < raw.len() {
            let rest = &value[value_at..];
            let raw_rest = &raw[raw_at..];
            let (Some(open), Some(raw_open)) = (rest.find("${"), raw_rest.find("${")) else {
                parts.push(StringPart::Text(rest.into()));
                break;
            };
            let (Some(close), Some(raw_close)) =
                (rest[open..].find('}'), raw_rest[raw_open..].find('}'))
            else {
                self.error(self.token.span(), "invalid joined string");
                parts.push(StringPart::Text(rest.into()));
                break;
            };
            let (close, raw_close) = (open + close + 1, raw_open + raw_close + 1);
            if raw_rest[..raw_open].ends_with('\\') {
                parts.push(StringPart::Text(rest[..close].replace("\\$", "$").into()));
            } else {
                if open > 0 {
                    parts.push(StringPart::Text(rest[..open].into()));
                }
                let start = raw_start + raw_at;
                parts.push(self.interpolated(start + raw_open, start + raw_close));
            }
            value_at += close;
            raw_at += raw_close;
        }
        parts
    }

    /// Parses `${expr: #spec}`, which stands at `start..end` of the text.
    fn interpolated(&mut self, start: usize, end: usize) -> StringPart {
        let inner = Span::new(start as u32 + 2, end as u32 - 1);
        let source = normalize(inner.slice(self.text));
        if source.is_empty() {
            let span = Span::new(start as u32, end as u32);
            self.error(span, "invalid string interpolation expression: ''");
        }
        let n_errors = self.errors.len();
        let tokens = lex_interpolation(self.text, start + 2, end - 1, &mut self.errors);
        if self.stopped {
            self.errors.truncate(n_errors);
        }
        let outer = self.swap_tokens(tokens);
        let value = self.expr();
        let mut spec = None;
        if self.eat(TokenKind::Colon) {
            if self.at(TokenKind::Comment) {
                spec = Some(self.token.span().slice(self.text).into());
            } else {
                self.error(self.token.span(), "invalid joined string spec without #");
            }
            self.bump();
        }
        self.skip_newlines();
        if !source.is_empty() && self.has_next() {
            self.error(inner, format!("invalid string interpolation expression: '{source}'"));
        }
        self.restore_tokens(outer);
        StringPart::Formatted { value, spec }
    }

    fn swap_tokens(&mut self, tokens: Vec<Token>) -> (Vec<Token>, usize, u32) {
        let outer = (mem::replace(&mut self.tokens, tokens), self.pos, self.end);
        self.pos = 0;
        self.token = self.tokens[0];
        outer
    }

    fn restore_tokens(&mut self, (tokens, pos, end): (Vec<Token>, usize, u32)) {
        (self.tokens, self.pos, self.end) = (tokens, pos, end);
        self.token = self.tokens[pos];
        if self.stopped {
            self.stop();
        }
    }
}
