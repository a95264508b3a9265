//! A JSON reader whose messages are those of the server.

use super::tree::Tree;
use std::borrow::Cow;

/// Maximum nesting depth of values.
const MAX_DEPTH: usize = 500;

/// Reads a whole document.
pub(crate) fn read(bytes: &[u8]) -> Result<Tree<'_>, String> {
    let mut reader = Reader { bytes, at: 0, depth: 0 };
    let tree = reader.value()?;
    reader.space();
    match reader.peek() {
        None => Ok(tree),
        Some(_) => reader.unexpected("after top-level value"),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The character here does not belong `place` (or the text ends too soon).
    #[cold]
    fn unexpected<T>(&self, place: &str) -> Result<T, String> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let Some(&first) = rest.first() else {
            return Err("unexpected end of JSON input".to_owned());
        };
        let shown = match first {
            b'\'' => "'\\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            b'\\' => "'\\\\'".to_owned(),
            b'\n' => "'\\n'".to_owned(),
            b'\r' => "'\\r'".to_owned(),
            b'\t' => "'\\t'".to_owned(),
            b' '..=b'~' => format!("'{}'", first as char),
            0..=0x1f | 0x7f => format!("'\\x{first:02x}'"),
            // The server reads bytes, so it shows the character with that number.
            _ if first < 0xa1 || first == 0xad => format!("'\\u{first:04x}'"),
            _ => format!("'{}'", first as char),
        };
        Err(format!("invalid character {shown} {place}"))
    }

    fn value(&mut self) -> Result<Tree<'a>, String> {
        self.space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Tree::String(self.string()?.into_owned())),
            Some(b't') => self.literal("true", Tree::Bool(true)),
            Some(b'f') => self.literal("false", Tree::Bool(false)),
            Some(b'n') => self.literal("null", Tree::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.unexpected("looking for beginning of value"),
        }
    }

    fn nested(
        &mut self,
        read: impl Fn(&mut Self) -> Result<Tree<'a>, String>,
    ) -> Result<Tree<'a>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.unexpected("exceeded max depth");
        }
        self.at += 1;
        let tree = read(self)?;
        self.depth -= 1;
        Ok(tree)
    }

    fn object(&mut self) -> Result<Tree<'a>, String> {
        let mut entries = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Tree::Object(entries));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.unexpected("looking for beginning of object key string");
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return self.unexpected("after object key");
            }
            self.at += 1;
            let item = self.value()?;
            entries.push((key, item));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Tree::Object(entries));
                }
                _ => return self.unexpected("after object key:value pair"),
            }
        }
    }

    fn array(&mut self) -> Result<Tree<'a>, String> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Tree::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Tree::Array(items));
                }
                _ => return self.unexpected("after array element"),
            }
        }
    }

    fn literal(&mut self, word: &str, tree: Tree<'a>) -> Result<Tree<'a>, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let place = format!("in literal {word} (expecting '{}')", expected as char);
                return self.unexpected(&place);
            }
            self.at += 1;
        }
        Ok(tree)
    }

    fn number(&mut self) -> Result<Tree<'a>, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.unexpected("in numeric literal"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.unexpected("after decimal point in numeric literal");
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.unexpected("in exponent of numeric literal");
            }
            self.digits();
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or("0");
        Ok(Tree::Number(Cow::Borrowed(text)))
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => return self.escaped(start),
                None | Some(0..=0x1f) => return self.unexpected("in string literal"),
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads on after the first escape of a string that starts at `start`.
    fn escaped(&mut self, start: usize) -> Result<Cow<'a, str>, String> {
        let mut text: Vec<u8> = self.bytes[start..self.at].to_vec();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(String::from_utf8_lossy(&text).into_owned()));
                }
                Some(b'\\') => {
                    self.at += 1;
                    let character = self.escape()?;
                    text.extend(character.encode_utf8(&mut [0; 4]).bytes());
                }
                None | Some(0..=0x1f) => return self.unexpected("in string literal"),
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.unexpected("in string escape code"),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            let Some(digit) = digit else {
                return self.unexpected("in \\u hexadecimal character escape");
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_other_readers_see() {
        for text in [
            r#"{"a":[1,-2.5e3,true,false,null,"x\n\u00e9\ud83d\ude00\\"],"b":{}}"#,
            "  [ ]  ",
            "\"\"",
            "-7",
            "12345678901234567890",
        ] {
            let expected: serde_json::Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read(text.as_bytes()).expect("JSON").into_value(), expected, "{text}");
        }
    }

    #[test]
    fn messages_name_character_and_place() {
        for (text, message) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\":1", "unexpected end of JSON input"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[tru]", "invalid character ']' in literal true (expecting 'e')"),
            ("[01]", "invalid character '1' after array element"),
            ("[1.]", "invalid character ']' after decimal point in numeric literal"),
            ("[1e]", "invalid character ']' in exponent of numeric literal"),
            ("[-]", "invalid character ']' in numeric literal"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("'", "invalid character '\\'' looking for beginning of value"),
        ] {
            assert_eq!(read(text.as_bytes()).expect_err("no JSON"), message, "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
    }
}
