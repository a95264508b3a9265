//! Arithmetic, shifts and bits.

use crate::number::push_int;
use crate::{Fault, List, Origin, Result, Str, Value};
use std::rc::Rc;

/// The longest string or list that `*` makes, in bytes.
const REPEAT_LIMIT: usize = 1 << 28;

/// `a + b`
pub fn add(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => {
            integer(x.checked_add(*y), &[*x, *y], strict, || i128::from(*x) + i128::from(*y))
        }
        (Value::Float(x), Value::Float(y)) => float(x + y, &[*x, *y], strict),
        // Only this mix is checked without `strict`, too.
        (Value::Int(x), Value::Float(y)) => float(*x as f64 + y, &[*x as f64, *y], true),
        (Value::Float(x), Value::Int(y)) => float(x + *y as f64, &[*x, *y as f64], true),
        (Value::Str(x), Value::Str(y)) => {
            let mut text = String::with_capacity(x.len() + y.len());
            text.push_str(x);
            text.push_str(y);
            Ok(Value::Str(Str::from(text)))
        }
        (Value::List(x), Value::List(y)) => Ok(Value::List(Rc::new(concat(x, y)))),
        (Value::List(_), _) => Err(Fault::new(format!(
            "can only concatenate list (not \"{}\") to list",
            b.type_text()
        ))),
        _ => Err(unsupported("+", a, b)),
    }
}

/// `a - b`
pub fn sub(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => {
            let wide = || i128::from(*x) - i128::from(*y);
            match x.checked_sub(*y) {
                // The reference says 32 for this operator, whatever the range.
                None => Err(overflow(32, wide())),
                result => integer(result, &[*x, *y], strict, wide),
            }
        }
        (Value::Float(x), Value::Float(y)) => float(x - y, &[*x, *y], strict),
        (Value::Int(x), Value::Float(y)) => float(*x as f64 - y, &[*x as f64, *y], strict),
        (Value::Float(x), Value::Int(y)) => float(x - *y as f64, &[*x, *y as f64], strict),
        _ => Err(unsupported("-", a, b)),
    }
}

/// `a * b`
pub fn mul(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => {
            integer(x.checked_mul(*y), &[*x, *y], strict, || i128::from(*x) * i128::from(*y))
        }
        (Value::Float(x), Value::Float(y)) => float(x * y, &[*x, *y], strict),
        (Value::Int(x), Value::Float(y)) => float(*x as f64 * y, &[*x as f64, *y], strict),
        (Value::Float(x), Value::Int(y)) => float(x * *y as f64, &[*x, *y as f64], strict),
        (Value::Str(text), Value::Int(n)) | (Value::Int(n), Value::Str(text)) => {
            Ok(Value::str(text.repeat(repeats(text.len(), *n)?)))
        }
        (Value::List(list), Value::Int(n)) | (Value::Int(n), Value::List(list)) => {
            let n = repeats(size_of_val(list.items.as_slice()), *n)?;
            let mut items = Vec::with_capacity(n * list.items.len());
            for _ in 0..n {
                items.extend_from_slice(&list.items);
            }
            Ok(Value::List(Rc::new(List { items, origins: list.origins.repeat(n) })))
        }
        _ => Err(unsupported("*", a, b)),
    }
}

/// `a / b`: always a float.
pub fn div(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    match numbers(a, b) {
        Some((x, y)) => Ok(Value::Float(x / y)),
        None => Err(unsupported("/", a, b)),
    }
}

/// `a // b`: rounded down.
pub fn floor_div(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        if *y == 0 {
            return Err(Fault::new(if *x < 0 { REMAINDER_BY_ZERO } else { DIVIDE_BY_ZERO }));
        }
        let Some(quotient) = x.checked_div(*y) else {
            return Err(Fault::new("attempt to divide with overflow"));
        };
        let inexact = x % y != 0;
        return Ok(Value::Int(if inexact && (*x < 0) != (*y < 0) {
            quotient - 1
        } else {
            quotient
        }));
    }
    match numbers(a, b) {
        Some((x, y)) => Ok(Value::Float((x / y).floor())),
        None => Err(unsupported("//", a, b)),
    }
}

const DIVIDE_BY_ZERO: &str = "attempt to divide by zero";
const REMAINDER_BY_ZERO: &str = "attempt to calculate the remainder with a divisor of zero";

/// `a % b`: with the sign of `b` for integers, of `a` for floats.
pub fn rem(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        if *y == 0 {
            return Err(Fault::new(REMAINDER_BY_ZERO));
        }
        let Some(rest) = x.checked_rem(*y) else {
            return Err(Fault::new("attempt to calculate the remainder with overflow"));
        };
        return Ok(Value::Int(if rest != 0 && (*x < 0) != (*y < 0) { rest + y } else { rest }));
    }
    match numbers(a, b) {
        Some((x, y)) => Ok(Value::Float(x % y)),
        None => Err(unsupported("%", a, b)),
    }
}

/// `a ** b`: of integers an integer, so a negative exponent is an overflow unless the base
/// is 0, 1 or -1.
pub fn pow(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => {
            let result = i32::try_from(*y).ok().and_then(|y| x.checked_pow(y as u32));
            integer(result, &[*x, *y], strict, || i128::from(*x).wrapping_pow(*y as u32))
        }
        _ => match numbers(a, b) {
            Some((x, y)) => {
                let result = x.powf(y);
                if strict && !in_i32(y as i64) {
                    return Err(float_overflow(result));
                }
                float(result, &[x, y], strict)
            }
            None => Err(unsupported("**", a, b)),
        },
    }
}

/// `a << b`
pub fn shl(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    shift("<<", a, b, strict, i64::checked_shl, i128::wrapping_shl)
}

