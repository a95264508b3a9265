//! A document before it is typed: keys in the order of the text, doubles kept.

use serde_json::{Map, Number, Value};
use std::borrow::Cow;

/// One value of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree<'a> {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(Cow<'a, str>),
    String(String),
    Array(Vec<Tree<'a>>),
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
}

impl Tree<'_> {
    /// Returns how messages call this kind of value.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Returns the plain value; of keys that are there twice, the last counts.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Number(text) => number(&text),
            Self::String(text) => Value::String(text),
            Self::Array(items) => items.into_iter().map(Tree::into_value).collect(),
            Self::Object(entries) => {
                let entries =
                    entries.into_iter().map(|(key, item)| (key.into_owned(), item.into_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns whether a key is there more than once.
    pub(crate) fn has_duplicates(&self) -> bool {
        let mut found = false;
        self.duplicates(&mut String::new(), &mut |_| found = true);
        found
    }

    /// Calls `see` with the path of every key that is there more than once.
    pub(crate) fn duplicates(&self, path: &mut String, see: &mut impl FnMut(&str)) {
        let length = path.len();
        match self {
            Self::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    push_index(path, at);
                    item.duplicates(path, see);
                    path.truncate(length);
                }
            }
            Self::Object(entries) => {
                let mut known = rustc_hash::FxHashSet::default();
                for (key, item) in entries {
                    push_key(path, key);
                    if !known.insert(&**key) {
                        see(path);
                    }
                    item.duplicates(path, see);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

impl From<Value> for Tree<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(Cow::Owned(number.to_string())),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Into::into).collect()),
            Value::Object(entries) => Self::Object(
                entries.into_iter().map(|(key, item)| (Cow::Owned(key), item.into())).collect(),
            ),
        }
    }
}

/// Returns the value of a number as it is written.
pub(crate) fn number(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    if let Ok(whole) = text.parse::<u64>() {
        return whole.into();
    }
    let float = text.parse::<f64>().ok().and_then(Number::from_f64);
    float.map_or(Value::Null, Value::Number)
}

/// Appends a key to a path.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

/// Appends a place in a list to a path.
pub(crate) fn push_index(path: &mut String, at: usize) {
    use std::fmt::Write as _;
    let _ = write!(path, "[{at}]");
}
