//! Values as users meet them: operators with their messages, data formats, final output.

mod access;
mod arith;
mod compare;
mod json;
mod output;
mod yaml;

use kcl_value::{Dict, Func, SchemaInfo, SchemaValue, Str, UnitNumber, Value};
use std::rc::Rc;

/// Reads a value from JSON, with a few words for what JSON does not have.
fn value(source: &str) -> Value {
    match source {
        "Undefined" => Value::Undefined,
        "inf" => Value::Float(f64::INFINITY),
        "1Ki" => Value::Unit(Rc::new(UnitNumber { value: 1024.0, raw: 1, unit: "Ki" })),
        "lambda" => {
            Value::Func(Rc::new(Func { name: "lambda".into(), is_type: false, body: Box::new(()) }))
        }
        _ => kcl_value::json::parse(source).expect(source),
    }
}

/// Makes an instance of schema `name` in package `package`.
fn schema(package: &str, name: &str, attrs: &[(&str, Value)]) -> Value {
    Value::Schema(Rc::new(SchemaValue {
        info: Rc::new(SchemaInfo { name: name.into(), package: package.into(), id: 1 }),
        attrs: dict(attrs),
        config_keys: Rc::new([]),
        optional: Rc::new([]),
        args: Rc::default(),
        origin: kcl_value::Origin::default(),
        whole: kcl_value::Whole::default(),
    }))
}

fn dict(pairs: &[(&str, Value)]) -> Dict {
    pairs.iter().map(|(key, value)| (Str::from(*key), value.clone())).collect()
}

/// The text of a result: the value as JSON, or the message after `!`.
fn text(result: kcl_value::Result<Value>) -> String {
    match result {
        Ok(Value::Undefined) => "Undefined".into(),
        Ok(value) => kcl_value::json::write(&value),
        Err(fault) => format!("! {}", fault.message),
    }
}
