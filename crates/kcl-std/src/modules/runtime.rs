//! `runtime`

use crate::args::get;
use crate::function::{Function, Module, required};
use crate::host::Host;
use kcl_value::{CallArgs, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "runtime",
    doc: "The run of the program itself.",
    functions: &[Function::new(
        "catch",
        &[required("func", "() -> any")],
        "str",
        "Calls a function and returns the message of the error that it ends with, or \
         `Undefined` if there is none.",
        catch,
    )],
    constants: &[],
};

fn catch(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(func @ Value::Func(_)) = get(args, 0, "func") else { return Ok(Value::Undefined) };
    Ok(match host.call(func, CallArgs::default()) {
        Ok(_) => Value::Undefined,
        Err(fault) => Value::str(fault.message),
    })
}
