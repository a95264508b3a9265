//! `runtime`

use crate::signature::{Module, Signature, required};

pub(super) const MODULE: Module = Module {
    name: "runtime",
    doc: "The run of the program itself.",
    functions: &[Signature::new(
        "catch",
        &[required("func", "() -> any")],
        "str",
        "Calls a function and returns the message of the error that it ends with, or \
         `Undefined` if there is none.",
    )],
    constants: &[],
};
