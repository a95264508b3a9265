//! The methods of strings.
//!
//! Positions count bytes, as in the reference.

mod case;
mod format;
mod format_spec;
mod search;
mod split;

use crate::function::{Method, Param, optional, required};

/// All string methods, in the reference's order.
pub fn string_methods() -> &'static [Method] {
    METHODS
}

const fn substring(name: &'static str) -> [Param; 3] {
    [required(name, "str"), optional("start", "int"), optional("end", "int")]
}

const SUB: &[Param] = &substring("sub");
const VAL: &[Param] = &substring("val");
const CHARS: &[Param] = &[optional("chars", "str")];
const SEP: &[Param] = &[optional("sep", "str"), optional("maxsplit", "int")];

static METHODS: &[Method] = &[
    Method::new(
        "capitalize",
        &[],
        "str",
        "Returns the string with its first character in upper case and the rest in lower case.",
        case::capitalize,
    ),
    Method::new("chars", &[], "[str]", "Returns the list of the characters.", split::chars),
    Method::new(
        "count",
        SUB,
        "int",
        "Returns how often a string occurs in this one without overlap, within the positions \
         `start` to `end` if given.",
        search::count,
    ),
    Method::new(
        "endswith",
        VAL,
        "bool",
        "Tells whether the string, or the part from `start` to `end`, ends with a suffix.",
        search::endswith,
    ),
    Method::new(
        "find",
        SUB,
        "int",
        "Returns the position of the first occurrence of a string, or -1.",
        search::find,
    ),
    Method::new(
        "format",
        &[],
        "str",
        "Fills in the replacement fields in braces: `{}` takes the next argument, `{0}` a \
         certain one, `{name}` a named one, and `{:.2f}` says how to write it.",
        format::format,
    )
    .variadic(),
    Method::new(
        "index",
        SUB,
        "int",
        "Returns the position of the first occurrence of a string, and fails if there is none.",
        search::index,
    ),
    Method::new(
        "isalpha",
        &[],
        "bool",
        "Tells whether all characters are letters and there is at least one.",
        case::isalpha,
    ),
    Method::new(
        "isalnum",
        &[],
        "bool",
        "Tells whether all characters are letters or digits and there is at least one.",
        case::isalnum,
    ),
    Method::new(
        "isdigit",
        &[],
        "bool",
        "Tells whether all characters are digits and there is at least one.",
        case::isdigit,
    ),
    Method::new(
        "islower",
        &[],
        "bool",
        "Tells whether no letter is in upper case and at least one is in lower case.",
        case::islower,
    ),
    Method::new(
        "isspace",
        &[],
        "bool",
        "Tells whether all characters are white space and there is at least one.",
        case::isspace,
    ),
    Method::new(
        "istitle",
        &[],
        "bool",
        "Tells whether every word starts in upper case and goes on in lower case.",
        case::istitle,
    ),
    Method::new(
        "isupper",
        &[],
        "bool",
        "Tells whether no letter is in lower case and at least one is in upper case.",
        case::isupper,
    ),
    Method::new(
        "join",
        &[required("iter", "[any]")],
        "str",
        "Returns the items as text, one after the other, with this string between them.",
        split::join,
    ),
    Method::new("lower", &[], "str", "Returns the string in lower case.", case::lower),
    Method::new("upper", &[], "str", "Returns the string in upper case.", case::upper),
    Method::new(
        "lstrip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at its start.",
        split::lstrip,
    ),
    Method::new(
        "rstrip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at its end.",
        split::rstrip,
    ),
    Method::new(
        "replace",
        &[required("old", "str"), required("new", "str"), optional("count", "int")],
        "str",
        "Returns the string with all, or the first `count`, occurrences of `old` replaced by \
         `new`.",
        search::replace,
    ),
    Method::new(
        "removeprefix",
        &[required("prefix", "str")],
        "str",
        "Returns the string without the prefix, if it has it.",
        split::removeprefix,
    ),
    Method::new(
        "removesuffix",
        &[required("suffix", "str")],
        "str",
        "Returns the string without the suffix, if it has it.",
        split::removesuffix,
    ),
    Method::new(
        "rfind",
        SUB,
        "int",
        "Returns the position of the last occurrence of a string, or -1.",
        search::rfind,
    ),
    Method::new(
        "rindex",
        SUB,
        "int",
        "Returns the position of the last occurrence of a string, and fails if there is none.",
        search::rindex,
    ),
    Method::new(
        "rsplit",
        SEP,
        "[str]",
        "Splits the string at each `sep`, or at white space, at most `maxsplit` times from \
         the right.",
        split::rsplit,
    ),
    Method::new(
        "split",
        SEP,
        "[str]",
        "Splits the string at each `sep`, or at white space, at most `maxsplit` times from \
         the left.",
        split::split,
    ),
    Method::new(
        "splitlines",
        &[optional("keepends", "bool")],
        "[str]",
        "Returns the lines of the string, with their ends if `keepends` is true.",
        split::splitlines,
    ),
    Method::new(
        "startswith",
        VAL,
        "bool",
        "Tells whether the string, or the part from `start` to `end`, starts with a prefix.",
        search::startswith,
    ),
    Method::new(
        "strip",
        CHARS,
        "str",
        "Returns the string without white space, or without any of `chars`, at both ends.",
        split::strip,
    ),
    Method::new(
        "title",
        &[],
        "str",
        "Returns the string with every word in lower case but for its first letter.",
        case::title,
    ),
];
