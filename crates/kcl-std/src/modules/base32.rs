//! `base32`

use crate::args::{need, text};
use crate::function::{Function, Module, required};
use crate::host::Host;
use data_encoding::{BASE32, BASE32_NOPAD};
use kcl_value::{CallArgs, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "base32",
    doc: "Text in base 32 (RFC 4648).",
    functions: &[
        Function::new(
            "encode",
            &[required("value", "str")],
            "str",
            "Encodes a string in base 32, with padding.",
            encode,
        ),
        Function::new(
            "decode",
            &[required("value", "str")],
            "str",
            "Decodes a string from base 32; upper and lower case and missing padding are fine.",
            decode,
        ),
    ],
    constants: &[],
};

fn encode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "encode")?);
    Ok(Value::str(BASE32.encode(value.as_bytes())))
}

fn decode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "decode")?);
    let digits = value.trim_end_matches('=').to_ascii_uppercase();
    let bytes = BASE32_NOPAD
        .decode(digits.as_bytes())
        .map_err(|_| crate::args::missing("decode", "value"))?;
    Ok(String::from_utf8(bytes).map_or(Value::None, Value::str))
}
