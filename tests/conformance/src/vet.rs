//! Kind `vet`: is data valid, and what is wrong with it?

use base_system::OsSystem;
use kcl_vet::{Failure, Rules, SchemaName, read_data, vet};
use serde_json::{Value, json};
use std::path::Path;
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Value> {
    let mut rules = Rules::files([case.text("file").unwrap_or("schema.k")]);
    if let Some(schema) = case.text("schema").filter(|schema| !schema.is_empty()) {
        rules.schema = SchemaName::Named(schema.to_owned());
    }
    if let Some(attribute) = case.text("attribute").filter(|name| !name.is_empty()) {
        attribute.clone_into(&mut rules.attribute);
    }
    let format = case.text("format").map(str::parse).transpose().map_err(anyhow::Error::msg)?;
    let data = read_data(&OsSystem, Path::new(case.text("data").unwrap_or_default()), format)?;
    let reports = vet(&OsSystem, &rules, &[data], 1)?;
    let failures: Vec<&Failure> = reports.iter().flat_map(|report| &report.failures).collect();
    let Some(first) = failures.first() else { return Ok(json!({"success": true})) };
    if first.code.is_none() {
        let text = first.message.split(": ").next();
        return Ok(json!({"success": false, "error": null, "text": text}));
    }
    // The reference lists all findings of the compiler, but only the first of evaluation.
    let n_shown = if first.is_of_evaluation { 1 } else { failures.len() };
    let mut errors: Vec<Value> = Vec::new();
    for failure in &failures[..n_shown] {
        for error in failure.findings.iter().map(crate::finding) {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    Ok(json!({"success": false, "error": errors}))
}
