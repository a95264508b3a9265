//! `base32`

use crate::signature::{Module, Signature, required};

pub(super) const MODULE: Module = Module {
    name: "base32",
    doc: "Text in base 32 (RFC 4648).",
    functions: &[
        Signature::new(
            "encode",
            &[required("value", "str")],
            "str",
            "Encodes a string in base 32, with padding.",
        ),
        Signature::new(
            "decode",
            &[required("value", "str")],
            "str",
            "Decodes a string from base 32; upper and lower case and missing padding are fine.",
        ),
    ],
    constants: &[],
};
