//! How a string is written: plain, quoted or as a block.
//!
//! The rules are those of libyaml with Unicode allowed and no limit of width, and the
//! caution of the reference: whatever some YAML reader could take for another type is
//! quoted.

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `text`
    Plain,
    /// `'text'`
    Single,
    /// `"text"`
    Double,
    /// `|` and lines
    Literal,
}

/// A string's style, and whether it can be a key on one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) style: Style,
    pub(super) is_simple_key: bool,
}

/// Keys longer than this, in bytes, are written as `? key`.
const SIMPLE_KEY_LIMIT: usize = 128;

/// Decides how to write a string.
pub(super) fn analyze(text: &str) -> Scalar {
    if let Some(style) = plain_style(text) {
        return Scalar { style, is_simple_key: text.len() <= SIMPLE_KEY_LIMIT };
    }
    let traits = Traits::of(text);
    let style = if text.contains('\n') {
        // A block that ends in such a break would run into the next line.
        let runs_on = text.ends_with(['\u{2028}', '\u{2029}']);
        if traits.no_block || runs_on { Style::Double } else { Style::Literal }
    } else if traits.no_single {
        Style::Double
    } else if traits.no_plain || is_ambiguous(text) {
        Style::Single
    } else {
        Style::Plain
    };
    Scalar { style, is_simple_key: !traits.multiline && text.len() <= SIMPLE_KEY_LIMIT }
}

/// Always plain.
const PLAIN: u8 = 0;
/// Plain if no blank follows.
const COLON: u8 = 1;
/// Plain if a plain byte follows.
const SPACE: u8 = 2;
/// Needs a closer look.
const OTHER: u8 = 4;

/// What each byte means inside a plain string.
const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'/'
            | b'='
            | b'+'
            | b'@'
            | b'$'
            | b'('
            | b')'
            | b';' => PLAIN,
            b':' => COLON,
            b' ' => SPACE,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// The quick way for the bulk of strings: ASCII words without anything special.
fn plain_style(text: &str) -> Option<Style> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let all = bytes.iter().fold(0, |all, byte| all | CLASSES[*byte as usize]);
    if all & OTHER != 0 {
        return None;
    }
    // A number to some readers; quotes hide all that the characters above can mean.
    if first.is_ascii_digit() {
        return Some(Style::Single);
    }
    if !(first.is_ascii_alphabetic() || first == b'/' || first == b'_') {
        return None;
    }
    if all != PLAIN {
        let mut previous = PLAIN;
        for byte in bytes {
            let class = CLASSES[*byte as usize];
            if class == COLON && previous == SPACE || class == SPACE && previous != PLAIN {
                return None;
            }
            previous = class;
        }
        if previous != PLAIN {
            return None;
        }
    }
    (bytes.len() > 5 || !is_ambiguous(text)).then_some(Style::Plain)
}

/// Whether some reader could take the plain text for something else than a string.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 12] =
        ["~", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "nan"];
    let bytes = text.as_bytes();
    match bytes.first() {
        None | Some(b'0'..=b'9' | b'-' | b'.' | b'+') => true,
        _ if bytes.len() > 5 => false,
        Some(b'~' | b'y' | b'Y' | b'n' | b'N' | b'o' | b'O' | b't' | b'T' | b'f' | b'F') => {
            WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        Some(_) => false,
    }
}

/// What a look at every character tells about a string.
#[derive(Default)]
struct Traits {
    multiline: bool,
    no_plain: bool,
    no_single: bool,
    no_block: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let mut traits = Self::default();
        if text.starts_with("---") || text.starts_with("...") {
            traits.no_plain = true;
        }
        let mut chars = text.chars().peekable();
        let mut previous = None;
        while let Some(char) = chars.next() {
            let next = chars.peek().copied();
            traits.look_at(previous, char, next);
            previous = Some(char);
        }
        traits
    }

    fn look_at(&mut self, previous: Option<char>, char: char, next: Option<char>) {
        let ends_word = next.is_none_or(is_blank);
        match (previous, char) {
            (
                None,
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`',
            ) => self.no_plain = true,
            (None, '?' | '-') | (_, ':') if ends_word => self.no_plain = true,
            (Some(previous), '#') if is_blank(previous) => self.no_plain = true,
            _ => {}
        }
        if !is_printable(char) {
            self.special();
        }
        if char == ' ' {
            if previous.is_none() || next.is_none() {
                self.no_plain = true;
            }
            if next.is_none() {
                self.no_block = true;
            }
            if previous.is_some_and(is_break) {
                self.no_plain = true;
                self.no_single = true;
            }
        } else if is_break(char) {
            self.multiline = true;
            self.no_plain = true;
            if previous == Some(' ') {
                self.special();
            }
        }
    }

    fn special(&mut self) {
        self.no_plain = true;
        self.no_single = true;
        self.no_block = true;
    }
}

pub(super) fn is_break(char: char) -> bool {
    matches!(char, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\0') || is_break(char)
}

pub(super) fn is_printable(char: char) -> bool {
    matches!(char,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
        | '\u{10000}'..='\u{10ffff}')
        && char != '\u{feff}'
}
