//! `base32`

use crate::args::{missing, need, text};
use crate::function::{Function, Module};
use crate::host::Host;
use data_encoding::BASE32;
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "base32",
    functions: &[Function::new("encode", encode), Function::new("decode", decode)],
    constants: &[],
};

/// How many characters fill the last group up to eight at most.
const MAX_PADDING: usize = 6;

fn encode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "encode")?);
    Ok(Value::str(BASE32.encode(value.as_bytes())))
}

fn decode(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = text(need(args, 0, "value", "decode")?);
    let digits = value.trim_end_matches('=');
    if value.len() - digits.len() > MAX_PADDING || digits.contains('=') {
        let message = "invalid base32: expected at most 6 '=', all of them at the end";
        return Err(Fault::new(message));
    }
    // The complaint about a digit is the reference's.
    let bytes = bytes(digits).ok_or_else(|| missing("decode", "value"))?;
    Ok(String::from_utf8(bytes).map_or(Value::None, Value::str))
}

/// The whole bytes that the digits give; none if a character is no digit.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 5 / 8);
    let mut bits = 0_u32;
    let mut n_bits = 0;
    for digit in digits {
        let five = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a',
            b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(five);
        n_bits += 5;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
            bits &= (1 << n_bits) - 1;
        }
    }
    Some(bytes)
}
