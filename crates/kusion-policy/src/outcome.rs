//! What the rule of a policy returns.

use crate::policy::Policy;
use kusion_model::{FieldPath, PathStep};
use serde_json::{Map, Value};

/// How many findings one call may return.
const MAX_FINDINGS: usize = 100;
/// How long texts may be, in bytes.
const MAX_TEXT: usize = 2000;

/// One thing that a rule found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// The message; empty for that of the policy.
    pub(crate) message: String,
    pub(crate) path: FieldPath,
    pub(crate) fix: String,
    /// The value that the field should have.
    pub(crate) value: Option<Value>,
}

/// Returns the messages of the result of a rule.
///
/// # Errors
///
/// If it is not a valid result.
pub fn messages(policy: &Policy, result: Value) -> Result<Vec<String>, String> {
    let message = |it: Outcome| match it.message.as_str() {
        "" => policy.message().to_owned(),
        _ => it.message,
    };
    Ok(read(result)?.into_iter().map(message).collect())
}

/// Reads the result of a rule: nothing, a verdict, a message, a map, or a list of them.
pub(crate) fn read(result: Value) -> Result<Vec<Outcome>, String> {
    let mut found = Vec::new();
    match result {
        Value::Array(items) => {
            let count = items.len();
            for item in items.into_iter().take(MAX_FINDINGS) {
                found.extend(one(item)?);
            }
            if count > MAX_FINDINGS {
                let message = format!("and {} more", count - MAX_FINDINGS);
                found.push(Outcome { message, ..Outcome::default() });
            }
        }
        other => found.extend(one(other)?),
    }
    Ok(found)
}

fn one(item: Value) -> Result<Option<Outcome>, String> {
    Ok(match item {
        Value::Null | Value::Bool(true) => None,
        Value::Bool(false) => Some(Outcome::default()),
        Value::String(text) if text.is_empty() => None,
        Value::String(message) => Some(Outcome { message: cut(message), ..Outcome::default() }),
        Value::Object(fields) => Some(map(fields)?),
        other => {
            return Err(format!(
                "the rule returns `{other}`: expected a list of messages or of maps with \
                 `message`, `path`, `fix` and `value`"
            ));
        }
    })
}

fn map(fields: Map<String, Value>) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("message", Value::String(text)) => outcome.message = cut(text),
            ("fix", Value::String(text)) => outcome.fix = cut(text),
            ("path", path) => outcome.path = path_of(&path)?,
            ("value", value) => outcome.value = Some(value),
            (_, Value::Null) => {}
            (key, _) => {
                return Err(format!(
                    "the rule returns a map with an invalid `{key}`: expected `message`, `path`, \
                     `fix` and `value`"
                ));
            }
        }
    }
    Ok(outcome)
}

/// Reads a path: `spec.containers[0].image`, or a list of keys and indexes, for keys with dots.
fn path_of(value: &Value) -> Result<FieldPath, String> {
    let wrong = |value: &Value| format!("the rule returns the invalid path `{value}`");
    match value {
        Value::Null => Ok(FieldPath::default()),
        Value::String(text) => parse_path(text).ok_or_else(|| wrong(value)),
        Value::Array(steps) => {
            let step = |step: &Value| match step {
                Value::String(key) => Some(PathStep::Key(key.clone())),
                step => step.as_u64().and_then(|it| usize::try_from(it).ok()).map(PathStep::Index),
            };
            let steps: Option<Vec<PathStep>> = steps.iter().map(step).collect();
            steps.map(FieldPath).ok_or_else(|| wrong(value))
        }
        _ => Err(wrong(value)),
    }
}

fn parse_path(text: &str) -> Option<FieldPath> {
    let mut steps = Vec::new();
    for part in text.split('.').filter(|it| !it.is_empty()) {
        let (key, mut rest) = part.find('[').map_or((part, ""), |at| part.split_at(at));
        if !key.is_empty() {
            steps.push(PathStep::Key(key.to_owned()));
        }
        while !rest.is_empty() {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(PathStep::Index(index.parse().ok()?));
            rest = after;
        }
    }
    Some(FieldPath(steps))
}

/// Cuts a text at the end of a character.
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(result: Value) -> Vec<String> {
        read(result).expect("a result").into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn rules_return_verdicts_messages_or_maps() {
        for pass in [json!(null), json!(true), json!([]), json!(""), json!([null, true])] {
            assert_eq!(read(pass), Ok(Vec::new()));
        }
        assert_eq!(messages(json!(false)), [""]);
        assert_eq!(messages(json!("a")), ["a"]);
        assert_eq!(messages(json!(["a", {"message": "b"}, false])), ["a", "b", ""]);
        let all = json!({"message": "m", "path": "a.b[1][2].c", "fix": "f", "value": 3});
        let found = read(all).expect("a result").remove(0);
        assert_eq!(found.path.to_string(), "a.b[1][2].c");
        assert_eq!((found.fix.as_str(), found.value), ("f", Some(json!(3))));
        let found = read(json!({"path": ["metadata", "labels", "a.b/c"]})).expect("a result");
        assert_eq!(found[0].path.0.len(), 3);
    }

    #[test]
    fn other_results_are_errors_and_long_ones_are_cut() {
        for wrong in [json!(3), json!([1.5]), json!({"mesage": "m"}), json!({"path": "a[x]"})] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert_eq!(messages(json!(vec!["x"; 103])).len(), 101);
        assert_eq!(messages(json!("ä".repeat(3000)))[0].len(), MAX_TEXT + "…".len());
    }
}
