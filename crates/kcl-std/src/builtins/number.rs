//! Numbers: digits, powers, rounding.

use crate::Host;
use crate::args::{get, only};
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) fn abs(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(match only(args, "inval", "abs")? {
        Value::Int(number) => Value::Int(number.wrapping_abs()),
        Value::Float(number) => Value::Float(number.abs()),
        _ => Value::Undefined,
    })
}

pub(super) fn multiplyof(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    match (get(args, 0, "a"), get(args, 1, "b")) {
        (Some(Value::Int(_)), Some(Value::Int(0))) => {
            Err(Fault::new("attempt to calculate the remainder with a divisor of zero"))
        }
        (Some(Value::Int(a)), Some(Value::Int(b))) => match a.checked_rem(*b) {
            Some(rest) => Ok(Value::Bool(rest == 0)),
            None => Err(Fault::new("attempt to calculate the remainder with overflow")),
        },
        (Some(_), Some(_)) => Ok(Value::Undefined),
        _ => Err(Fault::new(format!(
            "multiplyof() takes exactly two argument ({} given)",
            args.positional.len()
        ))),
    }
}

pub(super) fn hex(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    digits(only(args, "number", "hex")?, |magnitude| format!("0x{magnitude:x}"))
}

pub(super) fn bin(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    digits(only(args, "number", "bin")?, |magnitude| format!("0b{magnitude:b}"))
}

pub(super) fn oct(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    digits(only(args, "number", "oct")?, |magnitude| format!("0o{magnitude:o}"))
}

fn digits(value: &Value, write: fn(u64) -> String) -> Result<Value> {
    let Value::Int(number) = value else { return Ok(Value::Undefined) };
    let text = write(number.unsigned_abs());
    Ok(Value::str(if *number < 0 { format!("-{text}") } else { text }))
}

pub(super) fn ord(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Value::Str(text) = only(args, "c", "ord")? else { return Ok(Value::Undefined) };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => Ok(Value::Int(i64::from(u32::from(only)))),
        _ => Err(Fault::new(format!(
            " ord() expected string of length 1, but string of length {} found",
            text.len()
        ))),
    }
}

pub(super) fn pow(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(x), Some(y)) = (get(args, 0, "x"), get(args, 1, "y")) else {
        return Ok(Value::Undefined);
    };
    if let Some(Value::Int(modulus)) = get(args, 2, "z") {
        return pow_modulo(x, y, *modulus);
    }
    Ok(match (x, y) {
        (Value::Int(x), Value::Int(y)) => {
            let power = (*x as f64).powf(*y as f64);
            if *y >= 0 { Value::Int(power as i64) } else { Value::Float(power) }
        }
        (Value::Int(x), Value::Float(y)) => Value::Float((*x as f64).powf(*y)),
        (Value::Float(x), Value::Int(y)) => Value::Float(x.powf(*y as f64)),
        (Value::Float(x), Value::Float(y)) => Value::Float(x.powf(*y)),
        _ => Value::Undefined,
    })
}

fn pow_modulo(x: &Value, y: &Value, modulus: i64) -> Result<Value> {
    if modulus == 0 {
        return Err(Fault::new("pow() 3rd argument cannot be 0"));
    }
    let (Value::Int(x), Value::Int(y)) = (x, y) else {
        return Err(Fault::new("pow() 3rd argument not allowed unless all arguments are integers"));
    };
    if *y < 0 {
        return Err(Fault::new(
            "pow() 2nd argument cannot be negative when 3rd argument specified",
        ));
    }
    let modulus = i128::from(modulus);
    let mut base = i128::from(*x);
    let mut exponent = *y;
    let mut power = 1_i128;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    Ok(Value::Int(power as i64))
}

pub(super) fn round(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(number) = get(args, 0, "number") else { return Ok(Value::Undefined) };
    let Some(Value::Int(digits)) = get(args, 1, "ndigits") else {
        return Ok(match number {
            Value::Int(number) => Value::Int(*number),
            Value::Float(number) => Value::Int(number.round() as i64),
            _ => Value::Undefined,
        });
    };
    Ok(match number {
        Value::Int(number) => Value::Float(*number as f64),
        Value::Float(number) => round_to(*number, *digits),
        _ => Value::Undefined,
    })
}

/// The largest power of ten that a float holds exactly.
const EXACT_DIGITS: i64 = 22;

fn round_to(number: f64, digits: i64) -> Value {
    if digits == 0 {
        return Value::Float(number.round());
    }
    let (scaled, first, second) = if digits > 0 {
        let rest = (digits - EXACT_DIGITS).max(0);
        let (first, second) = if rest > 0 {
            (10_f64.powf(rest as f64), 1e22)
        } else {
            (10_f64.powf(digits as f64), 1.0)
        };
        (number * first * second, first, second)
    } else {
        let scale = 10_f64.powf(-(digits as f64));
        (number / scale, scale, 1.0)
    };
    if digits > 0 && !scaled.is_finite() {
        return Value::Float(number);
    }
    let mut rounded = scaled.round();
    #[expect(clippy::float_cmp, reason = "halves are exact")]
    if (scaled - rounded).abs() == 0.5 {
        rounded = 2.0 * (scaled / 2.0).round();
    }
    let result = if digits > 0 { rounded / second / first } else { rounded * first };
    if result.is_finite() { Value::Float(result) } else { Value::Undefined }
}
