//! Reading JSON.

use crate::{Dict, Entry, Fault, Origin, Result, Slot, Str, Value};

/// Lists and dicts may be this deep.
const DEPTH_LIMIT: usize = 127;

/// Reads one JSON value; keys keep their order, of equal keys the last one counts.
pub fn parse(text: &str) -> Result<Value> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.blanks();
    let value = reader.value()?;
    reader.blanks();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.fault("trailing characters")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// A fault at the next byte.
    #[cold]
    #[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
    fn fault(&self, message: &str) -> Box<Fault> {
        self.fault_at(message, self.at + 1)
    }

    /// A fault at the byte before `end`, counted from 1; at the end the last one counts.
    #[cold]
    #[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
    fn fault_at(&self, message: &str, end: usize) -> Box<Fault> {
        let before = &self.text.as_bytes()[..end.min(self.text.len())];
        let mut lines = before.split(|byte| *byte == b'\n');
        let column = lines.next_back().map_or(0, <[u8]>::len);
        let line = 1 + lines.count();
        Fault::new(format!("{message} at line {line} column {column}"))
    }

    fn value(&mut self) -> Result<Value> {
        match self.peek() {
            None => Err(self.fault("EOF while parsing a value")),
            Some(b'n') => self.word("null", Value::None),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'"') => Ok(Value::str(self.string()?)),
            Some(open @ (b'[' | b'{')) => {
                if self.depth == DEPTH_LIMIT {
                    return Err(self.fault("recursion limit exceeded"));
                }
                self.depth += 1;
                self.at += 1;
                let value = if open == b'[' { self.list() } else { self.dict() };
                self.depth -= 1;
                value
            }
            Some(_) => Err(self.fault("expected value")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        for expected in word.bytes() {
            match self.peek() {
                Some(byte) if byte == expected => self.at += 1,
                Some(_) => return Err(self.fault("expected ident")),
                None => return Err(self.fault("EOF while parsing a value")),
            }
        }
        Ok(value)
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fault("invalid number"));
            }
        } else if !self.digits() {
            return Err(self.number_fault());
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            if !self.digits() {
                return Err(self.number_fault());
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.digits() {
                return Err(self.number_fault());
            }
        }
        let text = &self.text[start..self.at];
        if is_integer
            && text != "-0"
            && let Ok(number) = text.parse()
        {
            return Ok(Value::Int(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => Err(self.fault_at("number out of range", self.at)),
        }
    }

    #[cold]
    #[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
    fn number_fault(&self) -> Box<Fault> {
        match self.peek() {
            Some(_) => self.fault("invalid number"),
            None => self.fault("EOF while parsing a value"),
        }
    }

    fn list(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            self.blanks();
            if self.peek().is_none() {
                return Err(self.fault(if items.is_empty() {
                    "EOF while parsing a list"
                } else {
                    "EOF while parsing a value"
                }));
            }
            items.push(self.value()?);
            self.blanks();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.blanks();
                    if self.peek() == Some(b']') {
                        return Err(self.fault("trailing comma"));
                    }
                }
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::list(items));
                }
                Some(_) => return Err(self.fault("expected `,` or `]`")),
                None => return Err(self.fault("EOF while parsing a list")),
            }
        }
    }

    fn dict(&mut self) -> Result<Value> {
        let mut dict = Dict::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::dict(dict));
        }
        let mut first = true;
        loop {
            self.blanks();
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return Err(self.fault("key must be a string")),
                None if first => return Err(self.fault("EOF while parsing an object")),
                None => return Err(self.fault("EOF while parsing a value")),
            }
            first = false;
            let key = Str::from(self.string()?);
            self.blanks();
            match self.peek() {
                Some(b':') => self.at += 1,
                Some(_) => return Err(self.fault("expected `:`")),
                None => return Err(self.fault("EOF while parsing an object")),
            }
            self.blanks();
            let value = self.value()?;
            dict.put(Entry { key, value, slot: Slot::default(), origin: Origin::default() });
            self.blanks();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.blanks();
                    if self.peek() == Some(b'}') {
                        return Err(self.fault("trailing comma"));
                    }
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::dict(dict));
                }
                Some(_) => return Err(self.fault("expected `,` or `}`")),
                None => return Err(self.fault("EOF while parsing an object")),
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= b' ') {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let char = self.escape()?;
                    out.push(char);
                }
                Some(_) => {
                    return Err(self.fault(
                        "control character (\\u0000-\\u001F) found while parsing a string",
                    ));
                }
                None => return Err(self.fault("EOF while parsing a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let Some(byte) = self.peek() else {
            return Err(self.fault("EOF while parsing a string"));
        };
        self.at += 1;
        Ok(match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.fault_at("invalid escape", self.at)),
        })
    }

    fn unicode(&mut self) -> Result<char> {
        let first = self.hex()?;
        if let Some(char) = char::from_u32(first) {
            return Ok(char);
        }
        if first >= 0xdc00 {
            return Err(self.fault_at("lone leading surrogate in hex escape", self.at));
        }
        for expected in [b'\\', b'u'] {
            match self.peek() {
                Some(byte) if byte == expected => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    return Err(self.fault_at("unexpected end of hex escape", self.at));
                }
                None => return Err(self.fault("EOF while parsing a string")),
            }
        }
        let second = self.hex()?;
        let low = second.wrapping_sub(0xdc00);
        match char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low & 0x3ff)) {
            Some(char) if low < 0x400 => Ok(char),
            _ => Err(self.fault_at("lone leading surrogate in hex escape", self.at)),
        }
    }

    fn hex(&mut self) -> Result<u32> {
        let bytes = self.text.as_bytes();
        let Some(digits) = bytes.get(self.at..self.at + 4) else {
            self.at = bytes.len();
            return Err(self.fault("EOF while parsing a string"));
        };
        self.at += 4;
        let mut digits = digits.iter().map(|byte| char::from(*byte).to_digit(16));
        digits
            .try_fold(0, |code, digit| Some(code * 16 + digit?))
            .ok_or_else(|| self.fault_at("invalid escape", self.at))
    }
}