/// `a >> b`
pub fn shr(a: &Value, b: &Value, strict: bool) -> Result<Value> {
    shift(">>", a, b, strict, i64::checked_shr, i128::wrapping_shr)
}

/// A shift; only the operands and the count have a range, bits that fall off are lost.
fn shift(
    name: &str,
    a: &Value,
    b: &Value,
    strict: bool,
    narrow: fn(i64, u32) -> Option<i64>,
    wide: fn(i128, u32) -> i128,
) -> Result<Value> {
    let (Value::Int(x), Value::Int(y)) = (a, b) else {
        return Err(unsupported(name, a, b));
    };
    let all_bits = || wide(i128::from(*x), *y as u32);
    if strict && !(in_i32(*x) && (0..32).contains(y)) {
        return Err(overflow(32, all_bits()));
    }
    match u32::try_from(*y).ok().and_then(|count| narrow(*x, count)) {
        Some(result) => Ok(Value::Int(result)),
        None => Err(overflow(64, all_bits())),
    }
}

/// `a & b`
pub fn bit_and(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    bits("&", a, b, |x, y| x & y)
}

/// `a | b` for integers; other operands are merged by the evaluator.
pub fn bit_or_int(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    bits("|", a, b, |x, y| x | y)
}

/// `a ^ b`
pub fn bit_xor(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
    bits("^", a, b, |x, y| x ^ y)
}

fn bits(name: &str, a: &Value, b: &Value, op: fn(i64, i64) -> i64) -> Result<Value> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Value::Int(op(*x, *y))),
        _ => Err(unsupported(name, a, b)),
    }
}

/// `+a`
pub fn plus(a: &Value) -> Result<Value> {
    match a {
        Value::Int(_) | Value::Float(_) => Ok(a.clone()),
        _ => Err(bad_operand("+", a)),
    }
}

/// `-a`; the smallest integer stays itself.
pub fn minus(a: &Value) -> Result<Value> {
    match a {
        Value::Int(number) => Ok(Value::Int(number.wrapping_neg())),
        // Not `-number`: that would make a negative zero.
        Value::Float(number) => Ok(Value::Float(0.0 - number)),
        _ => Err(bad_operand("-", a)),
    }
}

/// `~a`: floats and unit numbers are cut to integers, everything else counts as zero.
pub fn invert(a: &Value) -> Result<Value> {
    let number = match a {
        Value::Int(number) => *number,
        Value::Float(number) => *number as i64,
        Value::Unit(number) => number.value as i64,
        _ => 0,
    };
    Ok(Value::Int(!number))
}

fn numbers(a: &Value, b: &Value) -> Option<(f64, f64)> {
    Some((number(a)?, number(b)?))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Checks the range of an integer operation.
fn integer(
    result: Option<i64>,
    operands: &[i64],
    strict: bool,
    wide: impl Fn() -> i128,
) -> Result<Value> {
    if strict && !(operands.iter().all(|x| in_i32(*x)) && result.is_some_and(in_i32)) {
        return Err(overflow(32, wide()));
    }
    result.map(Value::Int).ok_or_else(|| overflow(64, wide()))
}

/// Checks the range of a float operation.
fn float(result: f64, operands: &[f64], strict: bool) -> Result<Value> {
    if strict && !(operands.iter().all(|x| in_f32(*x)) && in_f32(result)) {
        return Err(float_overflow(result));
    }
    Ok(Value::Float(result))
}

fn in_i32(number: i64) -> bool {
    i32::try_from(number).is_ok()
}

/// Not outside the range of `f32`; so it holds for what is not a number.
fn in_f32(number: f64) -> bool {
    !(number > f64::from(f32::MAX) || number < f64::from(f32::MIN))
}

fn concat(a: &List, b: &List) -> List {
    let mut items = Vec::with_capacity(a.items.len() + b.items.len());
    items.extend_from_slice(&a.items);
    items.extend_from_slice(&b.items);
    let mut origins = Vec::new();
    if !a.origins.is_empty() || !b.origins.is_empty() {
        origins.extend_from_slice(&a.origins);
        origins.resize(a.items.len(), Origin::default());
        origins.extend_from_slice(&b.origins);
        origins.resize(items.len(), Origin::default());
    }
    List { items, origins }
}

/// Checks how often something of `len` bytes may be repeated.
fn repeats(len: usize, n: i64) -> Result<usize> {
    if len == 0 {
        return Ok(0);
    }
    usize::try_from(n)
        .ok()
        .filter(|n| n.checked_mul(len).is_some_and(|size| size <= REPEAT_LIMIT))
        .ok_or_else(|| Fault::new("capacity overflow"))
}

#[cold]
#[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
fn overflow(n_bits: u8, result: i128) -> Box<Fault> {
    Fault::new(format!("{result}: A {n_bits} bit integer overflow"))
}

#[cold]
#[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
fn float_overflow(result: f64) -> Box<Fault> {
    let mut text = format!("{result:e}");
    if let Some((mantissa, exponent)) = text.split_once('e') {
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let mut number = format!("{mantissa}e{}", if exponent < 0 { "" } else { "+" });
        push_int(&mut number, exponent);
        text = number;
    }
    Fault::new(format!("{text}: A 32-bit floating point number overflow"))
}

#[cold]
#[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
fn unsupported(name: &str, a: &Value, b: &Value) -> Box<Fault> {
    Fault::new(format!(
        "unsupported operand type(s) for {name}: '{}' and '{}'",
        a.type_text(),
        b.type_text()
    ))
}

#[cold]
#[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
fn bad_operand(name: &str, a: &Value) -> Box<Fault> {
    Fault::new(format!("bad operand type for unary {name}: '{}'", a.type_text()))
}
