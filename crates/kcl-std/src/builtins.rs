//! The built-in functions.

mod aggregate;
mod convert;
mod number;
mod option;
mod output;
mod sequence;

use crate::function::Function;

/// All built-in functions, in the order of [`kcl_names::FUNCTIONS`].
pub fn builtins() -> &'static [Function] {
    BUILTINS
}

pub(crate) use convert::float;

static BUILTINS: &[Function] = &[
    Function::new("option", option::option),
    Function::new("print", output::print),
    Function::new("multiplyof", number::multiplyof),
    Function::new("isunique", aggregate::isunique),
    Function::new("isnullish", aggregate::isnullish),
    Function::new("len", aggregate::len),
    Function::new("abs", number::abs),
    Function::new("all_true", aggregate::all_true),
    Function::new("any_true", aggregate::any_true),
    Function::new("hex", number::hex),
    Function::new("bin", number::bin),
    Function::new("oct", number::oct),
    Function::new("ord", number::ord),
    Function::new("sorted", sequence::sorted),
    Function::new("range", sequence::range),
    Function::new("max", aggregate::max),
    Function::new("min", aggregate::min),
    Function::new("sum", aggregate::sum),
    Function::new("pow", number::pow),
    Function::new("round", number::round),
    Function::new("zip", sequence::zip),
    Function::new("int", convert::int),
    Function::new("float", convert::float_of),
    Function::new("bool", convert::bool),
    Function::new("str", convert::str),
    Function::new("list", sequence::list),
    Function::new("dict", sequence::dict),
    Function::new("typeof", convert::type_of),
    Function::new("reduce", sequence::reduce),
];
