//! Top-level arguments.

use crate::Host;
use crate::args::{flag, get, text};
use kcl_value::{CallArgs, Fault, Result, Value, show};

pub(super) fn option(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let key = get(args, 0, "key").map(text);
    if let Some(key) = key {
        let value = host.option(key).or_else(|| get(args, 3, "default").cloned());
        if let Some(value) = value {
            return match get(args, 1, "type") {
                Some(ty) => as_type(value, text(ty)),
                None => Ok(value),
            };
        }
    }
    if flag(args, 2, "required", false) {
        let key = key.unwrap_or("?");
        return Err(Fault::new(format!(
            "option('{key}') must be initialized, try '-D {key}=?' argument"
        )));
    }
    Ok(Value::None)
}

fn as_type(value: Value, ty: &str) -> Result<Value> {
    match ty {
        "" => Ok(value),
        "bool" => Ok(match &value {
            Value::Bool(_) => value,
            Value::Int(number) => Value::Bool(*number != 0),
            Value::Float(number) => Value::Bool(*number != 0.0),
            Value::Str(text) => Value::Bool(matches!(text.as_str(), "True" | "true")),
            _ => Value::Undefined,
        }),
        "int" => match &value {
            Value::Bool(flag) => Ok(Value::Int(i64::from(*flag))),
            Value::Int(_) => Ok(value),
            Value::Float(number) => Ok(Value::Int(*number as i64)),
            Value::Str(text) => text.parse().map(Value::Int).map_err(|_| cannot_use(&value, ty)),
            _ => Err(cannot_use(&value, ty)),
        },
        "float" => match &value {
            Value::Bool(flag) => Ok(Value::Float(f64::from(u8::from(*flag)))),
            Value::Int(number) => Ok(Value::Float(*number as f64)),
            Value::Float(_) => Ok(value),
            Value::Str(text) => Ok(Value::Float(text.parse().unwrap_or(0.0))),
            _ => Err(cannot_use(&value, ty)),
        },
        "str" => match &value {
            Value::Bool(flag) => Ok(Value::str(flag.to_string())),
            Value::Int(number) => Ok(Value::str(number.to_string())),
            Value::Float(number) => Ok(Value::str(number.to_string())),
            Value::Str(_) => Ok(value),
            _ => Err(cannot_use(&value, ty)),
        },
        "list" if matches!(value, Value::List(_)) => Ok(value),
        "dict" if matches!(value, Value::Dict(_)) => Ok(value),
        "list" | "dict" => Err(cannot_use(&value, ty)),
        _ => Err(Fault::new(format!("unknown type '{ty}'"))),
    }
}

#[cold]
fn cannot_use(value: &Value, ty: &str) -> Box<Fault> {
    Fault::new(format!("cannot use '{}' as type '{ty}'", show(value)))
}
