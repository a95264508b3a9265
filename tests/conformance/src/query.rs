//! Kinds `list_variables`, `list_options` and `schema_types`: what `kcl query` says.

use crate::Answer;
use crate::command::kcl;
use serde_json::{Map, Value, json};
use testkit::Case;

/// Answers a case of kind `list_variables`.
pub(crate) fn variables(case: &Case) -> anyhow::Result<Answer> {
    let mut words = vec!["query", "variables", "--format", "json"];
    if case.meta["merge"] == true {
        words.push("--merge");
    }
    words.extend(case.texts("files"));
    words.extend(case.texts("specs"));
    let answer: Value = serde_json::from_slice(&kcl(&case.dir, &words)?.stdout)?;
    let empty = Map::new();
    let variables = answer["variables"].as_object().unwrap_or(&empty).clone();
    let errors = parse_errors(&answer["errors"]);
    Ok(Answer::json(&json!({ "variables": variables, "unsupported": [], "parse_errors": errors })))
}

/// Answers a case of kind `list_options`.
pub(crate) fn options(case: &Case) -> anyhow::Result<Answer> {
    let mut words = vec!["query", "options", "--format", "json"];
    words.extend(case.texts("paths"));
    let answer: Value = serde_json::from_slice(&kcl(&case.dir, &words)?.stdout)?;
    Ok(Answer::json(&answer))
}

/// Answers a case of kind `schema_types`.
pub(crate) fn schemas(case: &Case) -> anyhow::Result<Answer> {
    let mut words = vec!["query", "schemas", "--format", "json"];
    words.extend(case.texts("paths"));
    words.extend(case.text("schema").filter(|it| !it.is_empty()));
    let answer: Value = serde_json::from_slice(&kcl(&case.dir, &words)?.stdout)?;
    Ok(Answer::json(&answer))
}

/// The findings of loading a file, as the reference lists them.
pub(crate) fn file_errors(case: &Case, file: &str) -> anyhow::Result<Vec<Value>> {
    let words = ["query", "variables", "--format", "json", file];
    let answer: Value = serde_json::from_slice(&kcl(&case.dir, &words)?.stdout)?;
    Ok(parse_errors(&answer["errors"]))
}

fn parse_errors(found: &Value) -> Vec<Value> {
    let mut errors = Vec::new();
    for error in found.as_array().into_iter().flatten() {
        let message = error["message"].as_str().unwrap_or("");
        if message.starts_with("Cannot find the module ") {
            continue;
        }
        let col = error["column"].as_u64().map(|col| col - 1);
        let mut entries = vec![json!({
            "level": "error", "kind": error["kind"], "line": error["line"], "col": col,
            "message": message,
        })];
        let labels = error["labels"].as_array().into_iter().flatten();
        let suggestions = labels.filter_map(|label| label["suggestions"].as_array());
        entries.extend(suggestions.flatten().map(|text| {
            let level = "suggestions";
            json!({ "level": level, "kind": "Suggestions", "line": 0, "col": 0, "message": text })
        }));
        for entry in entries {
            if !errors.contains(&entry) {
                errors.push(entry);
            }
        }
    }
    errors
}
