//! `math`
//!
//! Results for integers are integers where the reference has it so, even for logarithms.

use crate::args::{get, too_few};
use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::f64::consts::E;

pub(super) const MODULE: Module = Module {
    name: "math",
    functions: &[
        Function::new("ceil", |_, args| rounded(args, "ceil", f64::ceil)),
        Function::new("factorial", factorial),
        Function::new("floor", |_, args| rounded(args, "floor", f64::floor)),
        Function::new("gcd", gcd),
        Function::new("isfinite", |_, args| classified(args, "isfinite", f64::is_finite)),
        Function::new("isinf", |_, args| match get(args, 0, "x") {
            Some(Value::Bool(_)) => Ok(Value::Bool(false)),
            _ => classified(args, "isinf", f64::is_infinite),
        }),
        Function::new("isnan", |_, args| classified(args, "isnan", f64::is_nan)),
        Function::new("modf", modf),
        Function::new("exp", |_, args| float(args, "exp", f64::exp)),
        Function::new("expm1", |_, args| float(args, "expm1", f64::exp_m1)),
        Function::new("log", log),
        Function::new("log1p", |_, args| float(args, "log1p", |x| (x + 1.0).ln_1p())),
        Function::new("log2", |_, args| match number(args, "log2")? {
            Number::Int(x) => Ok(Value::Int((x as f64).log2() as i64)),
            Number::Float(x) => Ok(Value::Float(x.log2())),
        }),
        Function::new("log10", |_, args| float(args, "log10", f64::log10)),
        Function::new("pow", pow),
        Function::new("sqrt", |_, args| float(args, "sqrt", f64::sqrt)),
    ],
    constants: &[],
};

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

fn number(args: &CallArgs, function: &str) -> Result<Number> {
    match get(args, 0, "x") {
        Some(Value::Int(x)) => Ok(Number::Int(*x)),
        Some(Value::Float(x)) => Ok(Number::Float(*x)),
        _ => Err(too_few(function)),
    }
}

fn rounded(args: &CallArgs, function: &str, round: fn(f64) -> f64) -> Result<Value> {
    Ok(Value::Int(match number(args, function)? {
        Number::Int(x) => x,
        Number::Float(x) => round(x) as i64,
    }))
}

fn classified(args: &CallArgs, function: &str, holds: fn(f64) -> bool) -> Result<Value> {
    Ok(Value::Bool(match number(args, function)? {
        Number::Int(_) => holds(0.0),
        Number::Float(x) => holds(x),
    }))
}

fn float(args: &CallArgs, function: &str, compute: fn(f64) -> f64) -> Result<Value> {
    Ok(Value::Float(compute(match number(args, function)? {
        Number::Int(x) => x as f64,
        Number::Float(x) => x,
    })))
}

fn factorial(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let product = |n: i64| match n {
        0..=20 => Ok((1..=n).product::<i64>()),
        _ => Err(Fault::new("factorial() result overflow")),
    };
    match get(args, 0, "x") {
        Some(Value::Int(x)) if *x >= 0 => product(*x).map(Value::Int),
        Some(Value::Float(x)) if *x >= 0.0 && x.fract() == 0.0 && *x < i64::MAX as f64 => {
            product(*x as i64).map(|product| Value::Float(product as f64))
        }
        Some(_) => Err(Fault::new("factorial() only accepts integral values")),
        None => Err(too_few("factorial")),
    }
}

fn gcd(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(Value::Int(a)), Some(Value::Int(b))) = (get(args, 0, "a"), get(args, 1, "b")) else {
        return Err(Fault::new(format!(
            "gcd() takes exactly two arguments ({} given)",
            args.positional.len()
        )));
    };
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Ok(Value::Int(a as i64))
}

fn modf(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (fraction, whole) = match number(args, "modf")? {
        Number::Int(x) => (0.0, x as f64),
        Number::Float(x) if x.is_infinite() => (0.0_f64.copysign(x), x),
        Number::Float(x) => (x.fract(), x.trunc()),
    };
    Ok(Value::list(vec![Value::Float(fraction), Value::Float(whole)]))
}

fn log(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    // The reference takes the base only as a float that is passed by position.
    let base = match args.positional.get(1) {
        Some(Value::Float(base)) => *base,
        _ => E,
    };
    Ok(match number(args, "log")? {
        Number::Int(x) => Value::Int((x as f64).log(base) as i64),
        Number::Float(x) => Value::Float(x.log(base)),
    })
}

fn pow(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let power = get(args, 1, "y");
    match (number(args, "pow")?, power) {
        (Number::Int(x), Some(Value::Int(y))) if *y < 0 => {
            Ok(Value::Float((x as f64).powf(*y as f64)))
        }
        (Number::Int(x), Some(Value::Int(y))) => Ok(Value::Int(x.wrapping_pow(*y as u32))),
        (Number::Int(x), Some(Value::Float(y))) => Ok(Value::Float((x as f64).powf(*y))),
        (Number::Float(x), Some(Value::Int(y))) => Ok(Value::Float(x.powi(*y as i32))),
        (Number::Float(x), Some(Value::Float(y))) => Ok(Value::Float(x.powf(*y))),
        _ => Err(too_few("pow")),
    }
}
