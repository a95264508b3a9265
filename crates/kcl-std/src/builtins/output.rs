//! Printing.

use crate::Host;
use crate::host::too_much_memory;
use kcl_value::{CallArgs, Result, Value, fits, show};

pub(super) fn print(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    if !args.positional.iter().all(|value| fits(value, host.room())) {
        return Err(too_much_memory());
    }
    let mut line = args.positional.iter().map(show).collect::<Vec<_>>().join(" ");
    match args.named.iter().rfind(|(name, _)| name.as_str() == "end") {
        Some((_, end)) => line.push_str(&show(end)),
        None => line.push('\n'),
    }
    host.print(&line)?;
    Ok(Value::None)
}
