//! Secrets in resources.
//!
//! Secret stores are not supported: a reference to one must not reach a cluster as if it were the
//! secret itself. Fields can be marked as secret; values of secret inputs are found in the output,
//! and their fields are marked, too.

use crate::link::at_field;
use crate::shapes::Draft;
use data_encoding::BASE64;
use kusion_k8s_schema::is_secret;
use kusion_model::{FieldPath, PathStep, Resource, SECRET_FIELDS, parse_secret_fields};
use serde_json::Value;

/// Rejects a resource with a reference to a secret store.
pub(crate) fn refuse_references(resource: &Resource, draft: &Draft) -> Result<(), String> {
    let mut path = FieldPath::default();
    let Some(text) = find(&resource.attributes, &mut path) else { return Ok(()) };
    let message = format!(
        "`{text}` refers to a secret store, and secret stores are not supported: the text \
         itself would be used as the secret"
    );
    Err(at_field(resource, draft, &path, &message))
}

/// Values of inputs that are shorter than this are not searched for.
const SHORTEST: usize = 8;

/// The values of secret inputs: arguments and environment variables.
#[derive(Debug, Default)]
pub(crate) struct SecretInputs {
    values: Vec<String>,
    /// Notes for users, on inputs that cannot be found.
    pub(crate) notes: Vec<String>,
}

impl SecretInputs {
    /// Collects the values of inputs. `arguments` are those of the program.
    pub(crate) fn new(
        names: &[String],
        arguments: &[(String, String)],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut inputs = Self::default();
        for name in names {
            let given = arguments.iter().filter(|(key, _)| key == name).map(|(_, text)| {
                // A text in quotes is the text without them.
                serde_json::from_str::<String>(text).unwrap_or_else(|_| text.clone())
            });
            for value in given.chain(variable(name)).filter(|it| !it.is_empty()) {
                if value.len() < SHORTEST {
                    let note = format!(
                        "the value of the secret input `{name}` has fewer than {SHORTEST} \
                         characters: it cannot be found in the Spec, and is not hidden"
                    );
                    inputs.notes.push(note);
                } else {
                    let encoded = BASE64.encode(value.as_bytes());
                    inputs.values.extend([encoded, value]);
                }
            }
        }
        inputs
    }

    /// Marks the fields that contain a value of a secret input.
    pub(crate) fn mark(&self, resource: &mut Resource) {
        if self.values.is_empty() {
            return;
        }
        let is_match = |text: &str| self.values.iter().any(|it| text.contains(it));
        for path in FieldPath::of_strings(&resource.attributes, &is_match) {
            resource.mark_secret(&path);
        }
    }
}

/// Checks the marks of secret fields of a resource. Returns a note if a mark matches no field.
pub(crate) fn check_marks(resource: &Resource, draft: &Draft) -> Result<Option<String>, String> {
    let annotation = FieldPath::default().key("metadata").key("annotations").key(SECRET_FIELDS);
    let marks = [annotation.find(&resource.attributes), resource.extensions.get(SECRET_FIELDS)];
    for mark in marks.into_iter().flatten() {
        let patterns = parse_secret_fields(mark)
            .map_err(|message| at_field(resource, draft, &annotation, &message))?;
        if let Some(idle) = patterns.iter().find(|it| it.find(&resource.attributes).is_empty()) {
            let id = &resource.id;
            return Ok(Some(format!("`{SECRET_FIELDS}` of {id}: `{idle}` matches no field")));
        }
    }
    Ok(None)
}

/// Returns whether a resource contains secrets in plain text.
pub(crate) fn has_secrets(resource: &Resource) -> bool {
    let is_full = |key: &str| {
        resource
            .attributes
            .get(key)
            .is_some_and(|it| it.as_object().is_none_or(|it| !it.is_empty()))
    };
    let annotation = FieldPath::default().key("metadata").key("annotations").key(SECRET_FIELDS);
    is_secret(&resource.attributes) && (is_full("data") || is_full("stringData"))
        || resource.extensions.contains_key(SECRET_FIELDS)
        || annotation.find(&resource.attributes).is_some()
}

/// Finds the first such text; the path leads to it.
fn find<'v>(value: &'v Value, path: &mut FieldPath) -> Option<&'v str> {
    match value {
        Value::String(text) => is_reference(text).then_some(text.as_str()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| find_in(item, PathStep::Index(at), path))
        }
        Value::Object(fields) => {
            fields.iter().find_map(|(key, field)| find_in(field, PathStep::Key(key.clone()), path))
        }
        _ => None,
    }
}

fn find_in<'v>(value: &'v Value, step: PathStep, path: &mut FieldPath) -> Option<&'v str> {
    match value {
        Value::String(text) if !is_reference(text) => return None,
        Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        _ => return None,
    }
    path.0.push(step);
    let found = find(value, path);
    if found.is_none() {
        path.0.pop();
    }
    found
}

/// Whether a text is `ref://name/property` or `ref+vault://path#/key`.
fn is_reference(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("ref") else { return false };
    let rest = match rest.strip_prefix('+') {
        Some(kind) => kind.trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
        None => rest,
    };
    rest.strip_prefix("://").is_some_and(|name| !name.is_empty())
}
