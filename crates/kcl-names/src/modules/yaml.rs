//! `yaml`

use crate::signature::{Module, Param, Signature, optional, required};

const TEXT: &[Param] = &[required("value", "str")];

pub(super) const MODULE: Module = Module {
    name: "yaml",
    doc: "YAML.",
    functions: &[
        Signature::new(
            "encode",
            &[
                required("data", "any"),
                optional("sort_keys", "bool"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
                optional("multiline_string", "bool"),
            ],
            "str",
            "Writes a value as YAML. With `multiline_string`, a `\\n` that a string spells out \
             is written as a line break.",
        )
        .keyword_only(1),
        Signature::new(
            "encode_all",
            &[
                required("data", "[any]"),
                optional("sort_keys", "bool"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
            ],
            "str",
            "Writes values as YAML documents.",
        )
        .keyword_only(1),
        Signature::new("decode", TEXT, "any", "Reads a value from a YAML document."),
        Signature::new(
            "decode_all",
            TEXT,
            "[any]",
            "Reads the values of all YAML documents in a text.",
        ),
        Signature::new(
            "dump_to_file",
            &[
                required("data", "any"),
                required("filename", "str"),
                optional("sort_keys", "bool"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
            ],
            "str",
            "Writes a value as YAML into a file.",
        )
        .keyword_only(2),
        Signature::new(
            "dump_all_to_file",
            &[
                required("data", "[any]"),
                required("filename", "str"),
                optional("sort_keys", "bool"),
                optional("ignore_private", "bool"),
                optional("ignore_none", "bool"),
            ],
            "str",
            "Writes values as YAML documents into a file.",
        )
        .keyword_only(2),
        Signature::new(
            "validate",
            TEXT,
            "bool",
            "Tells whether a text is one or more YAML documents.",
        ),
    ],
    constants: &[],
};
