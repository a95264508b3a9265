//! What a server answers, and when two answers are alike.

use serde_json::{Map, Value, json};

/// What a server answers to a request, without what no two servers have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP code.
    pub code: u16,
    /// The message of a refusal.
    pub message: String,
    /// The causes of a refusal.
    pub causes: Vec<Value>,
    /// The object of a success.
    pub object: Value,
}

impl Answer {
    /// Reads the body of an answer.
    pub fn of(code: u16, body: &Value) -> Self {
        if code < 400 {
            return Self { code, message: String::new(), causes: Vec::new(), object: clean(body) };
        }
        let mut causes = match body.pointer("/details/causes") {
            Some(Value::Array(causes)) => causes.clone(),
            _ => Vec::new(),
        };
        causes.sort_by_key(ToString::to_string);
        let message = super::text(body, "/message").to_owned();
        Self { code, message, causes, object: Value::Null }
    }

    /// Returns the answer as it is recorded.
    pub fn to_value(&self) -> Value {
        if self.code < 400 {
            json!({"code": self.code, "object": self.object})
        } else {
            json!({"code": self.code, "message": self.message, "causes": self.causes})
        }
    }

    /// Reads a recorded answer.
    pub fn from_value(value: &Value) -> Self {
        Self {
            code: value["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0),
            message: super::text(value, "/message").to_owned(),
            causes: value["causes"].as_array().cloned().unwrap_or_default(),
            object: value["object"].clone(),
        }
    }
}

/// Says how two answers differ.
pub(super) fn difference(wanted: &Answer, got: &Answer) -> Option<String> {
    if wanted == got || is_reordered(wanted, got) {
        return None;
    }
    if wanted.code != got.code || wanted.code >= 400 {
        let show =
            |answer: &Answer| format!("{} {:?} {:?}", answer.code, answer.message, answer.causes);
        return Some(format!("\n  real {}\n  ours {}", show(wanted), show(got)));
    }
    let mut out = String::new();
    differences("", &wanted.object, &got.object, &mut out);
    Some(out)
}

/// The real server lists what is wrong with a custom object in any order.
fn is_reordered(wanted: &Answer, got: &Answer) -> bool {
    let parts = |answer: &Answer| {
        let (_, list) = answer.message.split_once(" is invalid: [")?;
        let mut parts: Vec<String> =
            list.trim_end_matches(']').split(", ").map(str::to_owned).collect();
        parts.sort();
        Some(parts)
    };
    wanted.code == got.code
        && wanted.causes == got.causes
        && wanted.message.starts_with("Thing.")
        && parts(wanted).is_some()
        && parts(wanted) == parts(got)
}

fn differences(path: &str, wanted: &Value, got: &Value, out: &mut String) {
    match (wanted, got) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys {
                let pick = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(json!("-"));
                differences(&format!("{path}/{key}"), &pick(left), &pick(right), out);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (idx, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{path}/{idx}"), left, right, out);
            }
        }
        _ if wanted != got => {
            out.extend([
                "\n  ",
                path,
                "\n    real ",
                &wanted.to_string(),
                "\n    ours ",
                &got.to_string(),
            ]);
        }
        _ => {}
    }
}

/// Names of controllers, whose writes come at any time.
const CONTROLLERS: &[&str] = &["kube-controller-manager"];

/// Removes what differs from server to server or from run to run.
fn clean(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation", "namespace"] {
            metadata.remove(key);
        }
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove("deployment.kubernetes.io/revision");
        }
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            entries.retain(|entry| !CONTROLLERS.contains(&super::text(entry, "/manager")));
            for entry in entries.iter_mut() {
                if let Value::Object(entry) = entry {
                    let timed = entry.remove("time").is_some();
                    entry.insert("timed".to_owned(), Value::Bool(timed));
                }
            }
            entries.sort_by_key(ToString::to_string);
        }
    }
    if super::text(&object, "/kind") == "Deployment"
        && let Value::Object(object) = &mut object
    {
        object.remove("status");
    }
    object
}
