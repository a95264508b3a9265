//! The methods of strings.

use crate::signature::{Param, Signature, optional, required};

const fn substring(name: &'static str) -> [Param; 3] {
    [required(name, "str"), optional("start", "int"), optional("end", "int")]
}

const SUB: &[Param] = &substring("sub");
const VAL: &[Param] = &substring("val");
const CHARS: &[Param] = &[optional("chars", "str")];
const SEP: &[Param] = &[optional("sep", "str"), optional("maxsplit", "int")];

/// The methods of strings, in the reference's order.
pub const METHODS: &[Signature] = &[
    Signature::new(
        "capitalize",
        &[],
        "str",
        "Returns the string with its first character in upper case and the rest in lower case.",
    ),
    Signature::new("chars", &[], "[str]", "Returns the list of the characters."),
    Signature::new(
        "count",
        SUB,
        "int",
        "Returns how often a string occurs in this one without overlap, within the positions \
         `start` to `end` if given.",
    ),
    Signature::new(
        "endswith",
        VAL,
        "bool",
        "Tells whether the string, or the part from `start` to `end`, ends with a suffix.",
    ),
    Signature::new(
        "find",
        SUB,
        "int",
        "Returns the position of the first occurrence of a string, or -1.",
    ),
    Signature::new(
        "format",
        &[],
        "str",
        "Fills in the replacement fields in braces: `{}` takes the next argument, `{0}` a \
         certain one, `{name}` a named one, and `{:.2f}` says how to write it.",
    )
    .variadic(),
    Signature::new(
        "index",
        SUB,
        "int",
        "Returns the position of the first occurrence of a string, and fails if there is none.",
    ),
    Signature::new(
        "isalpha",
        &[],
        "bool",
        "Tells whether all characters are letters and there is at least one.",
    ),
    Signature::new(
        "isalnum",
        &[],
        "bool",
        "Tells whether all characters are letters or digits and there is at least one.",
    ),
    Signature::new(
        "isdigit",
        &[],
        "bool",
        "Tells whether all characters are digits and there is at least one.",
    ),
    Signature::new(
        "islower",
        &[],
        "bool",
        "Tells whether no letter is in upper case and at least one is in lower case.",
    ),
    Signature::new(
        "isspace",
        &[],
        "bool",
        "Tells whether all characters are white space and there is at least one.",
    ),
    Signature::new(
        "istitle",
        &[],
        "bool",
        "Tells whether every word starts in upper case and goes on in lower case.",
    ),
    Signature::new(
        "isupper",
        &[],
        "bool",
        "Tells whether no letter is in lower case and at least one is in upper case.",
    ),
    Signature::new(
        "join",
        &[required("iter", "[any]")],
        "str",
        "Returns the items as text, one after the other, with this string between them.",
    ),
    Signature::new("lower", &[], "str", "Returns the string in lower case."),
    Signature::new("upper", &[], "str", "Returns the string in upper case."),
    Signature::new(
        "lstrip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at its start.",
    ),
    Signature::new(
        "rstrip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at its end.",
    ),
    Signature::new(
        "replace",
        &[required("old", "str"), required("new", "str"), optional("count", "int")],
        "str",
        "Returns the string with all, or the first `count`, occurrences of `old` replaced by \
         `new`.",
    ),
    Signature::new(
        "removeprefix",
        &[required("prefix", "str")],
        "str",
        "Returns the string without the prefix, if it has it.",
    ),
    Signature::new(
        "removesuffix",
        &[required("suffix", "str")],
        "str",
        "Returns the string without the suffix, if it has it.",
    ),
    Signature::new(
        "rfind",
        SUB,
        "int",
        "Returns the position of the last occurrence of a string, or -1.",
    ),
    Signature::new(
        "rindex",
        SUB,
        "int",
        "Returns the position of the last occurrence of a string, and fails if there is none.",
    ),
    Signature::new(
        "rsplit",
        SEP,
        "[str]",
        "Splits the string at each `sep`, or at white space, at most `maxsplit` times from \
         the right.",
    ),
    Signature::new(
        "split",
        SEP,
        "[str]",
        "Splits the string at each `sep`, or at white space, at most `maxsplit` times from \
         the left.",
    ),
    Signature::new(
        "splitlines",
        &[optional("keepends", "bool")],
        "[str]",
        "Returns the lines of the string, with their ends if `keepends` is true.",
    ),
    Signature::new(
        "startswith",
        VAL,
        "bool",
        "Tells whether the string, or the part from `start` to `end`, starts with a prefix.",
    ),
    Signature::new(
        "strip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at both ends.",
    ),
    Signature::new(
        "title",
        &[],
        "str",
        "Returns the string with every word in lower case but for its first letter.",
    ),
];
