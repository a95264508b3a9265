//! The words of the language.

use base_text::Span;

/// What a token is. Identifiers and keywords come first: a keyword stands for an
/// identifier wherever its own meaning is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Ident,
    As,
    Import,
    Rule,
    Schema,
    Mixin,
    Protocol,
    Check,
    For,
    Assert,
    If,
    Elif,
    Else,
    Or,
    And,
    Not,
    In,
    Is,
    Lambda,
    All,
    Any,
    Filter,
    Map,
    Type,
    True,
    False,
    None,
    Undefined,
    BoolType,
    IntType,
    FloatType,
    StrType,

    Int,
    Float,
    /// A string in one pair of quotes.
    Str,
    /// A string in three pairs of quotes.
    LongStr,

    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    StarStar,
    SlashSlash,
    Caret,
    Amp,
    Pipe,
    Shl,
    Shr,
    PlusEq,
    MinusEq,
    StarEq,
    SlashEq,
    PercentEq,
    StarStarEq,
    SlashSlashEq,
    CaretEq,
    AmpEq,
    PipeEq,
    ShlEq,
    ShrEq,
    EqEq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    Tilde,
    Bang,
    At,
    Dot,
    DotDotDot,
    Comma,
    Colon,
    Arrow,
    Dollar,
    Question,
    Assign,
    OpenParen,
    OpenBracket,
    OpenBrace,
    CloseParen,
    CloseBracket,
    CloseBrace,

    /// Kept only inside `${…}`, where it is a format spec.
    Comment,
    Indent,
    Dedent,
    /// A line that stands between two levels of indentation; the token's `extra` is the
    /// number of spaces too many.
    BadDedent,
    Newline,
    Eof,
}

impl TokenKind {
    /// Whether the token can stand for a name: an identifier or a keyword.
    pub(crate) fn is_ident(self) -> bool {
        self as u8 <= Self::StrType as u8
    }

    /// Whether the token is a number or a string.
    pub(crate) fn is_literal(self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Str | Self::LongStr)
    }

    /// Whether the token is a string.
    pub(crate) fn is_string(self) -> bool {
        matches!(self, Self::Str | Self::LongStr)
    }

    /// Whether no expression goes on behind an operand with this token.
    pub(crate) fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::Newline
                | Self::Comma
                | Self::Assign
                | Self::Colon
                | Self::CloseBrace
                | Self::CloseBracket
                | Self::CloseParen
        )
    }

    /// Whether the token says nothing by itself: line ends and indentation.
    pub(crate) fn is_layout(self) -> bool {
        self as u8 >= Self::Indent as u8
    }

    /// The token in messages (literals are shown by their text instead).
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Int => "integer",
            Self::Float => "float",
            Self::Str | Self::LongStr => "string",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Percent => "%",
            Self::StarStar => "**",
            Self::SlashSlash => "//",
            Self::Caret => "^",
            Self::Amp => "&",
            Self::Pipe => "|",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::PlusEq => "+=",
            Self::MinusEq => "-=",
            Self::StarEq => "*=",
            Self::SlashEq => "/=",
            Self::PercentEq => "%=",
            Self::StarStarEq => "**=",
            Self::SlashSlashEq => "//=",
            Self::CaretEq => "^=",
            Self::AmpEq => "&=",
            Self::PipeEq => "|=",
            Self::ShlEq => "<<=",
            Self::ShrEq => ">>=",
            Self::EqEq => "==",
            Self::NotEq => "!=",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
            Self::Tilde => "~",
            Self::Bang => "not",
            Self::At => "@",
            Self::Dot => ".",
            Self::DotDotDot => "...",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Arrow => "->",
            Self::Dollar => "$",
            Self::Question => "?",
            Self::Assign => "=",
            Self::OpenParen => "(",
            Self::OpenBracket => "[",
            Self::OpenBrace => "{",
            Self::CloseParen => ")",
            Self::CloseBracket => "]",
            Self::CloseBrace => "}",
            Self::Comment => "inline_comment",
            Self::Indent => "indent",
            Self::Dedent | Self::BadDedent => "dedent",
            Self::Newline => "newline",
            Self::Eof => "eof",
            _ => "identifier",
        }
    }
}

