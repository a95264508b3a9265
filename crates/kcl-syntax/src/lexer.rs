//! Text to tokens.
//!
//! Line ends and changes of indentation are tokens everywhere, also inside brackets: the
//! parser knows where it lets them pass.

mod indent;
mod number;
pub(crate) mod string;

use crate::error::SyntaxError;
use crate::token::{ARROW_FOLLOWS, Token, TokenKind, keyword, may_be_keyword};
use base_text::Span;
use indent::Level;

pub(crate) use number::{int_value, is_suffix, unit};

/// The tokens of a text, ending in [`TokenKind::Eof`], and its comments.
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Span>,
}

/// Splits a whole file.
pub(crate) fn lex(text: &str, errors: &mut Vec<SyntaxError>) -> Lexed {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    lex_part(text, start, text.len(), errors)
}

/// Splits `start..end` of a file, which is whole top-level statements.
pub(crate) fn lex_part(
    text: &str,
    start: usize,
    end: usize,
    errors: &mut Vec<SyntaxError>,
) -> Lexed {
    let mut lexer = Lexer::new(text, start, end, errors);
    // Dense code has a token for about every three bytes.
    lexer.tokens.reserve((end - start) / 3);
    lexer.run();
    Lexed { tokens: lexer.tokens, comments: lexer.comments }
}

/// Splits the inside of `${…}`, which is `start..end` of `text`; comments are tokens there.
pub(crate) fn lex_interpolation(
    text: &str,
    start: usize,
    end: usize,
    errors: &mut Vec<SyntaxError>,
) -> Vec<Token> {
    let mut lexer = Lexer::new(text, start, end, errors);
    lexer.keeps_comments = true;
    lexer.run();
    lexer.tokens
}

struct Lexer<'t, 'e> {
    text: &'t str,
    /// The text up to the end of the part to be split.
    bytes: &'t [u8],
    pos: usize,
    tokens: Vec<Token>,
    comments: Vec<Span>,
    errors: &'e mut Vec<SyntaxError>,
    keeps_comments: bool,
    /// Whether only blanks stand between the line start and `pos`. The first line has no
    /// indentation, so this starts false.
    at_line_start: bool,
    levels: Vec<Level>,
    /// Open brackets: the kind that closes them, and which token they are.
    open: Vec<(TokenKind, usize)>,
    /// Which token is the `{` that the last `}` closed.
    last_braces: usize,
}

impl<'t, 'e> Lexer<'t, 'e> {
    fn new(text: &'t str, start: usize, end: usize, errors: &'e mut Vec<SyntaxError>) -> Self {
        Self {
            text,
            bytes: &text.as_bytes()[..end],
            pos: start,
            tokens: Vec::new(),
            comments: Vec::new(),
            errors,
            keeps_comments: false,
            at_line_start: false,
            levels: vec![Level::default()],
            open: Vec::new(),
            last_braces: 0,
        }
    }

    fn run(&mut self) {
        while self.pos < self.bytes.len() {
            if self.at_line_start {
                self.line_start();
            } else {
                self.skip_blanks();
                self.token(0);
            }
        }
        self.finish();
    }

