//! Reading YAML with places.
//!
//! The events come from `granit-parser`, which knows places; what a plain word means is decided by
//! the reader of `kcl-value`, so that `yaml.decode` and data files agree.

use crate::{Data, DataError, Entry, Format, MAX_DEPTH, MAX_NODES, Node};
use base_text::Span;
use granit_parser::{Event, Parser, ScalarStyle, Span as Place, StructureStyle, Tag};
use kcl_value::Value;
use std::collections::HashMap;

pub(crate) fn read(text: &str) -> Result<Vec<Node>, DataError> {
    let mut reader =
        Reader { text, parser: Parser::new_from_str(text), anchors: HashMap::new(), n_nodes: 0 };
    let mut documents = Vec::new();
    while let Some((event, place)) = reader.next()? {
        match event {
            Event::DocumentStart(..) => reader.anchors.clear(),
            Event::DocumentEnd | Event::StreamStart | Event::StreamEnd => {}
            event => documents.push(reader.node(event, place, 0)?),
        }
    }
    Ok(documents)
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    /// The values that aliases of the document can name, and how many nodes they have.
    anchors: HashMap<usize, (Node, usize)>,
    n_nodes: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Place)>, DataError> {
        loop {
            match self.parser.next() {
                None => return Ok(None),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(event)) => return Ok(Some(event)),
                Some(Err(error)) => {
                    let at = error.marker().byte_offset().unwrap_or(0);
                    let info = error.info();
                    let message = info.lines().next().unwrap_or("invalid YAML");
                    return Err(self.fail(at, message));
                }
            }
        }
    }

    #[cold]
    fn fail(&self, at: usize, message: impl Into<String>) -> DataError {
        DataError::at(Format::Yaml, self.text, at, message)
    }

    /// Reads the rest of a node.
    fn node(&mut self, event: Event<'t>, place: Place, depth: usize) -> Result<Node, DataError> {
        let span = span(place);
        let before = self.n_nodes;
        self.n_nodes += 1;
        if depth > MAX_DEPTH {
            let message = format!("values are nested deeper than {MAX_DEPTH} levels");
            return Err(self.fail(span.start as usize, message));
        }
        let (anchor, node) = match event {
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor) else {
                    return Err(
                        self.fail(span.start as usize, "an alias of a value that is not complete")
                    );
                };
                let node = Node { span, ..node.clone() };
                self.n_nodes += size;
                (0, node)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let data = match tag.as_deref().and_then(Tag::core_suffix) {
                    Some("str") => Data::Str(text.into_owned()),
                    Some(_) => resolve(&text),
                    None if is_plain => resolve(&text),
                    None => Data::Str(text.into_owned()),
                };
                (anchor, Node { span, data })
            }
            Event::SequenceStart(_, anchor, _) => (anchor, self.list(span, depth)?),
            Event::MappingStart(style, anchor, _) => {
                (anchor, self.dict(span, style == StructureStyle::Block, depth)?)
            }
            _ => return Err(self.fail(span.start as usize, "expected a value")),
        };
        if self.n_nodes > MAX_NODES {
            let message = format!("the text has more than {MAX_NODES} values, aliases included");
            return Err(self.fail(span.start as usize, message));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), self.n_nodes - before));
        }
        Ok(node)
    }

    fn list(&mut self, start: Span, depth: usize) -> Result<Node, DataError> {
        let mut items = Vec::new();
        while let Some((event, place)) = self.next()? {
            if matches!(event, Event::SequenceEnd) {
                return Ok(Node { span: start.to(span(place)), data: Data::List(items) });
            }
            items.push(self.node(event, place, depth + 1)?);
        }
        Err(self.fail(self.text.len(), "expected the end of a list"))
    }

    fn dict(&mut self, start: Span, is_block: bool, depth: usize) -> Result<Node, DataError> {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some((event, place)) = self.next()? {
            if matches!(event, Event::MappingEnd) {
                let mut whole = start.to(span(place));
                if let (true, Some(first)) = (is_block, entries.first()) {
                    whole.start = self.colon_after(first.key_span);
                }
                return Ok(Node { span: whole, data: Data::Dict(entries) });
            }
            let (key, key_span, is_text) = self.key(event, place)?;
            let Some((event, place)) = self.next()? else { break };
            let value = self.node(event, place, depth + 1)?;
            entries.push(Entry { key, key_span, is_text, value });
        }
        Err(self.fail(self.text.len(), "expected the end of a mapping"))
    }

    fn key(&mut self, event: Event<'t>, place: Place) -> Result<(String, Span, bool), DataError> {
        let span = span(place);
        let text = match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_text = style != ScalarStyle::Plain || matches!(resolve(&text), Data::Str(_));
                if anchor != 0 {
                    let data = Data::Str(text.to_string());
                    self.anchors.insert(anchor, (Node { span, data }, 1));
                }
                Some((text.into_owned(), is_text))
            }
            Event::Alias(anchor) => self
                .anchors
                .get(&anchor)
                .and_then(|(node, _)| node.as_str())
                .map(|text| (text.to_owned(), true)),
            _ => None,
        };
        match text {
            Some((text, is_text)) => Ok((text, span, is_text)),
            None => Err(self.fail(span.start as usize, "a key must be a string")),
        }
    }

    /// The place of the `:` behind a key, else that of the key.
    fn colon_after(&self, key: Span) -> u32 {
        let after = self.text.get(key.end as usize..).unwrap_or_default();
        match after.find(|it: char| !matches!(it, ' ' | '\t')) {
            Some(at) if after[at..].starts_with(':') => key.end + at as u32,
            _ => key.start,
        }
    }
}

