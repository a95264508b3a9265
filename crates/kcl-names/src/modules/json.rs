//! `json`

use crate::signature::{Module, Param, Signature, optional, required};

const TEXT: &[Param] = &[required("value", "str")];

pub(super) const MODULE: Module = Module {
    name: "json",
    doc: "JSON.",
    functions: &[
        Signature::new(
            "encode",
            &[
                required("data", "any"),
                optional("sort_keys", "bool"),
                optional("indent", "int"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
            ],
            "str",
            "Writes a value as JSON: on one line, or with `indent` spaces per level.",
        )
        .keyword_only(1),
        Signature::new("decode", TEXT, "any", "Reads a value from JSON."),
        Signature::new(
            "dump_to_file",
            &[
                required("data", "any"),
                required("filename", "str"),
                optional("sort_keys", "bool"),
                optional("indent", "int"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
            ],
            "str",
            "Writes a value as JSON into a file.",
        )
        .keyword_only(2),
        Signature::new("validate", TEXT, "bool", "Tells whether a text is JSON."),
        Signature::new(
            "merge",
            &[required("src", "any"), required("patch", "any")],
            "any",
            "Changes a value by a JSON Merge Patch (RFC 7396): entries are merged, `None` \
             removes, anything else replaces.",
        ),
    ],
    constants: &[],
};
