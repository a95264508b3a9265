//! `runtime`

use crate::args::only;
use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::{CallArgs, Result, Value};

pub(super) const MODULE: Module =
    Module { name: "runtime", functions: &[Function::new("catch", catch)], constants: &[] };

fn catch(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let func @ Value::Func(_) = only(args, "func", "catch")? else { return Ok(Value::Undefined) };
    Ok(match host.call(func, CallArgs::default()) {
        Ok(_) => Value::Undefined,
        Err(fault) => Value::str(fault.message),
    })
}