/// What a plain word means.
fn resolve(text: &str) -> Data {
    let may_mean_more = match text.as_bytes().first() {
        None | Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'~') => true,
        Some(b't' | b'T' | b'f' | b'F' | b'n' | b'N') => text.len() <= 5,
        Some(_) => false,
    };
    if !may_mean_more || text.contains(['\n', '#', ':']) {
        return Data::Str(text.to_owned());
    }
    match text.trim_start_matches(['+', '-']) {
        ".inf" | ".Inf" | ".INF" => {
            let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
            return Data::Float(sign * f64::INFINITY);
        }
        ".nan" | ".NaN" | ".NAN" => return Data::Float(f64::NAN),
        _ => {}
    }
    let digits = text.trim_start_matches(['+', '-']);
    let is_large = digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    match kcl_value::yaml::parse(text) {
        Ok(Value::None) => Data::Null,
        Ok(Value::Bool(flag)) => Data::Bool(flag),
        Ok(Value::Int(number)) => Data::Int(number),
        Ok(Value::Float(_)) if is_large => Data::Large(text.to_owned()),
        Ok(Value::Float(number)) => Data::Float(number),
        _ => Data::Str(text.to_owned()),
    }
}

fn span(place: Place) -> Span {
    let start = place.start.byte_offset().unwrap_or(0);
    let end = place.end.byte_offset().unwrap_or(start);
    Span::new(start as u32, end as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Node {
        let mut documents = read(text).expect("the text is valid");
        assert_eq!(documents.len(), 1);
        documents.remove(0)
    }

    #[test]
    fn places() {
        let text = "a: &x\n  k: 1\nb : *x\nl:\n- v: 0\n- {w: 1}\n";
        let node = one(text);
        // A block mapping starts at its first colon.
        assert_eq!(node.span.start, 1);
        assert_eq!(node.get("b").map(|it| it.span.slice(text)), Some("*x"));
        let list = node.get("l").expect("there is a list");
        assert_eq!(&text[list.items()[0].span.start as usize..][..3], ": 0");
        assert_eq!(list.items()[1].span.slice(text), "{w: 1}");
        assert_eq!(node.entries()[2].key_span.slice(text), "l");
    }

    #[test]
    fn words() {
        let node = one("[yes, 0x10, 1e3, ~, 2020-01-01, 'true', true, !!str 5, 017, x]");
        let items: Vec<&Data> = node.items().iter().map(|item| &item.data).collect();
        let str = |text: &str| Data::Str(text.into());
        assert_eq!(*items[0], str("yes"));
        assert_eq!(*items[1], Data::Int(16));
        assert_eq!(*items[2], Data::Float(1000.0));
        assert_eq!(*items[3], Data::Null);
        assert_eq!(*items[4], str("2020-01-01"));
        assert_eq!(*items[5], str("true"));
        assert_eq!(*items[6], Data::Bool(true));
        assert_eq!(*items[7], str("5"));
    }

    #[test]
    fn documents_and_errors() {
        assert_eq!(read("a: 1\n---\nb: 2\n").map(|all| all.len()), Ok(2));
        assert_eq!(read("# nothing\n").map(|all| all.len()), Ok(0));
        let error = read("a: 1\nb: [\n").expect_err("not valid");
        assert!(error.at.line >= 2, "{error}");
        assert!(read(&"[".repeat(500)).is_err());
        let bomb: String = (1..12).fold("a0: &a0 [1]\n".to_owned(), |text, n| {
            let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
            format!("{text}a{n}: &a{n} [{aliases}]\n")
        });
        assert!(read(&bomb).is_err());
    }
}
