//! Data as a tree of nodes with places.

use crate::{DataError, MAX_BYTES, json, toml_reader, yaml};
use base_text::Span;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// One value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes that it was read from. A block mapping of YAML starts at its first `:`.
    pub span: Span,
    /// The value.
    pub data: Data,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer, as written.
    Large(String),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A string.
    Str(String),
    /// A list.
    List(Vec<Node>),
    /// A dict, in the order in which it is written.
    Dict(Vec<Entry>),
}

/// One entry of a dict.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// Whether the key is a string. YAML also has other keys, whose text is the key.
    pub is_text: bool,
    /// The value.
    pub value: Node,
}

impl Data {
    /// The kind of value in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Large(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::List(_) => "a list",
            Self::Dict(_) => "an object",
        }
    }
}

impl Node {
    /// The value of a key of a dict.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries of a dict; none of any other value.
    pub fn entries(&self) -> &[Entry] {
        if let Data::Dict(entries) = &self.data { entries } else { &[] }
    }

    /// The first key that is there twice in a dict of this value, with the place of the second.
    pub fn double_key(&self) -> Option<(&str, Span)> {
        let mut seen = HashSet::new();
        for Entry { key, key_span, value, .. } in self.entries() {
            if !seen.insert(key.as_str()) {
                return Some((key, *key_span));
            }
            if let Some(found) = value.double_key() {
                return Some(found);
            }
        }
        self.items().iter().find_map(Node::double_key)
    }

    /// The items of a list; none of any other value.
    pub fn items(&self) -> &[Node] {
        if let Data::List(items) = &self.data { items } else { &[] }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Data::Str(text) = &self.data { Some(text) } else { None }
    }

    /// The text of a string below a key.
    pub fn str_of(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::as_str)
    }

    /// Whether a key holds `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| node.data == Data::Bool(true))
    }
}

/// A form of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML, of which a text can hold several documents.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The form that a file has by the end of its name.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "json" => Ok(Self::Json),
            "yaml" | "yml" => Ok(Self::Yaml),
            "toml" => Ok(Self::Toml),
            _ => Err(format!("invalid data format '{name}', expected json, yaml or toml")),
        }
    }
}

/// Reads all documents of a text. JSON and TOML have exactly one, YAML any number.
///
/// # Errors
///
/// With the first place that is not valid.
pub fn read(text: &str, format: Format) -> Result<Vec<Node>, DataError> {
    if text.len() > MAX_BYTES {
        let message = format!("the text has more than {MAX_BYTES} bytes");
        return Err(DataError::at(format, "", 0, message));
    }
    match format {
        Format::Json => json::read(text).map(|node| vec![node]),
        Format::Yaml => yaml::read(text),
        Format::Toml => toml_reader::read(text).map(|node| vec![node]),
    }
}
