//! `crypto`

use crate::args::{get, need, text};
use crate::function::{Function, Module};
use crate::host::Host;
use crate::shared_faults::failed_conversion;
use encoding_rs::Encoding;
use kcl_value::{CallArgs, Fault, Result, Value};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

pub(super) const MODULE: Module = Module {
    name: "crypto",
    functions: &[
        Function::new("md5", |_, args| hash::<Md5>(args, "md5")),
        Function::new("sha1", |_, args| hash::<Sha1>(args, "sha1")),
        Function::new("sha224", |_, args| hash::<Sha224>(args, "sha224")),
        Function::new("sha256", |_, args| hash::<Sha256>(args, "sha256")),
        Function::new("sha384", |_, args| hash::<Sha384>(args, "sha384")),
        Function::new("sha512", |_, args| hash::<Sha512>(args, "sha512")),
        Function::new("blake3", blake3),
        Function::new("uuid", uuid),
        Function::new("filesha256", filesha256),
    ],
    constants: &[],
};

fn hash<D: Digest>(args: &CallArgs, function: &str) -> Result<Value> {
    Ok(hex(&D::digest(bytes(args, function)?)))
}

fn blake3(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(hex(blake3::hash(&bytes(args, "blake3")?).as_bytes()))
}

/// The value in the wanted encoding.
fn bytes<'a>(args: &'a CallArgs, function: &str) -> Result<Cow<'a, [u8]>> {
    let value = text(need(args, 0, "value", function)?);
    let Some(encoding) = get(args, 1, "encoding") else {
        return Ok(Cow::Borrowed(value.as_bytes()));
    };
    let name = text(encoding).to_ascii_lowercase().replace(' ', "-");
    let fault = |what| Err(failed_conversion(format_args!("{what} {name}")));
    let Some(encoding) = Encoding::for_label(name.as_bytes()) else {
        return fault("unknown encoding");
    };
    match encoding.encode(value) {
        (bytes, _, false) => Ok(bytes),
        _ => fault("encoding errors occurred while encoding to"),
    }
}

fn hex(bytes: &[u8]) -> Value {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Value::str(digits)
}

fn uuid(host: &mut dyn Host, _: &CallArgs) -> Result<Value> {
    let version = 4 << 76;
    let variant = 2 << 62;
    let bits = host.system().random() & !(0xf << 76) & !(3 << 62) | version | variant;
    let digits = format!("{bits:032x}");
    Ok(Value::str(format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )))
}

fn filesha256(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let path = text(need(args, 0, "filepath", "filesha256")?);
    let bytes = host.system().read(Path::new(path)).map_err(|error| {
        let what = if host.system().exists(Path::new(path)) { "read" } else { "access" };
        Fault::new(format!("failed to {what} file '{path}': {error}"))
    })?;
    Ok(hex(&Sha256::digest(bytes)))
}
