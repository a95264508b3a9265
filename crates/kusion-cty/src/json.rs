//! The text encoding of values in the plugin protocol and in states: JSON, read and written by the
//! type. Numbers keep all their digits.

use crate::{MAX_DEPTH, Number, Step, Type, Value, ValueError};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Reads a value of a type. An attribute that an object lacks is null; one that the type lacks is an
/// error.
///
/// # Errors
///
/// The text is not JSON, or not a value of the type.
pub fn decode(text: &[u8], ty: &Type) -> Result<Value, ValueError> {
    let text: &RawValue = serde_json::from_slice(text).map_err(|error| invalid(&error))?;
    read(text.get(), ty, 0)
}

/// Writes a value of a type.
///
/// # Errors
///
/// A part of the value is unknown, or not of the type.
pub fn encode(value: &Value, ty: &Type) -> Result<String, ValueError> {
    let mut out = String::new();
    write(&mut out, value, ty)?;
    Ok(out)
}

fn invalid(error: &serde_json::Error) -> ValueError {
    ValueError::new(format!("invalid JSON: {error}"))
}

/// Reads one level: what is inside stays text, so that numbers keep their digits.
fn read(text: &str, ty: &Type, depth: usize) -> Result<Value, ValueError> {
    if depth > MAX_DEPTH {
        return Err(ValueError::new("the value is nested too deeply"));
    }
    if text == "null" {
        return Ok(Value::Null);
    }
    let expected = || ValueError::new(format!("expected a {ty}"));
    match ty {
        Type::Bool => serde_json::from_str(text).map(Value::Bool).map_err(|_| expected()),
        Type::Number => {
            // Large numbers may be in quotes.
            let digits = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
            Number::parse(digits).map(Value::Number).map_err(|_| expected())
        }
        Type::String => serde_json::from_str::<String>(text)
            .map(|it| Value::String(it.into()))
            .map_err(|_| expected()),
        Type::List(element) => Ok(Value::List(items(text, |_| Some(element), ty, depth)?)),
        Type::Set(element) => Ok(Value::set(items(text, |_| Some(element), ty, depth)?)),
        Type::Tuple(types) => {
            let items = items(text, |index| types.get(index), ty, depth)?;
            if items.len() == types.len() { Ok(Value::List(items)) } else { Err(expected()) }
        }
        Type::Map(element) => {
            let fields: BTreeMap<Arc<str>, &RawValue> = fields(text).map_err(|_| expected())?;
            let fields = fields.into_iter().map(|(key, field)| {
                let field = read(field.get(), element, depth + 1);
                Ok((key.clone(), field.map_err(|error| error.under(Step::Key(key)))?))
            });
            Ok(Value::Map(fields.collect::<Result<_, _>>()?))
        }
        Type::Object(types) => object(text, types, depth),
        Type::Dynamic => {
            let mut parts = fields(text).map_err(|_| expected())?;
            let (Some(ty), Some(value), true) =
                (parts.remove("type"), parts.remove("value"), parts.is_empty())
            else {
                return Err(expected());
            };
            let ty = Type::from_json(ty.get().as_bytes());
            let ty = ty.map_err(|error| ValueError::new(error.to_string()))?;
            let value = read(value.get(), &ty, depth + 1)?;
            Ok(if ty == Type::Dynamic { value } else { Value::typed(ty, value) })
        }
    }
}

fn items<'t>(
    text: &str,
    element: impl Fn(usize) -> Option<&'t Type>,
    ty: &Type,
    depth: usize,
) -> Result<Vec<Value>, ValueError> {
    let expected = || ValueError::new(format!("expected a {ty}"));
    let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| expected())?;
    let items = items.into_iter().enumerate().map(|(index, item)| {
        let item = read(item.get(), element(index).ok_or_else(expected)?, depth + 1);
        item.map_err(|error| error.under(Step::Index(index)))
    });
    items.collect()
}

fn fields(text: &str) -> serde_json::Result<BTreeMap<Arc<str>, &RawValue>> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    Ok(fields.into_iter().map(|(key, field)| (key.into(), field)).collect())
}

fn object(text: &str, types: &BTreeMap<Arc<str>, Type>, depth: usize) -> Result<Value, ValueError> {
    let mut fields = fields(text).map_err(|_| ValueError::new("expected an object"))?;
    let mut out = BTreeMap::new();
    for (name, ty) in types {
        let field = match fields.remove(name) {
            Some(field) => read(field.get(), ty, depth + 1)
                .map_err(|error| error.under(Step::Attribute(name.clone())))?,
            None => Value::Null,
        };
        out.insert(name.clone(), field);
    }
    match fields.keys().next() {
        Some(name) => Err(ValueError::new(format!("unknown attribute `{}`", name.escape_debug()))),
        None => Ok(Value::Map(out)),
    }
}

fn write(out: &mut String, value: &Value, ty: &Type) -> Result<(), ValueError> {
    match (value, ty) {
        (Value::Null, _) => out.push_str("null"),
        (Value::Unknown(_), _) => return Err(ValueError::new("the value is not known yet")),
        (Value::Typed(typed), Type::Dynamic) => {
            // Writing to a text does not fail.
            let _ = write!(out, "{{\"type\":{},\"value\":", typed.ty.to_json());
            write(out, &typed.value, &typed.ty)?;
            out.push('}');
        }
        (Value::Typed(typed), ty) if typed.ty == *ty => write(out, &typed.value, ty)?,
        (Value::Bool(value), Type::Bool) => out.push_str(if *value { "true" } else { "false" }),
        (Value::Number(number), Type::Number) => {
            let _ = write!(out, "{number}");
        }
        (Value::String(text), Type::String) => write_text(out, text),
        (Value::List(items), Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let element = match ty {
                    Type::Tuple(types) => types.get(index),
                    Type::List(element) | Type::Set(element) => Some(&**element),
                    _ => None,
                };
                let element = element.ok_or_else(|| ValueError::new("too many elements"))?;
                write(out, item, element).map_err(|error| error.under(Step::Index(index)))?;
            }
            out.push(']');
        }
        (Value::Map(fields), Type::Map(element)) => {
            let fields = fields.iter().map(|(key, it)| (key, it, &**element));
            write_fields(out, fields, |key| Step::Key(key.clone()))?;
        }
        (Value::Map(fields), Type::Object(types)) => {
            if let Some(name) = fields.keys().find(|name| !types.contains_key(*name)) {
                return Err(ValueError::new(format!("unknown attribute `{name}`")));
            }
            let fields =
                types.iter().map(|(name, ty)| (name, fields.get(name).unwrap_or(&Value::Null), ty));
            write_fields(out, fields, |name| Step::Attribute(name.clone()))?;
        }
        (_, ty) => return Err(ValueError::new(format!("expected a {ty}"))),
    }
    Ok(())
}

fn write_fields<'a>(
    out: &mut String,
    fields: impl Iterator<Item = (&'a Arc<str>, &'a Value, &'a Type)>,
    step: impl Fn(&Arc<str>) -> Step,
) -> Result<(), ValueError> {
    out.push('{');
    for (index, (key, field, ty)) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, key);
        out.push(':');
        write(out, field, ty).map_err(|error| error.under(step(key)))?;
    }
    out.push('}');
    Ok(())
}

fn write_text(out: &mut String, text: &str) {
    let _ = write!(out, "{}", serde_json::Value::from(text));
}
