//! `units`

use crate::args::missing;
use crate::function::{Constant, Function, Module};
use crate::host::Host;
use kcl_value::{CallArgs, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "units",
    functions: &[
        Function::new("to_n", |h, a| convert(h, a, "n", 1e-9)),
        Function::new("to_u", |h, a| convert(h, a, "u", 1e-6)),
        Function::new("to_m", |h, a| convert(h, a, "m", 1e-3)),
        Function::new("to_K", |h, a| convert(h, a, "K", 1e3)),
        Function::new("to_M", |h, a| convert(h, a, "M", 1e6)),
        Function::new("to_G", |h, a| convert(h, a, "G", 1e9)),
        Function::new("to_T", |h, a| convert(h, a, "T", 1e12)),
        Function::new("to_P", |h, a| convert(h, a, "P", 1e15)),
        Function::new("to_Ki", |h, a| convert(h, a, "Ki", (1_i64 << 10) as f64)),
        Function::new("to_Mi", |h, a| convert(h, a, "Mi", (1_i64 << 20) as f64)),
        Function::new("to_Gi", |h, a| convert(h, a, "Gi", (1_i64 << 30) as f64)),
        Function::new("to_Ti", |h, a| convert(h, a, "Ti", (1_i64 << 40) as f64)),
        Function::new("to_Pi", |h, a| convert(h, a, "Pi", (1_i64 << 50) as f64)),
    ],
    constants: &[
        Constant::new("n", || Value::Float(1e-9)),
        Constant::new("u", || Value::Float(1e-6)),
        Constant::new("m", || Value::Float(1e-3)),
        Constant::new("k", || Value::Int(1_000)),
        Constant::new("K", || Value::Int(1_000)),
        Constant::new("M", || Value::Int(1_000_000)),
        Constant::new("G", || Value::Int(1_000_000_000)),
        Constant::new("T", || Value::Int(1_000_000_000_000)),
        Constant::new("P", || Value::Int(1_000_000_000_000_000)),
        Constant::new("Ki", || Value::Int(1 << 10)),
        Constant::new("Mi", || Value::Int(1 << 20)),
        Constant::new("Gi", || Value::Int(1 << 30)),
        Constant::new("Ti", || Value::Int(1 << 40)),
        Constant::new("Pi", || Value::Int(1 << 50)),
        Constant::new("NumberMultiplier", || Value::Float(1.0)),
    ],
};

/// Divides by the unit, cuts off the fraction and writes the unit behind.
fn convert(host: &mut dyn Host, args: &CallArgs, unit: &str, size: f64) -> Result<Value> {
    let Some(value) = crate::args::get(args, 0, "num") else {
        return Err(missing(&format!("to_{unit}"), "num"));
    };
    let number = match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ if size < 1.0 => crate::builtins::float(host, value)?,
        _ => 0.0,
    };
    Ok(Value::str(format!("{}{unit}", (number / size) as i64)))
}
