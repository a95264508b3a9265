//! Strings and what is put into them.

use super::Parser;
use crate::ast::{Expr, ExprId, JoinedString, StringLit, StringPart};
use crate::lexer::lex_interpolation;
use crate::lexer::string::{StringParts, normalize};
use crate::token::{STRING_HAS_DOLLAR, STRING_IS_ODD, Token, TokenKind};
use base_text::Span;
use std::borrow::Cow;
use std::mem;
use std::ops::Range;

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
            let parts = self.interpolation(&parts, token.start as usize + parts.open);
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
        parts.dedent(value)
    }

    /// Splits a string at its `${…}`, as written. What an escape stands for (`\x24`, `\x7d`)
    /// never begins or ends an expression.
    fn interpolation(&mut self, literal: &StringParts<'t>, start: usize) -> Vec<StringPart> {
        let margin = literal.margin();
        let text = |range: Range<usize>| literal.text(range, margin);
        let raw = literal.content;
        let mut parts = Vec::new();
        let mut at = 0;
        while at < raw.len() {
            let Some(open) = raw[at..].find("${").map(|len| at + len) else {
                parts.push(StringPart::Text(text(at..raw.len()).into()));
                break;
            };
            let Some(close) = raw[open..].find('}').map(|len| open + len + 1) else {
                self.error(self.token.span(), "invalid joined string");
                parts.push(StringPart::Text(text(at..raw.len()).into()));
                break;
            };
            if raw[at..open].ends_with('\\') {
                parts.push(StringPart::Text(text(at..close).replace("\\$", "$").into()));
            } else {
                let before = text(at..open);
                if !before.is_empty() {
                    parts.push(StringPart::Text(before.into()));
                }
                parts.push(self.interpolated(start + open, start + close));
            }
            at = close;
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