/// One word of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// More about it: see [`TokenKind::BadDedent`], [`NUMBER_IS_BAD`], [`ARROW_FOLLOWS`],
    /// [`STRING_IS_OPEN`] and the like.
    pub(crate) extra: u16,
    /// The first byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

impl Token {
    /// Where the token stands.
    pub(crate) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// Set in `extra` of a number that the lexer refused: it counts as 0.
/// The other bits are the length of the unit behind the digits.
pub(crate) const NUMBER_IS_BAD: u16 = 0x8000;

/// The `extra` of a `{` whose `}` is followed by `->`: parameters of a lambda.
pub(crate) const ARROW_FOLLOWS: u16 = 1;

/// Set in `extra` of a string that is not closed.
pub(crate) const STRING_IS_OPEN: u16 = 1;

/// Set in `extra` of a string that may stand for something else than what is written:
/// because of escapes, of line ends other than `\n`, or of errors.
pub(crate) const STRING_IS_ODD: u16 = 2;

/// Set in `extra` of a string with a `$` in it.
pub(crate) const STRING_HAS_DOLLAR: u16 = 4;

/// Which lengths keywords have, by their first byte: one bit each.
const KEYWORD_LENGTHS: [u16; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < KEYWORDS.len() {
        let word = KEYWORDS[at].as_bytes();
        table[word[0] as usize] |= 1 << word.len();
        at += 1;
    }
    table
};

const KEYWORDS: [&str; 31] = [
    "as",
    "if",
    "or",
    "in",
    "is",
    "for",
    "and",
    "not",
    "all",
    "any",
    "map",
    "int",
    "str",
    "rule",
    "elif",
    "else",
    "type",
    "True",
    "None",
    "bool",
    "mixin",
    "check",
    "False",
    "float",
    "import",
    "schema",
    "assert",
    "lambda",
    "filter",
    "protocol",
    "Undefined",
];

/// Whether first byte and length of `word` are those of a keyword.
pub(crate) fn may_be_keyword(word: &[u8]) -> bool {
    let lengths = word.first().map_or(0, |first| KEYWORD_LENGTHS[*first as usize]);
    word.len() < 16 && lengths & 1 << word.len() != 0
}

/// The keyword that `word` is, or [`TokenKind::Ident`].
pub(crate) fn keyword(word: &[u8]) -> TokenKind {
    match word {
        b"as" => TokenKind::As,
        b"if" => TokenKind::If,
        b"or" => TokenKind::Or,
        b"in" => TokenKind::In,
        b"is" => TokenKind::Is,
        b"for" => TokenKind::For,
        b"and" => TokenKind::And,
        b"not" => TokenKind::Not,
        b"all" => TokenKind::All,
        b"any" => TokenKind::Any,
        b"map" => TokenKind::Map,
        b"int" => TokenKind::IntType,
        b"str" => TokenKind::StrType,
        b"rule" => TokenKind::Rule,
        b"elif" => TokenKind::Elif,
        b"else" => TokenKind::Else,
        b"type" => TokenKind::Type,
        b"True" => TokenKind::True,
        b"None" => TokenKind::None,
        b"bool" => TokenKind::BoolType,
        b"mixin" => TokenKind::Mixin,
        b"check" => TokenKind::Check,
        b"False" => TokenKind::False,
        b"float" => TokenKind::FloatType,
        b"import" => TokenKind::Import,
        b"schema" => TokenKind::Schema,
        b"assert" => TokenKind::Assert,
        b"lambda" => TokenKind::Lambda,
        b"filter" => TokenKind::Filter,
        b"protocol" => TokenKind::Protocol,
        b"Undefined" => TokenKind::Undefined,
        _ => TokenKind::Ident,
    }
}

/// Whether a word has a meaning of its own, so that as a name it needs a `$` before it.
pub fn is_keyword(word: &str) -> bool {
    let is_type = matches!(word, "int" | "str" | "bool" | "float");
    !is_type && keyword(word.as_bytes()) != TokenKind::Ident
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_known_by_its_shape() {
        for word in KEYWORDS {
            assert!(may_be_keyword(word.as_bytes()), "{word}");
            assert_ne!(keyword(word.as_bytes()), TokenKind::Ident, "{word}");
        }
    }
}
