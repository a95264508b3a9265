//! One step of a field path: a field, a list item by key, by value or by index.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use base_text::push_html_safe_json_string;
use serde_json::Value;

use crate::go;

/// One step from an object or list to one of its parts.
#[derive(Debug, Clone)]
pub enum PathElement<'a> {
    /// A field of an object.
    Field(&'a str),
    /// A list item, named by the values of its key fields (sorted by name).
    Key(Arc<[KeyPart<'a>]>),
    /// A list item, named by its own value.
    Item(Single<'a>),
    /// A list item, named by its place.
    Index(i64),
}

/// The name and value of one key field.
pub type KeyPart<'a> = (Cow<'a, str>, Single<'a>);

/// A value that names a list item; nearly always a single value.
#[derive(Debug, Clone)]
pub enum Single<'a> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(Cow<'a, str>),
    /// A list or an object; only broken input has them.
    Nested(Arc<Value>),
}

impl<'a> Single<'a> {
    /// Borrows from a JSON value.
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => number
                .as_i64()
                .map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Int),
            Value::String(text) => Self::String(Cow::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => Self::Nested(Arc::new(value.clone())),
        }
    }

    /// Converts a JSON value.
    pub fn from_owned(value: Value) -> Self {
        match value {
            Value::String(text) => Self::String(Cow::Owned(text)),
            Value::Array(_) | Value::Object(_) => Self::Nested(Arc::new(value)),
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => number
                .as_i64()
                .map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Int),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Int(_) | Self::Float(_) => 0,
            Self::String(_) => 1,
            Self::Bool(_) => 2,
            Self::Nested(_) => 3,
            Self::Null => 4,
        }
    }

    /// Appends the value as JSON.
    pub(crate) fn push_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Int(whole) => out.push_str(&whole.to_string()),
            Self::Float(number) => go::push_float(out, *number),
            Self::String(text) => push_html_safe_json_string(out, text),
            Self::Nested(value) => out.push_str(&value.to_string()),
        }
    }
}

impl Ord for Single<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Int(a), Self::Float(b)) => (*a as f64).total_cmp(b),
            (Self::Float(a), Self::Int(b)) => a.total_cmp(&(*b as f64)),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Nested(a), Self::Nested(b)) => a.to_string().cmp(&b.to_string()),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Single<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Single<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Single<'_> {}

impl fmt::Display for Single<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(&kusion_k8s_schema::quoted(text)),
            other => {
                let mut out = String::new();
                other.push_json(&mut out);
                f.write_str(&out)
            }
        }
    }
}

impl PathElement<'_> {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Item(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => a.iter().cmp(b.iter()),
            (Self::Item(a), Self::Item(b)) => a.cmp(b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement<'_> {}

impl fmt::Display for PathElement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(parts) => {
                f.write_str("[")?;
                for (idx, (name, value)) in parts.iter().enumerate() {
                    let comma = if idx > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={value}")?;
                }
                f.write_str("]")
            }
            Self::Item(value) => write!(f, "[={value}]"),
            Self::Index(place) => write!(f, "[{place}]"),
        }
    }
}
