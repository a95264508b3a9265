//! Reading JSON with places.
//!
//! Whether a text is valid, and why not, is the decision of `kcl-value`; this reader walks a text
//! that is known to be valid and notes where its parts are.

use crate::{Data, DataError, Entry, Format, MAX_NODES, Node};
use base_text::Span;

pub(crate) fn read(text: &str) -> Result<Node, DataError> {
    // A mark of the byte order may come first.
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    if let Err(fault) = kcl_value::json::parse(&text[start..]) {
        return Err(syntax(text, &fault.message));
    }
    let mut reader = Reader { text, at: start, n_nodes: 0 };
    reader.value()
}

/// The reader names the place in its message: `… at line 1 column 5`.
fn syntax(text: &str, message: &str) -> DataError {
    let (what, line, column) = message
        .rsplit_once(" at line ")
        .and_then(|(what, place)| {
            let (line, column) = place.split_once(" column ")?;
            Some((what, line.parse::<usize>().ok()?, column.parse::<usize>().ok()?))
        })
        .unwrap_or((message, 1, 1));
    let before = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len);
    let offset = before.sum::<usize>() + column.saturating_sub(1);
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    DataError::at(Format::Json, text, offset.unwrap_or(0), what)
}

/// Walks a valid text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    n_nodes: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Node, DataError> {
        self.blanks();
        self.n_nodes += 1;
        let start = self.at;
        if self.n_nodes > MAX_NODES {
            let message = format!("the text has more than {MAX_NODES} values");
            return Err(DataError::at(Format::Json, self.text, start, message));
        }
        let data = match self.peek() {
            b'{' => self.dict()?,
            b'[' => self.list()?,
            b'"' => Data::Str(self.string()?),
            b't' => self.word("true", Data::Bool(true)),
            b'f' => self.word("false", Data::Bool(false)),
            b'n' => self.word("null", Data::Null),
            _ => self.number(),
        };
        Ok(Node { span: span(start, self.at), data })
    }

    fn word(&mut self, word: &str, data: Data) -> Data {
        self.at += word.len();
        data
    }

    fn number(&mut self) -> Data {
        let start = self.at;
        while matches!(self.peek(), b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        match text.parse::<i64>() {
            Ok(number) => Data::Int(number),
            Err(_) if !text.contains(['.', 'e', 'E']) => Data::Large(text.to_owned()),
            Err(_) => Data::Float(text.parse().unwrap_or(0.0)),
        }
    }

    fn string(&mut self) -> Result<String, DataError> {
        let start = self.at;
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let written = self.text.get(start..self.at).unwrap_or_default();
        match kcl_value::json::parse(written) {
            Ok(kcl_value::Value::Str(text)) => Ok(text.to_string()),
            _ => Err(DataError::at(Format::Json, self.text, start, "invalid string")),
        }
    }

    fn list(&mut self) -> Result<Data, DataError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                b']' | 0 => break,
                b',' => self.at += 1,
                _ => items.push(self.value()?),
            }
        }
        self.at += 1;
        Ok(Data::List(items))
    }

    fn dict(&mut self) -> Result<Data, DataError> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                b'}' | 0 => break,
                b',' => self.at += 1,
                _ => {
                    let start = self.at;
                    let key = self.string()?;
                    let key_span = span(start, self.at);
                    self.blanks();
                    self.at += 1;
                    let value = self.value()?;
                    entries.push(Entry { key, key_span, is_text: true, value });
                }
            }
        }
        self.at += 1;
        Ok(Data::Dict(entries))
    }
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_values() {
        let text = "{\"a\": [1, -2.5e1, \"x\\u00e9\\\"\"], \"b\": {}}";
        let node = read(text).expect("the text is valid");
        let list = node.get("a").expect("there is a");
        assert_eq!(list.span.slice(text), "[1, -2.5e1, \"x\\u00e9\\\"\"]");
        assert_eq!(list.items()[1].data, Data::Float(-25.0));
        assert_eq!(list.items()[2].as_str(), Some("xé\""));
        assert_eq!(node.entries()[1].key_span.slice(text), "\"b\"");
    }

    #[test]
    fn errors_have_places() {
        let message = |text: &str| read(text).expect_err("not valid").to_string();
        assert_eq!(message("{\"a\":"), "line 1, column 5: EOF while parsing a value");
        assert_eq!(message("{\n  \"é\": x}"), "line 2, column 8: expected value");
        let large = read("12345678901234567890").expect("valid");
        assert_eq!(large.data, Data::Large("12345678901234567890".into()));
    }
}
