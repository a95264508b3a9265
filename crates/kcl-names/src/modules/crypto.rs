//! `crypto`

use crate::signature::{Module, Param, Signature, optional, required};

const VALUE: &[Param] = &[required("value", "str"), optional("encoding", "str")];

pub(super) const MODULE: Module = Module {
    name: "crypto",
    doc: "Hashes and random identifiers.",
    functions: &[
        Signature::new(
            "md5",
            VALUE,
            "str",
            "Returns the MD5 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "sha1",
            VALUE,
            "str",
            "Returns the SHA-1 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "sha224",
            VALUE,
            "str",
            "Returns the SHA-224 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "sha256",
            VALUE,
            "str",
            "Returns the SHA-256 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "sha384",
            VALUE,
            "str",
            "Returns the SHA-384 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "sha512",
            VALUE,
            "str",
            "Returns the SHA-512 hash of a string in hexadecimal digits.",
        ),
        Signature::new(
            "blake3",
            VALUE,
            "str",
            "Returns the BLAKE3 hash of a string in hexadecimal digits.",
        ),
        Signature::new("uuid", &[], "str", "Returns a random UUID (version 4)."),
        Signature::new(
            "filesha256",
            &[required("filepath", "str")],
            "str",
            "Returns the SHA-256 hash of a file's content in hexadecimal digits.",
        ),
    ],
    constants: &[],
};
