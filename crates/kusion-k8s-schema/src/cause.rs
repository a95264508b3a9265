//! What is wrong with a field, in the words of a server.

use crate::quote::quoted;
use serde_json::{Value, json};
use std::fmt;

/// A problem of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Path of the field (`spec.containers[0].name`).
    pub field: String,
    /// Kind of the problem (`FieldValueInvalid`).
    pub reason: &'static str,
    /// What is wrong (`Invalid value: 0: must be positive`).
    pub message: String,
}

impl Cause {
    /// Creates a cause from its parts.
    pub fn new(reason: &'static str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), reason, message: message.into() }
    }

    /// A value is not allowed; `detail` says why.
    pub fn invalid(field: impl Into<String>, value: &Value, detail: impl fmt::Display) -> Self {
        let message = format!("Invalid value: {}: {detail}", shown(value));
        Self { field: field.into(), reason: "FieldValueInvalid", message }
    }

    /// A value has the wrong type.
    pub fn type_invalid(
        field: impl Into<String>,
        value: &Value,
        detail: impl fmt::Display,
    ) -> Self {
        Self { reason: "FieldValueTypeInvalid", ..Self::invalid(field, value, detail) }
    }

    /// A value is missing; `detail` may be empty.
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::with_detail(field, "FieldValueRequired", "Required value", detail)
    }

    /// A field may not be set; `detail` may be empty.
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::with_detail(field, "FieldValueForbidden", "Forbidden", detail)
    }

    /// A value is there twice.
    pub fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        let message = format!("Duplicate value: {}", shown(value));
        Self { field: field.into(), reason: "FieldValueDuplicate", message }
    }

    /// A value is not one of the allowed values.
    pub fn not_supported<T: fmt::Display>(
        field: impl Into<String>,
        value: &Value,
        supported: &[T],
    ) -> Self {
        let names: Vec<String> =
            supported.iter().map(|it| format!("{:?}", it.to_string())).collect();
        let message =
            format!("Unsupported value: {}: supported values: {}", shown(value), names.join(", "));
        Self { field: field.into(), reason: "FieldValueNotSupported", message }
    }

    /// A text is too long.
    pub fn too_long(field: impl Into<String>, limit: u64) -> Self {
        let message = format!("Too long: may not be more than {limit} bytes");
        Self { field: field.into(), reason: "FieldValueTooLong", message }
    }

    /// A list or map has too many entries.
    pub fn too_many(field: impl Into<String>, count: usize, limit: u64) -> Self {
        let message = format!("Too many: {count}: must have at most {limit} items");
        Self { field: field.into(), reason: "FieldValueTooMany", message }
    }

    /// Returns the cause as servers put it into `details.causes`.
    pub fn to_json(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }

    fn with_detail(
        field: impl Into<String>,
        reason: &'static str,
        text: &str,
        detail: &str,
    ) -> Self {
        let message = if detail.is_empty() { text.to_owned() } else { format!("{text}: {detail}") };
        Self { field: field.into(), reason, message }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.message)
    }
}

/// Joins causes into the one text that follows `is invalid: `.
pub fn join_causes(causes: &[Cause]) -> String {
    let texts: Vec<String> = causes.iter().map(ToString::to_string).collect();
    if let [only] = &texts[..] { only.clone() } else { format!("[{}]", texts.join(", ")) }
}

/// Shows a value in a message.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}
