//! `regex`

use crate::signature::{Module, Param, Signature, optional, required};

const STRING_AND_PATTERN: &[Param] = &[required("string", "str"), required("pattern", "str")];

pub(super) const MODULE: Module = Module {
    name: "regex",
    doc: "Regular expressions, with look-around and back-references.",
    functions: &[
        Signature::new(
            "replace",
            &[
                required("string", "str"),
                required("pattern", "str"),
                required("replace", "str"),
                optional("count", "int"),
            ],
            "str",
            "Returns the string with all, or the first `count`, matches replaced; `$1` in the \
             replacement stands for the first group.",
        ),
        Signature::new(
            "match",
            STRING_AND_PATTERN,
            "bool",
            "Tells whether the pattern matches anywhere in the string.",
        ),
        Signature::new(
            "compile",
            &[required("pattern", "str")],
            "bool",
            "Tells whether a pattern is a valid regular expression.",
        ),
        Signature::new(
            "findall",
            STRING_AND_PATTERN,
            "[str]",
            "Returns all matches; where the pattern has several groups, a list of them each.",
        ),
        Signature::new(
            "search",
            STRING_AND_PATTERN,
            "bool",
            "Tells whether the pattern matches anywhere in the string.",
        ),
        Signature::new(
            "split",
            &[required("string", "str"), required("pattern", "str"), optional("maxsplit", "int")],
            "[str]",
            "Returns what is between the matches, only the first `maxsplit` parts if that is \
             positive.",
        ),
    ],
    constants: &[],
};
