//! Between values and plain JSON, as users write it and as plans show it.

use crate::{MAX_DEPTH, Number, Step, Type, Value, ValueError};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Converts plain JSON to a value of a type. As in Terraform's language, a number or truth value may
/// be a text and the other way round, and a list may fill a set. Attributes that an object lacks are
/// null. `is_unknown` says which texts stand for unknown values.
///
/// # Errors
///
/// The JSON cannot be converted to the type.
pub fn from_plain(
    json: &Json,
    ty: &Type,
    is_unknown: &dyn Fn(&str) -> bool,
) -> Result<Value, ValueError> {
    read(json, ty, is_unknown, 0)
}

/// Converts a value to plain JSON: without types, and with `unknown` in the place of unknown values.
/// A number that JSON numbers of 64 bits cannot hold is a text.
pub fn to_plain(value: &Value, unknown: &Json) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Unknown(_) => unknown.clone(),
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => plain_number(number),
        Value::String(text) => Json::String(text.to_string()),
        Value::List(items) => items.iter().map(|it| to_plain(it, unknown)).collect(),
        Value::Map(fields) => {
            let fields = fields.iter().map(|(key, it)| (key.to_string(), to_plain(it, unknown)));
            Json::Object(fields.collect::<Map<_, _>>())
        }
        Value::Typed(typed) => to_plain(&typed.value, unknown),
    }
}

fn plain_number(number: &Number) -> Json {
    if let Some(integer) = number.as_i64() {
        return integer.into();
    }
    let text = number.to_string();
    if let Ok(integer) = text.parse::<u64>() {
        return integer.into();
    }
    // JSON has decimal numbers: the nearest binary one is written with the same digits.
    let near = number.nearest_f64();
    let same = Number::parse(&near.to_string()).is_ok_and(|it| it == *number);
    match serde_json::Number::from_f64(near).filter(|_| same || number.as_f64().is_some()) {
        Some(number) => Json::Number(number),
        None => Json::String(text),
    }
}

fn read(
    json: &Json,
    ty: &Type,
    is_unknown: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Result<Value, ValueError> {
    if depth > MAX_DEPTH {
        return Err(ValueError::new("the value is nested too deeply"));
    }
    let expected = || ValueError::new(format!("expected a {ty}, found {}", name_of(json)));
    let inside = |json: &Json, ty: &Type, step: Step| {
        read(json, ty, is_unknown, depth + 1).map_err(|error| error.under(step))
    };
    if json.is_null() {
        return Ok(Value::Null);
    }
    if json.as_str().is_some_and(is_unknown) {
        return Ok(Value::UNKNOWN);
    }
    Ok(match (ty, json) {
        (Type::Dynamic, json) => {
            let ty = type_of(json, is_unknown, depth)?;
            Value::typed(ty.clone(), read(json, &ty, is_unknown, depth + 1)?)
        }
        (Type::Bool, Json::Bool(value)) => Value::Bool(*value),
        (Type::Bool, Json::String(text)) => match text.as_str() {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            _ => return Err(expected()),
        },
        (Type::Number, Json::Number(number)) => Value::Number(decimal(number)?),
        (Type::Number, Json::String(text)) => {
            Value::Number(Number::parse(text).map_err(|_| expected())?)
        }
        (Type::String, Json::String(text)) => Value::String(text.as_str().into()),
        (Type::String, Json::Bool(value)) => Value::String(value.to_string().into()),
        (Type::String, Json::Number(number)) => Value::String(decimal(number)?.to_string().into()),
        (Type::List(element) | Type::Set(element), Json::Array(items)) => {
            let items = items.iter().enumerate();
            let items = items.map(|(index, it)| inside(it, element, Step::Index(index)));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            if matches!(ty, Type::Set(_)) { Value::set(items) } else { Value::List(items) }
        }
        (Type::Tuple(types), Json::Array(items)) if items.len() == types.len() => {
            let items = items.iter().zip(types.iter()).enumerate();
            let items = items.map(|(index, (it, ty))| inside(it, ty, Step::Index(index)));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        (Type::Map(element), Json::Object(fields)) => {
            let fields = fields.iter().map(|(key, it)| {
                let key: Arc<str> = key.as_str().into();
                Ok((key.clone(), inside(it, element, Step::Key(key))?))
            });
            Value::Map(fields.collect::<Result<_, ValueError>>()?)
        }
        (Type::Object(types), Json::Object(fields)) => {
            if let Some(name) = fields.keys().find(|name| !types.contains_key(name.as_str())) {
                let error = ValueError::new("unknown attribute");
                return Err(error.under(Step::Attribute(name.as_str().into())));
            }
            let mut out = BTreeMap::new();
            for (name, ty) in types.iter() {
                let field = fields.get(&**name).unwrap_or(&Json::Null);
                out.insert(name.clone(), inside(field, ty, Step::Attribute(name.clone()))?);
            }
            Value::Map(out)
        }
        _ => return Err(expected()),
    })
}

/// Returns the type that JSON has by itself.
fn type_of(
    json: &Json,
    is_unknown: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Result<Type, ValueError> {
    if depth > MAX_DEPTH {
        return Err(ValueError::new("the value is nested too deeply"));
    }
    Ok(match json {
        Json::Null => Type::Dynamic,
        Json::Bool(_) => Type::Bool,
        Json::Number(_) => Type::Number,
        Json::String(text) if is_unknown(text) => Type::Dynamic,
        Json::String(_) => Type::String,
        Json::Array(items) => {
            let items = items.iter().map(|it| type_of(it, is_unknown, depth + 1));
            Type::Tuple(items.collect::<Result<_, _>>()?)
        }
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, it)| {
                Ok((Arc::from(key.as_str()), type_of(it, is_unknown, depth + 1)?))
            });
            Type::Object(Arc::new(fields.collect::<Result<_, ValueError>>()?))
        }
    })
}

/// Returns the decimal number that a JSON number is written as.
fn decimal(number: &serde_json::Number) -> Result<Number, ValueError> {
    Number::parse(&number.to_string()).map_err(|error| ValueError::new(error.to_string()))
}

fn name_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a bool",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}
