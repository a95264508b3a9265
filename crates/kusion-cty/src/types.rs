//! Types of values.

use crate::MAX_DEPTH;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The type of a value. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A decimal number of any size.
    Number,
    /// A text.
    String,
    /// Any type: each value has its own.
    Dynamic,
    /// Values of one type, in order.
    List(Arc<Type>),
    /// Values of one type, without order and duplicates.
    Set(Arc<Type>),
    /// Values of one type, by key.
    Map(Arc<Type>),
    /// Values by the name of an attribute; each attribute has its own type.
    Object(Arc<BTreeMap<Arc<str>, Type>>),
    /// A fixed number of values; each has its own type.
    Tuple(Arc<[Type]>),
}

/// A text that is not a valid type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError(String);

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid type: {}", self.0)
    }
}

impl std::error::Error for TypeError {}

impl Type {
    /// Creates a list type.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// Creates a set type.
    pub fn set(element: Self) -> Self {
        Self::Set(Arc::new(element))
    }

    /// Creates a map type.
    pub fn map(element: Self) -> Self {
        Self::Map(Arc::new(element))
    }

    /// Creates an object type.
    pub fn object<N: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Object(Arc::new(attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect()))
    }

    /// Creates a tuple type.
    pub fn tuple(items: impl Into<Arc<[Self]>>) -> Self {
        Self::Tuple(items.into())
    }

    /// Reads a type from its JSON text, such as `["list","string"]`.
    pub fn from_json(text: &[u8]) -> Result<Self, TypeError> {
        let json: Json =
            serde_json::from_slice(text).map_err(|error| TypeError(error.to_string()))?;
        read(&json, 0)
    }

    /// Returns the JSON form.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Bool => json!("bool"),
            Self::Number => json!("number"),
            Self::String => json!("string"),
            Self::Dynamic => json!("dynamic"),
            Self::List(element) => json!(["list", element.to_json()]),
            Self::Set(element) => json!(["set", element.to_json()]),
            Self::Map(element) => json!(["map", element.to_json()]),
            Self::Object(attributes) => {
                let fields = attributes.iter().map(|(name, ty)| (name.to_string(), ty.to_json()));
                json!(["object", Json::Object(fields.collect::<Map<_, _>>())])
            }
            Self::Tuple(items) => {
                json!(["tuple", items.iter().map(Self::to_json).collect::<Vec<_>>()])
            }
        }
    }

    /// Returns whether a value of this type may contain one whose type is known only from the value.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Object(attributes) => attributes.values().any(Self::has_dynamic),
            Self::Tuple(items) => items.iter().any(Self::has_dynamic),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Dynamic => f.write_str("any"),
            Self::List(element) => write!(f, "list of {element}"),
            Self::Set(element) => write!(f, "set of {element}"),
            Self::Map(element) => write!(f, "map of {element}"),
            Self::Object(_) => f.write_str("object"),
            Self::Tuple(_) => f.write_str("tuple"),
        }
    }
}

fn read(json: &Json, depth: usize) -> Result<Type, TypeError> {
    let fail = |what: &str| Err(TypeError(what.to_owned()));
    if depth > MAX_DEPTH {
        return fail("it is nested too deeply");
    }
    let element = |json: &Json| read(json, depth + 1).map(Arc::new);
    match json {
        Json::String(name) => match name.as_str() {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            _ => fail("expected `bool`, `number`, `string` or `dynamic`"),
        },
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(kind), of] => match (kind.as_str(), of) {
                ("list", of) => Ok(Type::List(element(of)?)),
                ("set", of) => Ok(Type::Set(element(of)?)),
                ("map", of) => Ok(Type::Map(element(of)?)),
                ("object", Json::Object(fields)) => object(fields, depth),
                ("tuple", Json::Array(items)) => {
                    let items = items.iter().map(|item| read(item, depth + 1));
                    Ok(Type::Tuple(items.collect::<Result<_, _>>()?))
                }
                _ => fail("expected `list`, `set`, `map`, `object` or `tuple`, and what is in it"),
            },
            // The third part lists optional attributes, which matter to conversions only.
            [Json::String(kind), Json::Object(fields), Json::Array(_)] if kind == "object" => {
                object(fields, depth)
            }
            _ => fail("expected a kind and a type in a list"),
        },
        _ => fail("expected a text or a list"),
    }
}

fn object(fields: &Map<String, Json>, depth: usize) -> Result<Type, TypeError> {
    let fields = fields.iter().map(|(name, ty)| Ok((name.as_str().into(), read(ty, depth + 1)?)));
    Ok(Type::Object(Arc::new(fields.collect::<Result<_, TypeError>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_written() {
        let text = r#"["object",{"a":["list","string"],"b":["tuple",["bool",["set","number"]]],"c":["map","dynamic"]}]"#;
        let ty = Type::from_json(text.as_bytes()).expect("a type");
        assert_eq!(ty.to_json().to_string(), text);
        assert!(ty.has_dynamic());
        let optional = Type::from_json(br#"["object",{"a":"bool"},["a"]]"#);
        assert_eq!(optional, Ok(Type::object([("a", Type::Bool)])));
    }

    #[test]
    fn what_is_not_a_type_is_an_error() {
        for text in ["", "1", "\"text\"", "[\"list\"]", "[\"object\",[]]", "[\"list\",\"list\"]"] {
            assert!(Type::from_json(text.as_bytes()).is_err(), "{text}");
        }
        let deep = format!("{}\"bool\"{}", "[\"list\",".repeat(101), "]".repeat(101));
        assert!(Type::from_json(deep.as_bytes()).is_err());
        let endless = "[\"list\",".repeat(1_000_000);
        assert!(Type::from_json(endless.as_bytes()).is_err());
    }
}
