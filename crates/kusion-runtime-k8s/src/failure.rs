//! Conversion of error responses of the server.

use crate::calls::Answer;
use crate::explain;
use crate::requires;
use http::StatusCode;
use kusion_model::{FieldPath, PathStep, Problem};
use kusion_runtime::{Conflict, RuntimeError};
use serde::Deserialize;
use std::time::Duration;

/// A `Status` object of the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) reason: String,
    pub(crate) code: u16,
    pub(crate) details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Details {
    name: String,
    kind: String,
    causes: Vec<Cause>,
    retry_after_seconds: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: String,
    message: String,
    field: String,
}

/// Parses an error response.
pub(crate) fn of_answer(answer: &Answer) -> RuntimeError {
    let mut status: Status = serde_json::from_slice(&answer.body).unwrap_or_default();
    if status.kind != "Status" {
        status = Status {
            message: String::from_utf8_lossy(&answer.body).trim().chars().take(500).collect(),
            ..Status::default()
        };
    }
    status.code = answer.status.as_u16();
    of_status(&status, answer.retry_after)
}

/// Converts an error response to an error of the runtime.
pub(crate) fn of_status(status: &Status, retry_after: Option<Duration>) -> RuntimeError {
    let message = if status.message.is_empty() {
        format!("the server returned status {}", status.code)
    } else {
        status.message.clone()
    };
    let empty = Details::default();
    let details = status.details.as_ref().unwrap_or(&empty);
    let transient = |message: String| {
        let seconds = Some(details.retry_after_seconds).filter(|seconds| *seconds > 0);
        let after = retry_after.or(seconds.map(Duration::from_secs));
        RuntimeError::Transient {
            message,
            retry_after_ms: after.map(|after| after.as_millis() as u64),
        }
    };
    match StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR) {
        StatusCode::CONFLICT => conflict(status, details, message, transient),
        StatusCode::NOT_FOUND if details.kind == "namespaces" && !details.name.is_empty() => {
            RuntimeError::Missing(requires::namespace(&details.name))
        }
        StatusCode::NOT_FOUND if details.name.is_empty() => {
            RuntimeError::Missing(requires::kind("", ""))
        }
        StatusCode::NOT_FOUND => RuntimeError::Moved(message),
        StatusCode::UNAUTHORIZED => RuntimeError::Unavailable(message),
        StatusCode::FORBIDDEN if is_ending(details) => transient(message),
        StatusCode::UNPROCESSABLE_ENTITY => invalid(details, message),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => transient(message),
        // A body that does not fit its type is called an internal error.
        code if code.is_server_error() && !explain::is_invalid_object(&message) => {
            transient(message)
        }
        _ => rejected(explain::of_message(&message), message),
    }
}

/// Creates the error of an invalid object: its problems, or the message of the server.
fn rejected(problems: Vec<Problem>, message: String) -> RuntimeError {
    if problems.is_empty() {
        RuntimeError::Invalid(message)
    } else {
        RuntimeError::Rejected(problems)
    }
}

fn is_ending(details: &Details) -> bool {
    details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// Parts of server messages for a name that belongs to another object.
const OTHER: &[&str] = &["uid mismatch", "UID in precondition", "UID in the precondition"];

fn conflict(
    status: &Status,
    details: &Details,
    message: String,
    transient: impl Fn(String) -> RuntimeError,
) -> RuntimeError {
    let mut found: Vec<Conflict> = Vec::new();
    for cause in details.causes.iter().filter(|cause| cause.reason == "FieldManagerConflict") {
        let manager = owner(&cause.message);
        let field = cause.field.trim_start_matches('.').to_owned();
        match found.iter_mut().find(|conflict| conflict.manager == manager) {
            Some(conflict) => conflict.fields.push(field),
            None => found.push(Conflict::new(manager, vec![field])),
        }
    }
    if !found.is_empty() {
        return RuntimeError::Conflict(found);
    }
    // Another object with that name, or one that was deleted.
    if OTHER.iter().any(|words| message.contains(words)) {
        return RuntimeError::Moved(message);
    }
    match status.reason.as_str() {
        "AlreadyExists" | "Conflict" => transient(message),
        _ => RuntimeError::Invalid(message),
    }
}

/// Reads the owner from `conflict with "kubectl-edit" using apps/v1`.
fn owner(message: &str) -> String {
    let rest = message.strip_prefix("conflict with ").unwrap_or(message);
    match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((name, _)) => name.to_owned(),
        None => rest.to_owned(),
    }
}

