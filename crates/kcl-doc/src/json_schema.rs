//! JSON Schema (2020-12).

use crate::Docs;
use crate::names::Names;
use crate::openapi::{Form, Writer};
use serde_json::{Value, json};

/// Writes all schemas as `$defs`. The document itself stands for the schema `root` of the main
/// package; without one, for the only schema there is, else for none.
///
/// # Errors
///
/// If there is no schema `root`: a message for the user.
pub fn write(docs: &Docs, root: Option<&str>) -> Result<Value, String> {
    let writer = Writer { docs, names: Names::new(docs), form: Form::Exact, prefix: "#/$defs/" };
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": writer.schemas(),
    });
    let mut all = docs.schemas();
    let found = match root {
        Some(root) => {
            let found = docs.schemas().find(|schema| schema.name == root);
            Some(found.ok_or_else(|| format!("there is no schema '{root}'"))?)
        }
        None => all.next().filter(|_| all.next().is_none()),
    };
    if let Some(schema) = found {
        let name = Names::new(docs).name(&schema.package, &schema.name);
        document["$ref"] = format!("#/$defs/{name}").into();
    }
    Ok(document)
}
