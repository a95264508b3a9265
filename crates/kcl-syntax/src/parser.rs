//! Tokens to syntax tree.
//!
//! Recursive descent, with recovery: a missing token is reported and the parser goes on.
//! Which tokens are then passed over follows the reference, so that the errors do too.

mod branches;
mod cache;
mod config;
mod expr;
mod list;
mod operand;
mod params;
mod schema;
mod stmt;
mod string;
mod target;
mod types;

use crate::ast::{ConfigEntry, Expr, ExprId, Ident, Module, Path, TypeId};
use crate::error::{SyntaxError, dedup};
use crate::lexer::string::StringParts;
use crate::lexer::{Lexed, is_suffix, lex, lex_part};
use crate::token::{NUMBER_IS_BAD, STRING_IS_OPEN, Token, TokenKind};
use base_text::{Name, Span};
use cache::NameCache;

/// How deep brackets, blocks and types may nest.
///
/// The parser needs up to about 4 KiB of stack for a level in an unoptimized build, and the
/// later stages recurse over the tree too.
const MAX_DEPTH: u32 = 1000;

/// The tree of a file and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree.
    pub module: Module,
    /// Syntax errors in the order they were found.
    pub diagnostics: Vec<SyntaxError>,
}

/// One expression in a tree of its own.
#[derive(Clone, Debug)]
pub struct ParsedExpr {
    /// The arena; its body is empty.
    pub module: Module,
    /// The expression.
    pub root: ExprId,
    /// Syntax errors in the order they were found.
    pub errors: Vec<SyntaxError>,
}

/// One type annotation in a tree of its own.
#[derive(Clone, Debug)]
pub struct ParsedType {
    /// The arena; its body is empty.
    pub module: Module,
    /// The type.
    pub root: TypeId,
    /// Syntax errors in the order they were found.
    pub errors: Vec<SyntaxError>,
}

/// Parses a file.
pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser::new(text);
    parser.file();
    dedup(&mut parser.errors);
    Parsed { module: parser.module, diagnostics: parser.errors }
}

/// Parses a file like [`parse`], but leaves the texts of docstrings out: they are empty.
///
/// For those who run a program: docstrings are most of the text of many packages.
pub fn parse_code(text: &str) -> Parsed {
    let mut parser = Parser::new(text);
    parser.has_docs = false;
    parser.file();
    dedup(&mut parser.errors);
    Parsed { module: parser.module, diagnostics: parser.errors }
}

/// Parses some top-level statements of a file: one in each of `ranges`, which are ascending
/// and start at the start of a line.
///
/// Docstrings have no texts, as with [`parse_code`]. Nodes stand where they do in the tree of
/// the whole file, but have other numbers. `None` if
/// something is wrong with a statement or there is not exactly one in a range.
pub fn parse_parts(text: &str, ranges: impl IntoIterator<Item = Span>) -> Option<Module> {
    let mut module = Module::default();
    let mut names = NameCache::default();
    u32::try_from(text.len()).ok()?;
    for range in ranges {
        let (start, end) = (range.start as usize, range.end as usize);
        text.get(start..end)?;
        let mut errors = Vec::new();
        let Lexed { tokens, .. } = lex_part(text, start, end, &mut errors);
        let mut parser = Parser::with_tokens(text, tokens, module, errors);
        parser.names = names;
        parser.has_docs = false;
        let stmt = parser.stmt()?;
        parser.skip_newlines();
        if !parser.at(TokenKind::Eof) || !parser.errors.is_empty() || parser.stopped {
            return None;
        }
        (module, names) = (parser.module, parser.names);
        module.body.push(stmt);
    }
    Some(module)
}

/// Parses an expression; anything behind it is an error.
pub fn parse_expr(text: &str) -> ParsedExpr {
    let mut parser = Parser::new(text);
    let root = parser.expr();
    parser.expect_end();
    ParsedExpr { module: parser.module, root, errors: parser.errors }
}

