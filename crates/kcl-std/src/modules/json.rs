//! `json`

use super::file::dump;
use crate::args::{flag, get, missing, need, strict_integer, text};
use crate::function::{Function, Module};
use crate::host::{Host, too_much_memory};
use kcl_value::json::{WriteOptions, parse, write_with};
use kcl_value::output::Filter;
use kcl_value::{CallArgs, Dict, Fault, Result, Value, text_size};
use std::rc::Rc;

pub(super) const MODULE: Module = Module {
    name: "json",
    functions: &[
        Function::new("encode", encode),
        Function::new("decode", |_, args| parse(text(need(args, 0, "value", "decode")?))),
        Function::new("dump_to_file", dump_to_file),
        Function::new("validate", |_, args| {
            Ok(Value::Bool(parse(text(need(args, 0, "value", "validate")?)).is_ok()))
        }),
        Function::new("merge", |_, args| {
            let source = get(args, 0, "src").ok_or_else(|| missing("merge", "src"))?;
            let patch = get(args, 1, "patch").ok_or_else(|| missing("merge", "patch"))?;
            Ok(merge(source, patch))
        }),
    ],
    constants: &[],
};

fn options(args: &CallArgs, first: usize) -> Result<WriteOptions> {
    let indent = match get(args, first + 1, "indent") {
        Some(indent) => usize::try_from(strict_integer(indent)?).unwrap_or(0),
        None => 0,
    };
    Ok(WriteOptions {
        sort_keys: flag(args, first, "sort_keys", false),
        indent,
        ignore_private: flag(args, first + 2, "ignore_private", false),
        ignore_none: flag(args, first + 3, "ignore_none", false),
    })
}

fn encode(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let data = get(args, 0, "data").ok_or_else(|| missing("encode", "value"))?;
    let options = options(args, 1)?;
    check_size(host, data, options.indent)?;
    Ok(Value::str(write_with(data, &options)))
}

fn dump_to_file(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(data), Some(name)) = (get(args, 0, "data"), get(args, 1, "filename")) else {
        return Err(Fault::new(
            "dump_to_file() missing 2 required positional arguments: 'data' and 'filename'",
        ));
    };
    let options = options(args, 2)?;
    check_size(host, data, options.indent)?;
    let json = write_with(data, &options);
    dump(host, text(name), &json, "json.dump_to_file")
}

/// Refuses a value whose text takes too much memory; each level of it is indented so far.
pub(super) fn check_size(host: &dyn Host, value: &Value, indent: usize) -> Result<()> {
    match text_size(value, Filter::default(), indent, host.room()) {
        Some(_) => Ok(()),
        None => Err(too_much_memory()),
    }
}

fn merge(source: &Value, patch: &Value) -> Value {
    let Some(changes) = patch.as_config() else { return patch.clone() };
    let mut attrs = source.as_config().cloned().unwrap_or_else(Dict::new);
    for change in changes {
        if change.value.is_none_or_undefined() {
            attrs.remove(&change.key);
        } else {
            let old = attrs.get(&change.key).unwrap_or(&Value::Undefined);
            let new = merge(old, &change.value);
            attrs.insert(change.key.clone(), new);
        }
    }
    match source {
        Value::Schema(schema) => {
            let mut schema = kcl_value::SchemaValue::clone(schema);
            schema.attrs = attrs;
            Value::Schema(Rc::new(schema))
        }
        _ => Value::dict(attrs),
    }
}
