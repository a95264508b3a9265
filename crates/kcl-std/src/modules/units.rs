//! `units`

use crate::args::missing;
use crate::function::{Constant, Function, Module, Param, required};
use crate::host::Host;
use kcl_value::{CallArgs, Result, Value};

const NUM: &[Param] = &[required("num", "int | float")];

const fn constant(name: &'static str, doc: &'static str, value: fn() -> Value) -> Constant {
    Constant { name, ty: "int", doc, value }
}

pub(super) const MODULE: Module = Module {
    name: "units",
    doc: "Units of numbers and conversions to them.",
    functions: &[
        Function::new("to_n", NUM, "str", "Writes a number in units of 10^-9, `1n`.", |h, a| {
            convert(h, a, "n", 1e-9)
        }),
        Function::new("to_u", NUM, "str", "Writes a number in units of 10^-6, `1u`.", |h, a| {
            convert(h, a, "u", 1e-6)
        }),
        Function::new("to_m", NUM, "str", "Writes a number in units of 10^-3, `1m`.", |h, a| {
            convert(h, a, "m", 1e-3)
        }),
        Function::new("to_K", NUM, "str", "Writes a number in units of 10^3, `1K`.", |h, a| {
            convert(h, a, "K", 1e3)
        }),
        Function::new("to_M", NUM, "str", "Writes a number in units of 10^6, `1M`.", |h, a| {
            convert(h, a, "M", 1e6)
        }),
        Function::new("to_G", NUM, "str", "Writes a number in units of 10^9, `1G`.", |h, a| {
            convert(h, a, "G", 1e9)
        }),
        Function::new("to_T", NUM, "str", "Writes a number in units of 10^12, `1T`.", |h, a| {
            convert(h, a, "T", 1e12)
        }),
        Function::new("to_P", NUM, "str", "Writes a number in units of 10^15, `1P`.", |h, a| {
            convert(h, a, "P", 1e15)
        }),
        Function::new("to_Ki", NUM, "str", "Writes a number in units of 2^10, `1Ki`.", |h, a| {
            convert(h, a, "Ki", (1_i64 << 10) as f64)
        }),
        Function::new("to_Mi", NUM, "str", "Writes a number in units of 2^20, `1Mi`.", |h, a| {
            convert(h, a, "Mi", (1_i64 << 20) as f64)
        }),
        Function::new("to_Gi", NUM, "str", "Writes a number in units of 2^30, `1Gi`.", |h, a| {
            convert(h, a, "Gi", (1_i64 << 30) as f64)
        }),
        Function::new("to_Ti", NUM, "str", "Writes a number in units of 2^40, `1Ti`.", |h, a| {
            convert(h, a, "Ti", (1_i64 << 40) as f64)
        }),
        Function::new("to_Pi", NUM, "str", "Writes a number in units of 2^50, `1Pi`.", |h, a| {
            convert(h, a, "Pi", (1_i64 << 50) as f64)
        }),
    ],
    constants: &[
        constant("n", "Nano, 10^-9.", || Value::Float(1e-9)),
        constant("u", "Micro, 10^-6.", || Value::Float(1e-6)),
        constant("m", "Milli, 10^-3.", || Value::Float(1e-3)),
        constant("k", "Kilo, 10^3.", || Value::Int(1_000)),
        constant("K", "Kilo, 10^3.", || Value::Int(1_000)),
        constant("M", "Mega, 10^6.", || Value::Int(1_000_000)),
        constant("G", "Giga, 10^9.", || Value::Int(1_000_000_000)),
        constant("T", "Tera, 10^12.", || Value::Int(1_000_000_000_000)),
        constant("P", "Peta, 10^15.", || Value::Int(1_000_000_000_000_000)),
        constant("Ki", "Kibi, 2^10.", || Value::Int(1 << 10)),
        constant("Mi", "Mebi, 2^20.", || Value::Int(1 << 20)),
        constant("Gi", "Gibi, 2^30.", || Value::Int(1 << 30)),
        constant("Ti", "Tebi, 2^40.", || Value::Int(1 << 40)),
        constant("Pi", "Pebi, 2^50.", || Value::Int(1 << 50)),
        Constant {
            name: "NumberMultiplier",
            ty: "any",
            doc: "The type of numbers with a unit, `1Ki`.",
            value: || Value::Float(1.0),
        },
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
