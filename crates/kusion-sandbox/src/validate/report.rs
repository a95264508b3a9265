//! Gathers what is wrong with an object.

use kusion_k8s_schema::Cause;
use kusion_k8s_schema::Quantity;
use serde_json::{Map, Value};

/// What was found so far.
#[derive(Default)]
pub(super) struct Report {
    /// In the order in which it was found.
    pub(super) causes: Vec<Cause>,
}

impl Report {
    /// A value is missing.
    pub(super) fn required(&mut self, path: impl Into<String>, detail: &str) {
        self.causes.push(Cause::required(path, detail));
    }

    /// A field may not be set.
    pub(super) fn forbidden(&mut self, path: impl Into<String>, detail: &str) {
        self.causes.push(Cause::forbidden(path, detail));
    }

    /// A value is not allowed.
    pub(super) fn invalid(&mut self, path: impl Into<String>, value: &Value, detail: &str) {
        self.causes.push(Cause::invalid(path, value, detail));
    }

    /// A value is not allowed; `shown` is its text.
    pub(super) fn invalid_text(&mut self, path: impl Into<String>, shown: &str, detail: &str) {
        let message = format!("Invalid value: {shown}: {detail}");
        self.causes.push(Cause { field: path.into(), reason: "FieldValueInvalid", message });
    }

    /// A value is none of those that are allowed; `shown` is its text.
    pub(super) fn not_supported_text(
        &mut self,
        path: impl Into<String>,
        shown: &str,
        known: &[&str],
    ) {
        let known: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
        let message = format!("Unsupported value: {shown}: supported values: {}", known.join(", "));
        self.causes.push(Cause { field: path.into(), reason: "FieldValueNotSupported", message });
    }

    /// A value is there twice.
    pub(super) fn duplicate(&mut self, path: impl Into<String>, value: &Value) {
        self.causes.push(Cause::duplicate(path, value));
    }

    /// A value is there twice; `shown` is its text.
    pub(super) fn duplicate_text(&mut self, path: impl Into<String>, shown: &str) {
        let message = format!("Duplicate value: {shown}");
        self.causes.push(Cause::new("FieldValueDuplicate", path, message));
    }

    /// A value names something that is not there.
    pub(super) fn not_found(&mut self, path: impl Into<String>, value: &Value) {
        let message = format!("Not found: {value}");
        self.causes.push(Cause { field: path.into(), reason: "FieldValueNotFound", message });
    }

    /// A value is none of those that are allowed.
    pub(super) fn not_supported(&mut self, path: impl Into<String>, value: &Value, known: &[&str]) {
        self.causes.push(Cause::not_supported(path, value, known));
    }

    /// Reports each message as a reason why a value is not allowed.
    pub(super) fn messages(&mut self, path: &str, value: &Value, messages: Vec<String>) {
        for message in messages {
            self.invalid(path, value, &message);
        }
    }

    /// A text must be one of some.
    pub(super) fn one_of(&mut self, object: &Value, key: &str, path: &str, known: &[&str]) {
        let value = at(object, key);
        match value.as_str() {
            None | Some("") => self.required(join(path, key), ""),
            Some(word) if !known.contains(&word) => {
                self.not_supported(join(path, key), value, known);
            }
            Some(_) => {}
        }
    }

    /// A text that may be missing must be one of some.
    pub(super) fn one_of_if_set(&mut self, object: &Value, key: &str, path: &str, known: &[&str]) {
        if object.get(key).is_some_and(|value| !value.is_null()) {
            self.one_of(object, key, path, known);
        }
    }

    /// A number that may be missing must not be negative.
    pub(super) fn not_negative(&mut self, object: &Value, key: &str, path: &str) {
        let value = at(object, key);
        if value.as_i64().is_some_and(|number| number < 0) {
            self.invalid(join(path, key), value, "must be greater than or equal to 0");
        }
    }

    /// An amount must not be negative.
    pub(super) fn amount(&mut self, path: &str, value: &Value) {
        if amount(value).is_some_and(Quantity::is_negative) {
            self.invalid(path, value, "must be greater than or equal to 0");
        }
    }
}

/// Reads an amount of a resource.
pub(super) fn amount(value: &Value) -> Option<Quantity> {
    Quantity::of(value)
}

/// Shows an object as the server shows its inner form: these fields, in capitals, in this order.
pub(super) fn inner_form(value: &Value, fields: &[&str]) -> String {
    let shown: Vec<String> = fields
        .iter()
        .map(|field| {
            let lower = field.to_lowercase();
            let key = if *field == "APIGroup" {
                "apiGroup".to_owned()
            } else {
                lower[..1].to_owned() + &field[1..]
            };
            format!("\"{field}\":{}", at(value, &key))
        })
        .collect();
    format!("{{{}}}", shown.join(","))
}

/// Returns the value of a key, null when it is missing.
pub(crate) fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// Returns the text of a key, empty when it is missing.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    at(value, key).as_str().unwrap_or_default()
}

/// Returns the items of a list with their paths.
pub(crate) fn items<'a>(
    value: &'a Value,
    key: &str,
    path: &str,
) -> impl Iterator<Item = (String, &'a Value)> {
    let path = join(path, key);
    let list = at(value, key).as_array().map_or(&[][..], Vec::as_slice);
    list.iter().enumerate().map(move |(index, item)| (format!("{path}[{index}]"), item))
}

/// Returns the entries of a map.
pub(super) fn entries<'a>(
    value: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    at(value, key).as_object().into_iter().flat_map(Map::iter)
}

/// Whether a list or map is missing or has nothing in it.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Joins the parts of a path.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
