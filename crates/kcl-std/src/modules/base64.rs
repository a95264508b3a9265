//! `base64`

use crate::args::{need, text};
use crate::function::{Function, Module};
use crate::host::Host;
use crate::shared_faults::failed_conversion;
use data_encoding::{BASE64, BASE64_NOPAD, DecodeError, DecodeKind};
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "base64",
    functions: &[Function::new("encode", encode), Function::new("decode", decode)],
    constants: &[],
};

fn encode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "encode")?);
    Ok(Value::str(BASE64.encode(value.as_bytes())))
}

fn decode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "decode")?);
    let digits = value.trim_end_matches('=').as_bytes();
    check_padding(digits, value.len() - digits.len())?;
    let bytes = BASE64_NOPAD.decode(digits).map_err(|error| invalid(digits, error))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| failed_conversion(format_args!("{:?}", error.utf8_error())))?;
    Ok(Value::str(text))
}

/// Refuses padding that no digits call for, and more than they call for.
fn check_padding(digits: &[u8], n_padding: usize) -> Result<()> {
    let n_last = digits.len() % 4;
    if n_padding == 0 || (n_last >= 2 && n_last + n_padding <= 4) {
        return Ok(());
    }
    let is_one_too_long = (digits.len() + n_padding) % 4 == 1;
    let kind = if is_one_too_long { DecodeKind::Length } else { DecodeKind::Padding };
    Err(invalid(digits, DecodeError { position: digits.len(), kind }))
}

#[cold]
fn invalid(digits: &[u8], error: DecodeError) -> Box<Fault> {
    let position = error.position;
    let digit = digits.get(position).copied().unwrap_or(b'=');
    let what = match (error.kind, digits.last()) {
        (DecodeKind::Length, Some(last)) if !is_digit(*last) => {
            format!("InvalidByte({}, {last})", digits.len() - 1)
        }
        (DecodeKind::Length, _) => "InvalidLength".to_owned(),
        (DecodeKind::Trailing, _) => format!("InvalidLastSymbol({position}, {digit})"),
        (DecodeKind::Symbol | DecodeKind::Padding, _) => {
            format!("InvalidByte({position}, {digit})")
        }
    };
    failed_conversion(what)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}
