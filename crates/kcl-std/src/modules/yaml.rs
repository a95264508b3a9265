//! `yaml`

use super::file::dump;
use super::json::check_size;
use crate::args::{flag, get, need, text};
use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::yaml::{WriteOptions, parse, parse_stream, write_stream, write_with};
use kcl_value::{CallArgs, Dict, Fault, Result, Value};
use std::rc::Rc;

pub(super) const MODULE: Module = Module {
    name: "yaml",
    functions: &[
        Function::new("encode", encode),
        Function::new("encode_all", encode_all),
        Function::new("decode", |_, args| parse(text(need(args, 0, "value", "decode")?))),
        Function::new("decode_all", |_, args| {
            parse_stream(text(need(args, 0, "value", "decode_all")?)).map(Value::list)
        }),
        Function::new("dump_to_file", dump_to_file),
        Function::new("dump_all_to_file", dump_all_to_file),
        Function::new("validate", |_, args| {
            Ok(Value::Bool(parse_stream(text(need(args, 0, "value", "validate")?)).is_ok()))
        }),
    ],
    constants: &[],
};

/// The spaces before each level of a dict.
const INDENT: usize = 2;

fn options(args: &CallArgs, first: usize) -> WriteOptions {
    WriteOptions {
        sort_keys: flag(args, first, "sort_keys", false),
        ignore_private: flag(args, first + 1, "ignore_private", false),
        ignore_none: flag(args, first + 2, "ignore_none", false),
    }
}

fn encode(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let data = need(args, 0, "data", "encode_all")?;
    check_size(host, data, INDENT)?;
    let options = options(args, 1);
    let yaml = if flag(args, 4, "multiline_string", false) {
        write_with(&unescaped(data), &options)
    } else {
        write_with(data, &options)
    };
    Ok(Value::str(yaml))
}

/// A value with the escape sequences that its strings spell out replaced.
fn unescaped(value: &Value) -> Value {
    let dict = |dict: &Dict| -> Dict {
        dict.iter().map(|entry| (entry.key.clone(), unescaped(&entry.value))).collect()
    };
    match value {
        Value::Str(text) if text.contains('\\') => Value::str(unescape(text)),
        Value::List(list) => Value::list(list.items.iter().map(unescaped).collect()),
        Value::Dict(config) => Value::dict(dict(config)),
        Value::Schema(schema) => {
            let mut copy = kcl_value::SchemaValue::clone(schema);
            copy.attrs = dict(&schema.attrs);
            Value::Schema(Rc::new(copy))
        }
        _ => value.clone(),
    }
}

/// A text with its escape sequences replaced; a backslash that starts none stays.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some(c @ ('\\' | '"' | '\'' | '/')) => out.push(c),
            Some('u') => match after
                .get(1..5)
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?))
            {
                Some(c) => {
                    out.push(c);
                    rest = &after[5..];
                    continue;
                }
                None => out.push_str("\\u"),
            },
            Some(c) => {
                out.push('\\');
                out.push(c);
            }
            None => out.push('\\'),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// The documents of a list.
fn stream(data: &Value, options: WriteOptions) -> Result<String> {
    let values = data.as_list().ok_or_else(|| Fault::new("invalid list value"))?;
    Ok(write_stream(values, &options))
}

fn encode_all(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let data = need(args, 0, "data", "encode")?;
    check_size(host, data, INDENT)?;
    stream(data, options(args, 1)).map(Value::str)
}

fn dump_to_file(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(data), Some(name)) = (get(args, 0, "data"), get(args, 1, "filename")) else {
        return Err(Fault::new(
            "dump_to_file() missing 2 required positional arguments: 'data' and 'filename'",
        ));
    };
    check_size(host, data, INDENT)?;
    let yaml = write_with(data, &options(args, 2));
    dump(host, text(name), &yaml, "yaml.dump_to_file")
}

fn dump_all_to_file(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(data), Some(name)) = (get(args, 0, "data"), get(args, 1, "filename")) else {
        return Err(Fault::new(
            "dump_all_to_file() missing 2 required positional arguments: 'data' and 'filename'",
        ));
    };
    check_size(host, data, INDENT)?;
    let yaml = stream(data, options(args, 2))?;
    dump(host, text(name), &yaml, "yaml.dump_all_to_file")
}
