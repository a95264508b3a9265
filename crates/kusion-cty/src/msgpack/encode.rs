//! Writes values.

use super::{REFINED, UNKNOWN, key};
use crate::{Bound, Number, Refinement, Step, Type, Value, ValueError};
use rmp::encode as write;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A refinement that needs more bytes is left out: receivers need not read longer ones.
const MAX_REFINEMENT: usize = 1024;

/// Writes a value of a type. Attributes that an object lacks are null.
///
/// # Errors
///
/// The value is not one of the type.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, ValueError> {
    let mut out = Vec::new();
    add(&mut out, value, ty)?;
    Ok(out)
}

fn add(out: &mut Vec<u8>, value: &Value, ty: &Type) -> Result<(), ValueError> {
    match (value, ty) {
        (Value::Null, _) => put(write::write_nil(out)),
        (Value::Unknown(refinement), _) => unknown(out, refinement.as_deref()),
        (Value::Typed(typed), Type::Dynamic) => {
            put(write::write_array_len(out, 2))?;
            put(write::write_bin(out, typed.ty.to_json().to_string().as_bytes()))?;
            add(out, &typed.value, &typed.ty)
        }
        (Value::Typed(typed), ty) if typed.ty == *ty => add(out, &typed.value, ty),
        (Value::Bool(value), Type::Bool) => put(write::write_bool(out, *value)),
        (Value::Number(number), Type::Number) => add_number(out, number),
        (Value::String(text), Type::String) => put(write::write_str(out, text)),
        (Value::List(items), Type::List(element) | Type::Set(element)) => {
            put(write::write_array_len(out, length(items.len())?))?;
            for (index, item) in items.iter().enumerate() {
                add(out, item, element).map_err(|error| error.under(Step::Index(index)))?;
            }
            Ok(())
        }
        (Value::List(items), Type::Tuple(types)) if items.len() == types.len() => {
            put(write::write_array_len(out, length(items.len())?))?;
            for (index, (item, ty)) in items.iter().zip(types.iter()).enumerate() {
                add(out, item, ty).map_err(|error| error.under(Step::Index(index)))?;
            }
            Ok(())
        }
        (Value::Map(fields), Type::Map(element)) => {
            put(write::write_map_len(out, length(fields.len())?))?;
            for (key, field) in fields {
                put(write::write_str(out, key))?;
                add(out, field, element).map_err(|error| error.under(Step::Key(key.clone())))?;
            }
            Ok(())
        }
        (Value::Map(fields), Type::Object(types)) => object(out, fields, types),
        (_, ty) => Err(ValueError::new(format!("expected a {ty}"))),
    }
}

fn object(
    out: &mut Vec<u8>,
    fields: &BTreeMap<Arc<str>, Value>,
    types: &BTreeMap<Arc<str>, Type>,
) -> Result<(), ValueError> {
    if let Some(name) = fields.keys().find(|name| !types.contains_key(*name)) {
        return Err(ValueError::new(format!("unknown attribute `{name}`")));
    }
    put(write::write_map_len(out, length(types.len())?))?;
    for (name, ty) in types {
        put(write::write_str(out, name))?;
        let field = fields.get(name).unwrap_or(&Value::Null);
        add(out, field, ty).map_err(|error| error.under(Step::Attribute(name.clone())))?;
    }
    Ok(())
}

/// Writes an integer, a binary number if that is exact, or a decimal text.
fn add_number(out: &mut Vec<u8>, number: &Number) -> Result<(), ValueError> {
    if let Some(integer) = number.as_i64() {
        put(write::write_sint(out, integer))
    } else if let Some(binary) = number.as_f64() {
        put(write::write_f64(out, binary))
    } else {
        put(write::write_str(out, &number.to_string()))
    }
}

fn unknown(out: &mut Vec<u8>, refinement: Option<&Refinement>) -> Result<(), ValueError> {
    let payload = refinement.map(refined).transpose()?;
    match payload.filter(|it| it.len() <= MAX_REFINEMENT && it.len() > 1) {
        Some(payload) => {
            put(write::write_ext_meta(out, payload.len() as u32, REFINED))?;
            out.extend_from_slice(&payload);
        }
        None => {
            put(write::write_ext_meta(out, 1, UNKNOWN))?;
            out.push(0);
        }
    }
    Ok(())
}

fn refined(refinement: &Refinement) -> Result<Vec<u8>, ValueError> {
    let Refinement { is_null, prefix, min, max, min_length, max_length } = refinement;
    let mut out = Vec::new();
    let count = [
        is_null.is_some(),
        prefix.is_some(),
        min.is_some(),
        max.is_some(),
        min_length.is_some(),
        max_length.is_some(),
    ];
    put(write::write_map_len(&mut out, count.into_iter().filter(|it| *it).count() as u32))?;
    if let Some(is_null) = is_null {
        put(write::write_uint(&mut out, key::NULLNESS))?;
        put(write::write_bool(&mut out, *is_null))?;
    }
    if let Some(prefix) = prefix {
        put(write::write_uint(&mut out, key::PREFIX))?;
        put(write::write_str(&mut out, prefix))?;
    }
    for (key, bound) in [(key::MIN, min), (key::MAX, max)] {
        let Some((number, is_inclusive)): &Option<Bound> = bound else { continue };
        put(write::write_uint(&mut out, key))?;
        put(write::write_array_len(&mut out, 2))?;
        add_number(&mut out, number)?;
        put(write::write_bool(&mut out, *is_inclusive))?;
    }
    for (key, length) in [(key::MIN_LENGTH, min_length), (key::MAX_LENGTH, max_length)] {
        let Some(length) = length else { continue };
        put(write::write_uint(&mut out, key))?;
        put(write::write_uint(&mut out, *length))?;
    }
    Ok(out)
}

fn length(length: usize) -> Result<u32, ValueError> {
    u32::try_from(length).map_err(|_| ValueError::new("too many elements"))
}

/// Writing to memory does not fail.
fn put<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<(), ValueError> {
    result.map(|_| ()).map_err(|error| ValueError::new(error.to_string()))
}
