//! Conversions between types, and the names of types.

use crate::Host;
use crate::args::{get, integer, missing, only, type_text};
use crate::host::too_much_memory;
use crate::shared_faults::failed_conversion;
use kcl_value::{CallArgs, Fault, Result, Value, fits, show};

pub(super) fn int(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = only(args, "number", "int")?;
    let number = match value {
        Value::Int(number) => *number,
        Value::Bool(flag) => i64::from(*flag),
        Value::Float(number) => *number as i64,
        Value::Unit(number) => {
            if host.debug() {
                check_unit_range(number.raw, number.unit, host.strict_range())?;
            }
            number.value as i64
        }
        Value::Str(text) => match get(args, 1, "base").map_or(10, integer) {
            10 => quantity(text)?,
            base => in_base(text, base)?,
        },
        _ => {
            return Err(Fault::new(format!(
                "int() argument must be a string or a number, not '{}'",
                type_text(value)
            )));
        }
    };
    Ok(Value::Int(number))
}

fn check_unit_range(raw: i64, unit: &str, strict: bool) -> Result<()> {
    let exact = i128::from(raw) * i128::from(whole_unit(unit));
    if strict && i32::try_from(exact).is_err() {
        return Err(Fault::new(format!("{exact}: A 32 bit integer overflow")));
    }
    if i64::try_from(exact).is_err() {
        return Err(Fault::new(format!("{exact}: A 64 bit integer overflow")));
    }
    Ok(())
}

fn whole_unit(unit: &str) -> i64 {
    match exponent(unit) {
        Some((base, exponent)) if exponent > 0 => base.pow(exponent as u32),
        _ => 1,
    }
}

/// The base and exponent of a unit: 1024 and 2 for `Mi`.
fn exponent(unit: &str) -> Option<(i64, i32)> {
    let (prefix, base) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, 1024),
        None => (unit, 1000),
    };
    let exponent = match prefix {
        "n" => -3,
        "u" => -2,
        "m" => -1,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    Some((base, exponent))
}

/// An integer with an optional unit, `10` or `1Ki`.
fn quantity(text: &str) -> Result<i64> {
    let unit_len = match text.as_bytes() {
        [.., _, b'i'] => 2,
        [.., _] => 1,
        [] => 0,
    };
    let unit = text.len().checked_sub(unit_len).and_then(|at| text.split_at_checked(at));
    let (number, scale) = match unit {
        Some((number, unit)) if exponent(unit).is_some() => (number, exponent(unit)),
        _ => (text, None),
    };
    if number.is_empty() {
        return Err(Fault::new("number can't be empty"));
    }
    let number: i64 =
        number.parse().map_err(|error| failed_conversion(format_args!("{error:?}")))?;
    Ok(match scale {
        None => number,
        Some((base, exponent)) if exponent > 0 => number.wrapping_mul(base.pow(exponent as u32)),
        // A fraction of an integer of this size is nothing.
        Some(_) => 0,
    })
}

/// An integer in another base; a prefix like `0x` is skipped.
fn in_base(text: &str, base: i64) -> Result<i64> {
    let radix = base as u32;
    if !(2..=36).contains(&radix) {
        return Err(Fault::new(format!(
            "from_ascii_bytes_radix: radix must lie in the range `[2, 36]` - found {radix}"
        )));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let digits = ["0x", "0X", "0o", "0O", "0b", "0B"]
        .iter()
        .find_map(|prefix| digits.strip_prefix(prefix))
        .unwrap_or(digits);
    i64::from_str_radix(&format!("{sign}{digits}"), radix)
        .map_err(|_| Fault::new(format!("invalid literal for int() with base {base}: '{text}'")))
}

pub(super) fn float_of(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    float(host, only(args, "number", "float")?).map(Value::Float)
}

/// Converts a value to a float as `float()` does.
pub(crate) fn float(host: &dyn Host, value: &Value) -> Result<f64> {
    let number = match value {
        Value::Int(number) => return Ok(*number as f64),
        Value::Bool(flag) => return Ok(f64::from(u8::from(*flag))),
        Value::Unit(number) => return Ok(number.value),
        Value::Float(number) => *number,
        Value::Str(text) => text.parse().map_err(|_| not_a_float(value))?,
        _ => return Err(not_a_float(value)),
    };
    if host.strict_range() && (number as f32).is_infinite() {
        return Err(Fault::new("inf: A 32-bit floating point number overflow"));
    }
    if number.is_infinite() {
        return Err(Fault::new("inf: A 64-bit floating point number overflow"));
    }
    Ok(number)
}

#[cold]
fn not_a_float(value: &Value) -> Box<Fault> {
    Fault::new(format!("invalid literal for float() with base 10: '{}'", show(value)))
}

pub(super) fn bool(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(Value::Bool(only(args, "x", "bool")?.is_truthy()))
}

pub(super) fn str(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(match get(args, 0, "x") {
        Some(text @ Value::Str(_)) => text.clone(),
        Some(value) if !fits(value, host.room()) => return Err(too_much_memory()),
        Some(value) => Value::str(show(value)),
        None => Value::str(""),
    })
}

pub(super) fn type_of(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = get(args, 0, "x").ok_or_else(|| missing("typeof", "x"))?;
    let full_name = get(args, 1, "full_name").is_some_and(Value::is_truthy);
    Ok(match value {
        Value::None => Value::str("None"),
        Value::Schema(schema) if full_name => Value::str(schema.info.full_name()),
        Value::Schema(schema) => Value::Str(schema.info.name.clone()),
        _ => Value::str(type_text(value).into_owned()),
    })
}
