//! `base64`

use crate::signature::{Module, Signature, optional, required};

pub(super) const MODULE: Module = Module {
    name: "base64",
    doc: "Text in base 64 (RFC 4648).",
    functions: &[
        Signature::new(
            "encode",
            &[required("value", "str"), optional("encoding", "str")],
            "str",
            "Encodes a string in base 64, with padding. The encoding is always UTF-8.",
        ),
        Signature::new(
            "decode",
            &[required("value", "str")],
            "str",
            "Decodes a string from base 64; padding may be missing, or a part of it.",
        ),
    ],
    constants: &[],
};
