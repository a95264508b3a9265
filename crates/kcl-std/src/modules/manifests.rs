//! `manifests`

use crate::args::{get, missing, text, type_text};
use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::output::Stream;
use kcl_value::yaml::WriteOptions;
use kcl_value::{CallArgs, Fault, Result, Value};

pub(super) const MODULE: Module = Module {
    name: "manifests",
    functions: &[Function::new("yaml_stream", yaml_stream)],
    constants: &[],
};

fn yaml_stream(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (options, separator) = match get(args, 1, "opts") {
        Some(value) => options(value)?,
        None => (WriteOptions::default(), "---"),
    };
    let values = get(args, 0, "values").ok_or_else(|| missing("yaml_stream", "values"))?;
    if values.as_list().is_none() {
        return Err(Fault::new("invalid list value"));
    }
    let documents = values.clone();
    host.set_stream(Stream { documents, options, separator: separator.to_owned() });
    Ok(Value::Undefined)
}

/// The options and the separator.
fn options(value: &Value) -> Result<(WriteOptions, &str)> {
    let Some(config) = value.as_config() else {
        return Err(Fault::new(format!(
            "Invalid options arguments in yaml_stream(): expect config, got {}",
            type_text(value)
        )));
    };
    let flag = |name, default| config.get(name).map_or(default, Value::is_truthy);
    let options = WriteOptions {
        sort_keys: flag("sort_keys", false),
        ignore_private: flag("ignore_private", true),
        ignore_none: flag("ignore_none", false),
    };
    Ok((options, config.get("sep").map_or("---", text)))
}
