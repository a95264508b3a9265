//! `base64`

use crate::args::{need, text};
use crate::function::{Function, Module, optional, required};
use crate::host::Host;
use data_encoding::{BASE64, BASE64_NOPAD, DecodeError, DecodeKind};
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "base64",
    doc: "Text in base 64 (RFC 4648).",
    functions: &[
        Function::new(
            "encode",
            &[required("value", "str"), optional("encoding", "str")],
            "str",
            "Encodes a string in base 64, with padding. The encoding is always UTF-8.",
            encode,
        ),
        Function::new(
            "decode",
            &[required("value", "str")],
            "str",
            "Decodes a string from base 64; missing padding is fine.",
            decode,
        ),
    ],
    constants: &[],
};

fn encode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "encode")?);
    Ok(Value::str(BASE64.encode(value.as_bytes())))
}

fn decode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "decode")?);
    let digits = value.trim_end_matches('=').as_bytes();
    let bytes = BASE64_NOPAD.decode(digits).map_err(|error| invalid(digits, error))?;
    String::from_utf8(bytes).map(Value::str).map_err(|error| {
        Fault::new(format!("called `Result::unwrap()` on an `Err` value: {:?}", error.utf8_error()))
    })
}

#[cold]
fn invalid(digits: &[u8], error: DecodeError) -> Box<Fault> {
    let position = error.position;
    let digit = digits.get(position).copied().unwrap_or_default();
    let what = match error.kind {
        DecodeKind::Length => "InvalidLength".to_owned(),
        DecodeKind::Trailing => format!("InvalidLastSymbol({position}, {digit})"),
        DecodeKind::Symbol | DecodeKind::Padding => format!("InvalidByte({position}, {digit})"),
    };
    Fault::new(format!("called `Result::unwrap()` on an `Err` value: {what}"))
}
