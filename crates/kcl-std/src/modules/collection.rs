//! `collection`

use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "collection",
    functions: &[Function::new("union_all", union_all)],
    constants: &[],
};

fn union_all(_: &mut dyn Host, _: &CallArgs) -> Result<Value> {
    Err(Fault::new("unknown kcl_collection_union_all"))
}
