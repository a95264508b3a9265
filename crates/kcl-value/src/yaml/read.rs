//! Reading YAML.

use crate::{Dict, Fault, Result, Str, Value};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Reads the one document of a text; of equal keys the last one counts.
pub fn parse(text: &str) -> Result<Value> {
    read(yaml_serde::Deserializer::from_str(text))
}

/// Reads all documents of a text.
pub fn parse_stream(text: &str) -> Result<Vec<Value>> {
    yaml_serde::Deserializer::from_str(text).map(read).collect()
}

fn read(document: yaml_serde::Deserializer<'_>) -> Result<Value> {
    Any.deserialize(document).map_err(|error| Fault::new(error.to_string()))
}

/// Builds values from what the reader finds.
struct Any;

impl<'de> DeserializeSeed<'de> for Any {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> std::result::Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> std::result::Result<Value, E> {
        // The data model is that of JSON, which has no infinities.
        Ok(if number.is_finite() { Value::Float(number) } else { Value::None })
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value, E> {
        Ok(Value::str(text))
    }

    fn visit_none<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_some<D: Deserializer<'de>>(self, source: D) -> std::result::Result<Value, D::Error> {
        source.deserialize_any(self)
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut dict = Dict::new();
        while let Some(key) = map.next_key_seed(Key { is_first: dict.is_empty() })? {
            dict.insert(key, map.next_value_seed(Self)?);
        }
        Ok(Value::dict(dict))
    }
}

/// The text of a key, whatever type it would be as a value.
struct Key {
    is_first: bool,
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Str;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> std::result::Result<Str, D::Error> {
        source.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_first { "a string key" } else { "a string" })
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Str, E> {
        Ok(Str::from(text))
    }
}
