//! `collection`

use crate::function::{Function, Module, required};
use crate::host::Host;
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "collection",
    doc: "Operations on collections.",
    functions: &[Function::new(
        "union_all",
        &[required("num", "[any]")],
        "any",
        "Declared by the language, but without an implementation: fold a list with `|` instead.",
        union_all,
    )],
    constants: &[],
};

fn union_all(_: &mut dyn Host, _: &CallArgs) -> Result<Value> {
    Err(Fault::new("unknown kcl_collection_union_all"))
}
