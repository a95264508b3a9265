//! Kind `lint`: the messages of `kcl lint`, with the lints of the reference alone.

use crate::Answer;
use crate::command::kcl;
use serde_json::{Value, json};
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Answer> {
    let mut words = vec!["lint", "--set", "reference", "--format", "json"];
    words.extend(case.texts("paths"));
    let output = kcl(&case.dir, &words)?;
    let found: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    // A message counts once for each place, and a suggestion, which has none, once.
    let (mut seen, mut messages) = (Vec::new(), Vec::new());
    for diagnostic in &found {
        for label in diagnostic["labels"].as_array().into_iter().flatten() {
            let place = (label["file"].clone(), label["line"].clone(), label["column"].clone());
            note(&mut seen, &mut messages, Some(place), &label["message"]);
            if diagnostic["kind"] != "CannotFindModule" {
                continue;
            }
            for suggestion in label["suggestions"].as_array().into_iter().flatten() {
                note(&mut seen, &mut messages, None, suggestion);
            }
        }
    }
    Ok(Answer::json(&json!({ "messages": messages })))
}

type Place = Option<(Value, Value, Value)>;

fn note(seen: &mut Vec<(Place, Value)>, messages: &mut Vec<Value>, at: Place, message: &Value) {
    let key = (at, message.clone());
    if !seen.contains(&key) {
        messages.push(message.clone());
        seen.push(key);
    }
}