    /// The byte `ahead` of the current one; 0 past the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t') {
            self.pos += 1;
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.push_extra(kind, start, 0);
    }

    fn push_extra(&mut self, kind: TokenKind, start: usize, extra: u16) {
        self.tokens.push(Token { kind, extra, start: start as u32, end: self.pos as u32 });
    }

    fn error(&mut self, start: usize, end: usize, message: impl Into<String>) {
        self.errors.push(SyntaxError::new(Span::new(start as u32, end as u32), message));
    }

    /// Takes one token (or something that is none). `n_layout` is the number of tokens that
    /// were just made for a change of indentation: they go where no token follows.
    fn token(&mut self, n_layout: usize) {
        let start = self.pos;
        let Some(byte) = self.bytes.get(start).copied() else { return };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                if matches!(byte, b'r' | b'R') && matches!(self.peek(1), b'"' | b'\'') {
                    self.string(1);
                } else {
                    self.pos += 1;
                    self.word(start);
                }
            }
            b'"' | b'\'' => self.string(0),
            b'0'..=b'9' => self.number(),
            b'\n' => self.newline(1),
            b'\r' if self.peek(1) == b'\n' => self.newline(2),
            b'#' => self.comment(),
            b'$' => {
                self.pos += 1;
                if starts_word(self.rest()) {
                    self.word(start);
                } else {
                    self.push(TokenKind::Dollar, start);
                }
            }
            0..=0x7f => self.symbol(byte, n_layout),
            _ => self.non_ascii(n_layout),
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.pos..self.bytes.len()]
    }

    fn newline(&mut self, len: usize) {
        let start = self.pos;
        self.pos += len;
        self.push(TokenKind::Newline, start);
        self.at_line_start = true;
    }

    fn comment(&mut self) {
        let start = self.pos;
        let tail = &self.bytes[start..];
        let mut len = memchr::memchr(b'\n', tail).unwrap_or(tail.len());
        if len < tail.len() && tail[..len].ends_with(b"\r") {
            len -= 1;
        }
        self.pos += len;
        if self.keeps_comments {
            self.push(TokenKind::Comment, start);
        } else {
            self.comments.push(Span::new(start as u32, self.pos as u32));
        }
    }

    /// Takes the rest of an identifier or keyword that begins at `start`.
    fn word(&mut self, start: usize) {
        let rest = &self.bytes[self.pos..];
        let len = rest.iter().position(|byte| !IS_WORD[*byte as usize]);
        self.pos += len.unwrap_or(rest.len());
        if self.peek(0) >= 0x80 {
            self.pos += word_len(self.rest());
            if self.rest().chars().next().is_some_and(is_emoji) {
                self.pos += emoji_word_len(self.rest());
                self.error(start, self.pos, "unknown start of token");
                return;
            }
        }
        let word = &self.bytes[start..self.pos];
        let kind = if may_be_keyword(word) { keyword(word) } else { TokenKind::Ident };
        self.push(kind, start);
    }

    fn non_ascii(&mut self, n_layout: usize) {
        let start = self.pos;
        let Some(c) = self.rest().chars().next() else { return };
        if unicode_ident::is_xid_start(c) {
            self.word(start);
            return;
        }
        self.drop_layout(n_layout);
        self.pos += c.len_utf8();
        if matches!(c, '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}') {
            return;
        }
        if is_emoji(c) {
            self.pos += emoji_word_len(self.rest());
        }
        self.error(start, self.pos, "unknown start of token");
    }

    fn drop_layout(&mut self, n_layout: usize) {
        self.tokens.truncate(self.tokens.len() - n_layout);
    }

    fn symbol(&mut self, byte: u8, n_layout: usize) {
        let start = self.pos;
        let (kind, len) = match byte {
            b'+' => self.with_eq(TokenKind::Plus, TokenKind::PlusEq),
            b'-' => self.with_eq(TokenKind::Minus, TokenKind::MinusEq),
            b'%' => self.with_eq(TokenKind::Percent, TokenKind::PercentEq),
            b'^' => self.with_eq(TokenKind::Caret, TokenKind::CaretEq),
            b'&' => self.with_eq(TokenKind::Amp, TokenKind::AmpEq),
            b'|' => self.with_eq(TokenKind::Pipe, TokenKind::PipeEq),
            b'=' => self.with_eq(TokenKind::Assign, TokenKind::EqEq),
            b'!' => self.with_eq(TokenKind::Bang, TokenKind::NotEq),
            b'*' => self.doubled(
                TokenKind::Star,
                TokenKind::StarEq,
                TokenKind::StarStar,
                TokenKind::StarStarEq,
            ),
            b'/' => self.doubled(
                TokenKind::Slash,
                TokenKind::SlashEq,
                TokenKind::SlashSlash,
                TokenKind::SlashSlashEq,
            ),
            b'<' => self.doubled(TokenKind::Lt, TokenKind::LtEq, TokenKind::Shl, TokenKind::ShlEq),
            b'>' => self.doubled(TokenKind::Gt, TokenKind::GtEq, TokenKind::Shr, TokenKind::ShrEq),
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => (TokenKind::DotDotDot, 3),
            b'.' => (TokenKind::Dot, 1),
            b'~' => (TokenKind::Tilde, 1),
            b'@' => (TokenKind::At, 1),
            b',' => (TokenKind::Comma, 1),
            b':' => (TokenKind::Colon, 1),
            b'?' => (TokenKind::Question, 1),
            b'(' => (TokenKind::OpenParen, 1),
            b'[' => (TokenKind::OpenBracket, 1),
            b'{' => (TokenKind::OpenBrace, 1),
            b')' => (TokenKind::CloseParen, 1),
            b']' => (TokenKind::CloseBracket, 1),
            b'}' => (TokenKind::CloseBrace, 1),
            _ => return self.no_token(byte, n_layout),
        };
        self.pos += len;
        match kind {
            TokenKind::OpenParen => self.open.push((TokenKind::CloseParen, self.tokens.len())),
            TokenKind::OpenBracket => self.open.push((TokenKind::CloseBracket, self.tokens.len())),
            TokenKind::OpenBrace => self.open.push((TokenKind::CloseBrace, self.tokens.len())),
            TokenKind::CloseParen | TokenKind::CloseBracket | TokenKind::CloseBrace => {
                let kind = self.close(kind);
                self.push(kind, start);
                return;
            }
            TokenKind::Bang => {
                self.error(start, self.pos, "invalid token '!', consider using 'not '");
            }
            // `->`, also when blanks stand between.
            TokenKind::Gt if self.tokens.last().is_some_and(|t| t.kind == TokenKind::Minus) => {
                self.tokens.pop();
                if self.tokens.last().is_some_and(|t| t.kind == TokenKind::CloseBrace)
                    && let Some(braces) = self.tokens.get_mut(self.last_braces)
                {
                    braces.extra = ARROW_FOLLOWS;
                }
                self.push(TokenKind::Arrow, start - 1);
                return;
            }
            _ => {}
        }
        self.push(kind, start);
    }

    fn with_eq(&self, plain: TokenKind, eq: TokenKind) -> (TokenKind, usize) {
        if self.peek(1) == b'=' { (eq, 2) } else { (plain, 1) }
    }

    fn doubled(
        &self,
        one: TokenKind,
        one_eq: TokenKind,
        two: TokenKind,
        two_eq: TokenKind,
    ) -> (TokenKind, usize) {
        match (self.peek(1), self.peek(2)) {
            (next, b'=') if next == self.peek(0) => (two_eq, 3),
            (next, _) if next == self.peek(0) => (two, 2),
            (b'=', _) => (one_eq, 2),
            _ => (one, 1),
        }
    }

    /// Matches a closing bracket with the last open one; a wrong one closes it all the same.
    fn close(&mut self, kind: TokenKind) -> TokenKind {
        let (expected, opened) = self.open.pop().unzip();
        if expected != Some(kind) {
            let message = match kind {
                TokenKind::CloseParen => "error nesting on close paren",
                TokenKind::CloseBrace => "error nesting on close brace",
                _ => "mismatched closing delimiter",
            };
            self.error(self.pos - 1, self.pos, message);
        }
        let kind = expected.unwrap_or(kind);
        if kind == TokenKind::CloseBrace {
            self.last_braces = opened.unwrap_or(usize::MAX);
        }
        kind
    }

    /// Passes what stands for no token.
    fn no_token(&mut self, byte: u8, n_layout: usize) {
        let start = self.pos;
        self.drop_layout(n_layout);
        self.pos += 1;
        match byte {
            b'\r' | b'\x0b' | b'\x0c' => {}
            b'\\' => match self.peek(0) {
                b'\n' => self.pos += 1,
                b'\r' if self.peek(1) == b'\n' => self.pos += 2,
                0 => {}
                _ => self.error(
                    start,
                    self.pos,
                    "unexpected character after line continuation character",
                ),
            },
            b';' => self.error(
                start,
                self.pos,
                "the semicolon ';' here is unnecessary, please remove it",
            ),
            _ => self.error(start, self.pos, "unknown start of token"),
        }
    }

    fn finish(&mut self) {
        let start = self.pos;
        if !self.at_line_start {
            self.push(TokenKind::Newline, start);
        }
        for _ in 1..self.levels.len() {
            self.push(TokenKind::Dedent, start);
        }
        if !self.keeps_comments
            && self.tokens.last().is_some_and(|token| token.kind != TokenKind::Newline)
        {
            self.push(TokenKind::Newline, start);
        }
        self.push(TokenKind::Eof, start);
    }
}

/// The bytes of words in ASCII.
const IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

fn starts_word(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
}

/// The length of the part of a word at the start of `text`.
fn word_len(text: &str) -> usize {
    text.find(|c| !unicode_ident::is_xid_continue(c)).unwrap_or(text.len())
}

/// The length of what is swallowed together with an emoji before `text`.
fn emoji_word_len(text: &str) -> usize {
    text.find(|c| !(unicode_ident::is_xid_continue(c) || is_emoji(c) || c == '\u{200d}'))
        .unwrap_or(text.len())
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}
