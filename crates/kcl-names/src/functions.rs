//! The built-in functions.

use crate::signature::{Signature, optional, required};

const ITERABLE: &str = "str | {any:any} | [any]";
const NUMBER: &str = "int | float";

/// The built-in functions, in the reference's order.
pub const FUNCTIONS: &[Signature] = &[
    Signature::new(
        "option",
        &[
            required("key", "str"),
            optional("type", "str"),
            optional("required", "bool"),
            optional("default", "any"),
            optional("help", "str"),
        ],
        "any",
        "Returns the top-level argument with the given key, as passed by `-D key=value`. \
         Without one it returns the default, or fails if the argument is required.",
    )
    .keyword_only(1),
    Signature::new(
        "print",
        &[],
        "NoneType",
        "Prints the values with spaces between them. The named argument `end` replaces the \
         newline after the last one.",
    )
    .variadic(),
    Signature::new(
        "multiplyof",
        &[required("a", "int"), required("b", "int")],
        "bool",
        "Tells whether `a` is a multiple of `b`.",
    ),
    Signature::new(
        "isunique",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether no two items of a list are equal.",
    ),
    Signature::new(
        "isnullish",
        &[required("inval", "any")],
        "bool",
        "Tells whether a value is `None` or `Undefined`.",
    ),
    Signature::new(
        "len",
        &[required("inval", ITERABLE)],
        "int",
        "Returns the number of items of a list, of entries of a dict or of bytes of a string.",
    ),
    Signature::new(
        "abs",
        &[required("inval", "any")],
        "any",
        "Returns the absolute value of a number.",
    ),
    Signature::new(
        "all_true",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether all items are true; so it is for an empty list.",
    ),
    Signature::new(
        "any_true",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether at least one item is true; an empty list has none.",
    ),
    Signature::new(
        "hex",
        &[required("number", "int")],
        "str",
        "Returns an integer in hexadecimal digits, `0x1f`.",
    ),
    Signature::new(
        "bin",
        &[required("number", "int")],
        "str",
        "Returns an integer in binary digits, `0b101`.",
    ),
    Signature::new(
        "oct",
        &[required("number", "int")],
        "str",
        "Returns an integer in octal digits, `0o17`.",
    ),
    Signature::new(
        "ord",
        &[required("c", "str")],
        "int",
        "Returns the Unicode code point of a string of one character.",
    ),
    Signature::new(
        "sorted",
        &[required("inval", ITERABLE), optional("reverse", "bool")],
        "[any]",
        "Returns the items of a list, the keys of a dict or the characters of a string in \
         ascending order, or in descending order if `reverse` is true.",
    )
    .keyword_only(1),
    Signature::new(
        "range",
        &[optional("start", "int"), optional("stop", "int"), optional("step", "int")],
        "[int]",
        "Returns the integers from `start` up to, but not including, `stop`. With one \
         argument they start at 0.",
    ),
    Signature::new(
        "max",
        &[],
        "any",
        "Returns the largest of its arguments, or of the items of its only argument.",
    )
    .variadic(),
    Signature::new(
        "min",
        &[],
        "any",
        "Returns the smallest of its arguments, or of the items of its only argument.",
    )
    .variadic(),
    Signature::new(
        "sum",
        &[required("iterable", "[any]"), optional("start", "any")],
        "any",
        "Returns the sum of `start`, which is 0 if not given, and all items of a list.",
    ),
    Signature::new(
        "pow",
        &[required("x", NUMBER), required("y", NUMBER), optional("z", NUMBER)],
        NUMBER,
        "Returns `x` to the power of `y`, modulo `z` if that is given.",
    ),
    Signature::new(
        "round",
        &[required("number", NUMBER), optional("ndigits", "int")],
        NUMBER,
        "Rounds a number to an integer, or to a float with the given number of digits after \
         the decimal point, which may be negative.",
    ),
    Signature::new(
        "zip",
        &[],
        "[any]",
        "Returns a list of lists: the first items of all arguments, the second ones, and so \
         on until the shortest argument ends.",
    )
    .variadic(),
    Signature::new(
        "int",
        &[required("number", "any"), optional("base", "int")],
        "int",
        "Converts a number or a string to an integer, cutting off the fraction. A string may \
         end with a unit, `1Ki`, or be written in the given base.",
    ),
    Signature::new(
        "float",
        &[required("number", "any")],
        "float",
        "Converts a number or a string to a float.",
    ),
    Signature::new(
        "bool",
        &[optional("x", "any")],
        "bool",
        "Tells whether a value is true: not zero, not empty, neither `None` nor `Undefined`.",
    ),
    Signature::new("str", &[optional("x", "any")], "str", "Returns a value as text."),
    Signature::new(
        "list",
        &[optional("x", "any")],
        "[any]",
        "Makes a list of the items of a list, the keys of a dict or the characters of a \
         string; an empty one without argument.",
    ),
    Signature::new(
        "dict",
        &[optional("x", "any")],
        "{any:any}",
        "Makes a dict of another one or of a list of pairs, together with the named arguments.",
    )
    .variadic(),
    Signature::new(
        "typeof",
        &[required("x", "any"), optional("full_name", "bool")],
        "str",
        "Returns the name of a value's type; with `full_name`, a schema's name has its \
         package in front.",
    ),
    Signature::new(
        "reduce",
        &[
            required("reducer", "(any, any) -> any"),
            required("list", "[any]"),
            optional("initial", "any"),
        ],
        "any",
        "Combines the items of a list into one value: `reducer` gets the value so far and \
         the next item. Without `initial`, the first item is the start.",
    ),
];