/// Parts of server messages for an immutable field.
const IMMUTABLE: &[&str] = &[
    "is immutable",
    "immutable field",
    "field is immutable",
    "may not change",
    "may not be changed",
    "cannot be changed",
    "cannot change",
    "can not be changed",
    "may not be updated",
    "updates to ",
];

fn invalid(details: &Details, message: String) -> RuntimeError {
    let is_immutable = |text: &str| {
        let text = text.to_ascii_lowercase();
        IMMUTABLE.iter().any(|words| text.contains(words))
    };
    let fields: Vec<FieldPath> = details
        .causes
        .iter()
        .filter(|cause| is_immutable(&cause.message))
        .map(|cause| field_path(&cause.field))
        .collect();
    // The name belongs to another object by now.
    let uid = FieldPath::default().key("metadata").key("uid");
    if !fields.is_empty() && fields.iter().all(|field| *field == uid) {
        return RuntimeError::Moved(message);
    }
    // Another problem would be there after a replacement too.
    let all = !details.causes.is_empty() && fields.len() == details.causes.len();
    if all || (details.causes.is_empty() && is_immutable(&message)) {
        return RuntimeError::Immutable { fields, message };
    }
    let causes = details.causes.iter().filter(|cause| !cause.message.is_empty());
    rejected(causes.map(|it| explain::of_cause(&it.field, &it.message)).collect(), message)
}

/// Parses a path as the server writes it: `spec.containers[0].ports[web]`.
pub(crate) fn field_path(text: &str) -> FieldPath {
    let mut steps = Vec::new();
    let mut key = String::new();
    let mut chars = text.chars();
    let push_key = |key: &mut String, steps: &mut Vec<PathStep>| {
        if !key.is_empty() {
            steps.push(PathStep::Key(std::mem::take(key)));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '.' => push_key(&mut key, &mut steps),
            '[' => {
                push_key(&mut key, &mut steps);
                let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                steps.push(match inside.parse() {
                    Ok(index) => PathStep::Index(index),
                    Err(_) => PathStep::Key(inside),
                });
            }
            _ => key.push(c),
        }
    }
    push_key(&mut key, &mut steps);
    FieldPath(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn failure(code: u16, status: serde_json::Value) -> RuntimeError {
        let mut status: Status = serde_json::from_value(status).expect("a status");
        status.code = code;
        of_status(&status, None)
    }

    #[test]
    fn conflicts_are_grouped_by_owner() {
        let found = failure(
            409,
            json!({"reason": "Conflict", "message": "Apply failed", "details": {"causes": [
                {"reason": "FieldManagerConflict", "field": ".spec.replicas",
                 "message": "conflict with \"kubectl-scale\" with subresource \"scale\" using apps/v1"},
                {"reason": "FieldManagerConflict", "field": ".data.a",
                 "message": "conflict with \"helm\""},
                {"reason": "FieldManagerConflict", "field": ".data.b",
                 "message": "conflict with \"helm\""}]}}),
        );
        let conflict = |owner: &str, fields: &[&str]| {
            Conflict::new(owner, fields.iter().map(|&it| it.to_owned()).collect())
        };
        assert_eq!(
            found,
            RuntimeError::Conflict(vec![
                conflict("kubectl-scale", &["spec.replicas"]),
                conflict("helm", &["data.a", "data.b"])
            ])
        );
    }

    #[test]
    fn an_immutable_field_is_told_from_a_wrong_one() {
        let cause = |message: &str| json!({"field": "spec.selector", "message": message});
        let status = |causes: &[serde_json::Value]| json!({"message": "invalid", "reason": "Invalid", "details": {"causes": causes}});
        let immutable = cause("Invalid value: {}: field is immutable");
        let wrong = cause("Required value");
        assert!(matches!(
            failure(422, status(std::slice::from_ref(&immutable))),
            RuntimeError::Immutable { fields, .. } if fields[0].to_string() == "spec.selector"
        ));
        assert!(matches!(
            failure(422, status(&[immutable, wrong])),
            RuntimeError::Rejected(problems) if problems.len() == 2
        ));
    }

    #[test]
    fn busy_servers_are_asked_again() {
        let status = json!({"message": "busy", "details": {"retryAfterSeconds": 2}});
        assert_eq!(
            failure(429, status),
            RuntimeError::Transient { message: "busy".to_owned(), retry_after_ms: Some(2000) }
        );
        assert!(failure(503, json!({})).is_transient());
        assert!(!failure(403, json!({})).is_transient());
    }

    #[test]
    fn paths_of_the_server_are_read() {
        assert_eq!(field_path("spec.containers[0].image").to_string(), "spec.containers[0].image");
        assert_eq!(field_path("metadata.labels[a.b/c]").to_string(), r#"metadata.labels["a.b/c"]"#);
    }
}
