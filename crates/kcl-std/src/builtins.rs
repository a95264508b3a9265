//! The built-in functions.

mod aggregate;
mod convert;
mod number;
mod option;
mod output;
mod sequence;

use crate::function::{Function, optional, required};

/// All built-in functions, in the order of [`kcl_names::FUNCTIONS`].
pub fn builtins() -> &'static [Function] {
    BUILTINS
}

pub(crate) use convert::float;

const ITERABLE: &str = "str | {any:any} | [any]";
const NUMBER: &str = "int | float";

static BUILTINS: &[Function] = &[
    Function::new(
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
        option::option,
    )
    .keyword_only(1),
    Function::new(
        "print",
        &[],
        "NoneType",
        "Prints the values with spaces between them. The named argument `end` replaces the \
         newline after the last one.",
        output::print,
    )
    .variadic(),
    Function::new(
        "multiplyof",
        &[required("a", "int"), required("b", "int")],
        "bool",
        "Tells whether `a` is a multiple of `b`.",
        number::multiplyof,
    ),
    Function::new(
        "isunique",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether no two items of a list are equal.",
        aggregate::isunique,
    ),
    Function::new(
        "isnullish",
        &[required("inval", "any")],
        "bool",
        "Tells whether a value is `None` or `Undefined`.",
        aggregate::isnullish,
    ),
    Function::new(
        "len",
        &[required("inval", ITERABLE)],
        "int",
        "Returns the number of items of a list, of entries of a dict or of bytes of a string.",
        aggregate::len,
    ),
    Function::new(
        "abs",
        &[required("inval", "any")],
        "any",
        "Returns the absolute value of a number.",
        number::abs,
    ),
    Function::new(
        "all_true",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether all items are true; so it is for an empty list.",
        aggregate::all_true,
    ),
    Function::new(
        "any_true",
        &[required("inval", "[any]")],
        "bool",
        "Tells whether at least one item is true; an empty list has none.",
        aggregate::any_true,
    ),
    Function::new(
        "hex",
        &[required("number", "int")],
        "str",
        "Returns an integer in hexadecimal digits, `0x1f`.",
        number::hex,
    ),
    Function::new(
        "bin",
        &[required("number", "int")],
        "str",
        "Returns an integer in binary digits, `0b101`.",
        number::bin,
    ),
    Function::new(
        "oct",
        &[required("number", "int")],
        "str",
        "Returns an integer in octal digits, `0o17`.",
        number::oct,
    ),
    Function::new(
        "ord",
        &[required("c", "str")],
        "int",
        "Returns the Unicode code point of a string of one character.",
        number::ord,
    ),
    Function::new(
        "sorted",
        &[required("inval", ITERABLE), optional("reverse", "bool")],
        "[any]",
        "Returns the items of a list, the keys of a dict or the characters of a string in \
         ascending order, or in descending order if `reverse` is true.",
        sequence::sorted,
    )
    .keyword_only(1),
    Function::new(
        "range",
        &[optional("start", "int"), optional("stop", "int"), optional("step", "int")],
        "[int]",
        "Returns the integers from `start` up to, but not including, `stop`. With one \
         argument they start at 0.",
        sequence::range,
    ),
    Function::new(
        "max",
        &[],
        "any",
        "Returns the largest of its arguments, or of the items of its only argument.",
        aggregate::max,
    )
    .variadic(),
    Function::new(
        "min",
        &[],
        "any",
        "Returns the smallest of its arguments, or of the items of its only argument.",
        aggregate::min,
    )
    .variadic(),
    Function::new(
        "sum",
        &[required("iterable", "[any]"), optional("start", "any")],
        "any",
        "Returns the sum of `start`, which is 0 if not given, and all items of a list.",
        aggregate::sum,
    ),
    Function::new(
        "pow",
        &[required("x", NUMBER), required("y", NUMBER), optional("z", NUMBER)],
        NUMBER,
        "Returns `x` to the power of `y`, modulo `z` if that is given.",
        number::pow,
    ),
    Function::new(
        "round",
        &[required("number", NUMBER), optional("ndigits", "int")],
        NUMBER,
        "Rounds a number to an integer, or to a float with the given number of digits after \
         the decimal point, which may be negative.",
        number::round,
    ),
    Function::new(
        "zip",
        &[],
        "[any]",
        "Returns a list of lists: the first items of all arguments, the second ones, and so \
         on until the shortest argument ends.",
        sequence::zip,
    )
    .variadic(),
    Function::new(
        "int",
        &[required("number", "any"), optional("base", "int")],
        "int",
        "Converts a number or a string to an integer, cutting off the fraction. A string may \
         end with a unit, `1Ki`, or be written in the given base.",
        convert::int,
    ),
    Function::new(
        "float",
        &[required("number", "any")],
        "float",
        "Converts a number or a string to a float.",
        convert::float_of,
    ),
    Function::new(
        "bool",
        &[optional("x", "any")],
        "bool",
        "Tells whether a value is true: not zero, not empty, neither `None` nor `Undefined`.",
        convert::bool,
    ),
    Function::new("str", &[optional("x", "any")], "str", "Returns a value as text.", convert::str),
    Function::new(
        "list",
        &[optional("x", "any")],
        "[any]",
        "Makes a list of the items of a list, the keys of a dict or the characters of a \
         string; an empty one without argument.",
        sequence::list,
    ),
    Function::new(
        "dict",
        &[optional("x", "any")],
        "{any:any}",
        "Makes a dict of another one or of a list of pairs, together with the named arguments.",
        sequence::dict,
    )
    .variadic(),
    Function::new(
        "typeof",
        &[required("x", "any"), optional("full_name", "bool")],
        "str",
        "Returns the name of a value's type; with `full_name`, a schema's name has its \
         package in front.",
        convert::type_of,
    ),
    Function::new(
        "reduce",
        &[
            required("reducer", "(any, any) -> any"),
            required("list", "[any]"),
            optional("initial", "any"),
        ],
        "any",
        "Combines the items of a list into one value: `reducer` gets the value so far and \
         the next item. Without `initial`, the first item is the start.",
        sequence::reduce,
    ),
];
