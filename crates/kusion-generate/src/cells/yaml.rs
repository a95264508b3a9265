//! Layers in YAML files.

use granit_parser::{Event, Parser, ScalarStyle, Span as Place, Tag};
use kusion_cells::{Node, Origin};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The deepest nesting.
const MAX_DEPTH: usize = 64;
/// The largest number of values of a file.
const MAX_VALUES: usize = 100_000;

/// A YAML document whose parts know their places.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) tag: Option<String>,
    pub(super) data: Data,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Scalar(Value),
    List(Vec<Item>),
    Map(Vec<(String, Item)>),
}

/// What is wrong, with its line.
pub(super) type Wrong = (Option<u32>, String);

/// Reads the documents of a file. Aliases are not allowed.
pub(super) fn read(text: &str) -> Result<Vec<Item>, Wrong> {
    let mut reader = Reader { parser: Parser::new_from_str(text), n_values: 0 };
    let mut documents = Vec::new();
    while let Some((event, place)) = reader.next()? {
        match event {
            Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::StreamStart
            | Event::StreamEnd => {}
            event => documents.push(reader.item(event, place, 0)?),
        }
    }
    Ok(documents)
}

struct Reader<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    n_values: usize,
}

fn line_of(place: Place) -> u32 {
    place.start.line() as u32
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Place)>, Wrong> {
        loop {
            match self.parser.next() {
                None => return Ok(None),
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(event)) => return Ok(Some(event)),
                Some(Err(error)) => {
                    let line = error.marker().line() as u32;
                    let message = error.info().lines().next().unwrap_or("invalid YAML").to_owned();
                    return Err((Some(line), message));
                }
            }
        }
    }

    fn item(&mut self, event: Event<'t>, place: Place, depth: usize) -> Result<Item, Wrong> {
        let line = line_of(place);
        let wrong = |message: &str| Err((Some(line), message.to_owned()));
        self.n_values += 1;
        if depth > MAX_DEPTH {
            return wrong(&format!("values are nested deeper than {MAX_DEPTH} levels"));
        }
        if self.n_values > MAX_VALUES {
            return wrong(&format!("the file has more than {MAX_VALUES} values"));
        }
        let (tag, data) = match event {
            Event::Scalar(text, style, _, tag) => {
                let is_text = style != ScalarStyle::Plain
                    || tag.as_deref().and_then(Tag::core_suffix) == Some("str");
                (local_tag(tag.as_deref()), Data::Scalar(scalar(&text, is_text)))
            }
            Event::SequenceStart(_, _, tag) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Some((Event::SequenceEnd, _)) => break,
                        Some((event, place)) => items.push(self.item(event, place, depth + 1)?),
                        None => return wrong("the list is not complete"),
                    }
                }
                (local_tag(tag.as_deref()), Data::List(items))
            }
            Event::MappingStart(_, _, tag) => {
                (local_tag(tag.as_deref()), Data::Map(self.entries(line, depth)?))
            }
            Event::Alias(_) => return wrong("aliases are not allowed in layers"),
            _ => return wrong("expected a value"),
        };
        Ok(Item { line, column: place.start.col() as u32 + 1, tag, data })
    }

    fn entries(&mut self, line: u32, depth: usize) -> Result<Vec<(String, Item)>, Wrong> {
        let mut entries: Vec<(String, Item)> = Vec::new();
        loop {
            let key = match self.next()? {
                Some((Event::MappingEnd, _)) => return Ok(entries),
                Some((Event::Scalar(text, ..), place)) => (text.into_owned(), line_of(place)),
                Some((_, place)) => {
                    return Err((Some(line_of(place)), "a key must be a string".to_owned()));
                }
                None => return Err((Some(line), "the map is not complete".to_owned())),
            };
            if entries.iter().any(|(known, _)| *known == key.0) {
                return Err((Some(key.1), format!("the key `{}` is set twice", key.0)));
            }
            let Some((event, place)) = self.next()? else {
                return Err((Some(key.1), "the map is not complete".to_owned()));
            };
            entries.push((key.0, self.item(event, place, depth + 1)?));
        }
    }
}

/// Returns a tag of this file format: `!replace`.
fn local_tag(tag: Option<&Tag>) -> Option<String> {
    tag.filter(|tag| tag.core_suffix().is_none()).map(ToString::to_string)
}

fn scalar(text: &str, is_text: bool) -> Value {
    if is_text {
        return text.into();
    }
    match yaml_serde::from_str::<Value>(text) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
        _ => text.into(),
    }
}

impl Item {
    /// Returns the value as data.
    pub(super) fn to_json(&self) -> Value {
        match &self.data {
            Data::Scalar(value) => value.clone(),
            Data::List(items) => items.iter().map(Self::to_json).collect(),
            Data::Map(entries) => {
                let entries = entries.iter().map(|(key, item)| (key.clone(), item.to_json()));
                Value::Object(entries.collect())
            }
        }
    }

    /// Returns what a layer says: tags stand for the operators of KCL.
    pub(super) fn node(&self, file: &Arc<str>) -> Result<Node, Wrong> {
        let origin = Origin { file: Arc::clone(file), line: self.line, column: self.column };
        let wrong = |message: String| Err((Some(self.line), message));
        match (self.tag.as_deref(), &self.data) {
            (Some("!unset"), _) => Ok(Node::Unset(origin)),
            (Some("!append"), Data::List(items)) => {
                Ok(Node::Append(items.iter().map(Self::to_json).collect(), origin))
            }
            (Some("!append"), _) => wrong("`!append` needs a list".to_owned()),
            (tag @ (None | Some("!replace")), Data::Map(entries)) => {
                let mut made = BTreeMap::new();
                for (key, item) in entries {
                    made.insert(key.clone(), item.node(file)?);
                }
                Ok(Node::Map { entries: made, replaces: tag.is_some(), origin })
            }
            (None | Some("!replace"), _) => Ok(Node::Leaf(self.to_json(), origin)),
            (Some(tag), _) => {
                wrong(format!("unknown tag `{tag}`; expected `!replace`, `!append` or `!unset`"))
            }
        }
    }
}
