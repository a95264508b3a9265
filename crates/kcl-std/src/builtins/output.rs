//! Printing.

use crate::Host;
use kcl_value::{CallArgs, Result, Value, show};

pub(super) fn print(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let mut line = args.positional.iter().map(show).collect::<Vec<_>>().join(" ");
    match args.named.iter().rfind(|(name, _)| name.as_str() == "end") {
        Some((_, end)) => line.push_str(&show(end)),
        None => line.push('\n'),
    }
    host.print(&line);
    Ok(Value::None)
}