/// Parses a type annotation; anything behind it is an error.
pub fn parse_type(text: &str) -> ParsedType {
    let mut parser = Parser::new(text);
    let root = parser.type_annotation();
    parser.expect_end();
    ParsedType { module: parser.module, root, errors: parser.errors }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The index of `token`.
    pos: usize,
    /// The current token.
    token: Token,
    /// The end of the last token passed that is more than layout.
    end: u32,
    /// The end of the last token passed.
    prev_end: u32,
    module: Module,
    errors: Vec<SyntaxError>,
    /// Names met lately.
    names: NameCache,
    depth: u32,
    /// Set when the nesting is too deep: the rest of the text is left out, silently.
    stopped: bool,
    /// Operators that wait for their right side; see [`expr`].
    frames: Vec<expr::Frame>,
    /// Entries and items of configs and lists that are being read, the innermost last.
    entries: Vec<ConfigEntry>,
    items: Vec<ExprId>,
    /// Whether the texts of docstrings are kept.
    has_docs: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let mut errors = Vec::new();
        let text = if u32::try_from(text.len()).is_ok() {
            text
        } else {
            errors.push(SyntaxError::new(Span::default(), "the file is too large"));
            ""
        };
        let Lexed { tokens, comments } = lex(text, &mut errors);
        let mut module = Module { comments, ..Module::default() };
        module.exprs.reserve(tokens.len() / 3);
        Self::with_tokens(text, tokens, module, errors)
    }

    /// Makes a parser that adds to `module`; the tokens end in [`TokenKind::Eof`].
    fn with_tokens(
        text: &'t str,
        tokens: Vec<Token>,
        module: Module,
        errors: Vec<SyntaxError>,
    ) -> Self {
        let token = tokens[0];
        Self {
            text,
            tokens,
            pos: 0,
            token,
            end: token.start,
            prev_end: token.start,
            module,
            errors,
            names: NameCache::default(),
            depth: 0,
            stopped: false,
            frames: Vec::new(),
            entries: Vec::new(),
            items: Vec::new(),
            has_docs: true,
        }
    }

    fn kind(&self) -> TokenKind {
        self.token.kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    /// The kind of the token `ahead` of the current one.
    fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.pos + ahead).map_or(TokenKind::Eof, |token| token.kind)
    }

    /// Whether a token follows the current one.
    fn has_next(&self) -> bool {
        self.pos + 1 < self.tokens.len()
    }

    fn bump(&mut self) {
        self.prev_end = self.token.end;
        if !self.token.kind.is_layout() {
            self.end = self.token.end;
        }
        if let Some(token) = self.tokens.get(self.pos + 1) {
            self.token = *token;
            self.pos += 1;
        }
    }

    /// Passes the current token if it is a `kind`.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Passes the current token, and says so if it is not a `kind`, which is written `text`.
    fn expect(&mut self, kind: TokenKind, text: &'static str) {
        if !self.at(kind) {
            self.expected(&[text]);
        }
        self.bump();
    }

    /// Passes the current token only if it is a `kind`, which is written `text`.
    fn expect_or_stay(&mut self, kind: TokenKind, text: &'static str) {
        if !self.eat(kind) {
            self.expected(&[text]);
        }
    }

    fn skip_newlines(&mut self) {
        while self.at(TokenKind::Newline) {
            self.bump();
        }
    }

    /// Passes changes of indentation, where they mean nothing.
    fn skip_indentation(&mut self) {
        while self.at(TokenKind::Indent) {
            self.bump();
        }
        self.skip_dedents();
    }

    fn skip_dedents(&mut self) {
        while matches!(self.kind(), TokenKind::Dedent | TokenKind::BadDedent) {
            self.bump();
        }
    }

    /// Reports and passes a line that stands between two levels of indentation.
    fn check_dedent(&mut self) {
        if self.at(TokenKind::BadDedent) {
            let n = self.token.extra;
            let unit = if n == 1 { "space" } else { "spaces" };
            self.error(
                self.token.span(),
                format!("invalid indentation with {n} {unit}, try to align indents by adding or removing spaces"),
            );
            self.bump();
        }
    }

    /// Makes sure that a loop goes on: passes a token if none was since `pos`.
    fn ensure_progress(&mut self, pos: usize) {
        if self.pos == pos {
            let message = format!("expected expression, got {}", self.token_text(self.token));
            self.error(self.token.span(), message);
            self.bump();
        }
    }

    fn expect_end(&mut self) {
        self.skip_newlines();
        if !self.at(TokenKind::Eof) {
            self.unexpected_token();
        }
        dedup(&mut self.errors);
    }

    #[cold]
    fn error(&mut self, span: Span, message: impl Into<String>) {
        if !self.stopped {
            self.errors.push(SyntaxError::new(span, message));
        }
    }

    /// Says that one of `texts` should stand at the current token.
    #[cold]
    fn expected(&mut self, texts: &[&str]) {
        self.expected_at(texts, self.token);
    }

    #[cold]
    fn expected_at(&mut self, texts: &[&str], token: Token) {
        let message = format!("expected one of {texts:?} got {}", self.token_text(token));
        self.error(token.span(), message);
    }

    #[cold]
    fn unexpected_token(&mut self) {
        let message = format!("unexpected token '{}'", self.token_text(self.token));
        self.error(self.token.span(), message);
    }

    /// The token in messages.
    fn token_text(&self, token: Token) -> String {
        let text = token.span().slice(self.text);
        match token.kind {
            TokenKind::Int | TokenKind::Float if token.extra & NUMBER_IS_BAD != 0 => "0".into(),
            TokenKind::Int | TokenKind::Float => {
                let (digits, suffix) = text.split_at(text.len() - usize::from(token.extra));
                let shows_suffix = token.kind == TokenKind::Int && is_suffix(suffix);
                if shows_suffix { text } else { digits }.into()
            }
            TokenKind::Str | TokenKind::LongStr => {
                self.string_parts(token).value().unwrap_or_default().into()
            }
            kind => kind.describe().into(),
        }
    }

    fn string_parts(&self, token: Token) -> StringParts<'t> {
        let text = token.span().slice(self.text);
        let is_closed = token.extra & STRING_IS_OPEN == 0;
        StringParts::new(text, token.kind == TokenKind::LongStr, is_closed)
    }

    /// Goes one level deeper; false (and the parser at the end of the text) if that is too deep.
    fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.too_deep();
            return false;
        }
        self.depth += 1;
        true
    }

    /// Stops at a chain (of `elif`s, of calls …) that makes the tree too deep.
    fn is_too_long(&mut self, n_links: usize) -> bool {
        let is_too_long = n_links >= MAX_DEPTH as usize;
        if is_too_long {
            self.too_deep();
        }
        is_too_long
    }

    #[cold]
    fn too_deep(&mut self) {
        self.error(self.token.span(), format!("nested more than {MAX_DEPTH} levels deep"));
        self.stop();
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.pos = self.tokens.len() - 1;
        self.token = self.tokens[self.pos];
    }

    /// From `start` to the last token passed.
    fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.end.max(start))
    }

    fn add(&mut self, kind: Expr, start: u32) -> ExprId {
        let span = self.span_from(start);
        self.module.add_expr(kind, span)
    }

    /// Stands for the expression that should be at the current token.
    fn missing(&mut self) -> ExprId {
        let span = self.token.span();
        self.module.add_expr(Expr::Missing, span)
    }

    fn is_missing(&self, expr: ExprId) -> bool {
        matches!(self.module[expr].kind, Expr::Missing)
    }

    /// Passes a name, or reports that it is missing; then its text is empty.
    fn ident(&mut self) -> Ident {
        let token = self.token;
        if token.kind.is_ident() {
            let text = token.span().slice(self.text);
            let name = self.names.get(text.strip_prefix('$').unwrap_or(text));
            self.bump();
            Ident { name, span: token.span() }
        } else {
            self.expected(&["identifier"]);
            Ident { name: Name::new(""), span: Span::empty(token.start) }
        }
    }

    /// Passes a dotted name.
    fn path(&mut self) -> Path {
        let start = self.token.start;
        if !self.kind().is_ident() {
            let ident = self.ident();
            return Path { names: ident.into(), span: ident.span };
        }
        let first = self.ident();
        if !self.at(TokenKind::Dot) {
            return Path { names: first.into(), span: self.span_from(start) };
        }
        let mut names = vec![first];
        while self.eat(TokenKind::Dot) {
            names.push(self.ident());
        }
        Path { names: names.into(), span: self.span_from(start) }
    }

    /// Passes a dotted name and takes it as one word.
    fn joined_ident(&mut self) -> Ident {
        let path = self.path();
        join(&path)
    }
}

/// A dotted name as one word.
fn join(path: &Path) -> Ident {
    let name = match path.names.as_slice() {
        [only] => only.name,
        names => {
            let names: Vec<&str> = names.iter().map(|ident| ident.name.as_str()).collect();
            Name::new(&names.join("."))
        }
    };
    Ident { name, span: path.span }
}
