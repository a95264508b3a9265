//! The forms that an output may have, as drafts of resources.
//!
//! A Spec (`resources:`), records with `id` and `attributes` in a list or as documents, the
//! `instances:` of the founding documents, Kubernetes objects as documents, in lists and in
//! `kind: List`, and attributes at the top that are one of these or lists of them. What looks like a
//! mistyped resource is an error, so that a typo does not remove a resource from the Spec.

mod mistaken;

use crate::origins::{Output, SourceLocation};
use kcl_driver::Documents;
use kusion_model::{FieldPath, Origin, PathStep};
use mistaken::is_nearly_object;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A resource as it was written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The id, if it was written.
    pub(crate) id: Option<String>,
    /// The type, if it was written.
    pub(crate) resource_type: Option<String>,
    /// The attributes.
    pub(crate) attributes: Value,
    /// The ids that were written as dependencies.
    pub(crate) depends_on: Vec<String>,
    /// Those that must be ready.
    pub(crate) wait_for: Vec<String>,
    /// The extensions.
    pub(crate) extensions: Map<String, Value>,
    /// Where the attributes were written.
    pub(crate) written: SourceLocation,
    /// What was added to the attributes, by which file.
    pub(crate) added: Vec<(FieldPath, Origin)>,
}

impl Draft {
    /// Creates the draft of a Kubernetes object.
    pub(crate) fn object(attributes: Value, written: SourceLocation) -> Self {
        Self { attributes, written, ..Self::default() }
    }

    /// Returns the location of the resource: in a file, else in the output.
    pub(crate) fn place(&self) -> String {
        let name = FieldPath::default().key("metadata").key("name");
        let origin = self.written.find(&name).or_else(|| self.written.find(&FieldPath::default()));
        match (origin, &self.written) {
            (Some(origin), _) => origin.to_string(),
            (None, SourceLocation::File(origin)) => origin.to_string(),
            (None, SourceLocation::Output(_, at)) if at.0.is_empty() => "the output".to_owned(),
            (None, SourceLocation::Output(_, at)) => format!("`{at}` of the output"),
        }
    }
}

/// What an output holds.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) resources: Vec<Draft>,
    pub(crate) secret_store: Option<Value>,
    pub(crate) context: Option<Value>,
    /// Notes for users.
    pub(crate) notes: Vec<String>,
    /// Whether the output was not empty.
    pub(crate) is_something: bool,
    /// Whether a form was recognised, be it empty.
    is_known: bool,
    output: Arc<Output>,
}

/// Reads the output of a program.
pub(crate) fn read(documents: Documents, output: Arc<Output>) -> Result<Drafts, String> {
    let mut drafts = Drafts { output, ..Drafts::default() };
    for (number, document) in documents.values.into_iter().enumerate() {
        let at = FieldPath::default();
        if documents.is_list {
            drafts.stream_document(document, &at.index(number))?;
        } else {
            drafts.document(document, &at)?;
        }
    }
    if drafts.is_something && !drafts.is_known {
        return Err("the output has no resources: print Kubernetes objects, a list of records \
                    with `id`, `type` and `attributes`, or a map with `resources`"
            .to_owned());
    }
    Ok(drafts)
}

impl Drafts {
    /// Reads a document of a stream, which must be a resource, a list of resources, or a map that
    /// contains resources. Empty documents are allowed.
    fn stream_document(&mut self, document: Value, at: &FieldPath) -> Result<(), String> {
        let is_other = match &document {
            Value::Null | Value::Array(_) => false,
            Value::Object(fields) => !fields.is_empty() && !is_resource(fields),
            _ => true,
        };
        if !is_other {
            return self.document(document, at);
        }
        let error = self.not_a_resource(at, &document);
        let was_known = std::mem::take(&mut self.is_known);
        self.document(document, at)?;
        if !self.is_known {
            return Err(error);
        }
        self.is_known |= was_known;
        Ok(())
    }

    fn not_a_resource(&self, at: &FieldPath, value: &Value) -> String {
        mistaken::error(&self.output, at, value)
    }

    fn document(&mut self, document: Value, at: &FieldPath) -> Result<(), String> {
        match document {
            Value::Null => Ok(()),
            Value::Array(items) => {
                self.is_something |= !items.is_empty();
                self.is_known |= items.is_empty();
                self.list(items, at)
            }
            Value::Object(fields) => {
                self.is_something |= !fields.is_empty();
                if is_resource(&fields) {
                    return self.resource(fields, at);
                }
                let looks_like_object = is_nearly_object(&fields);
                let error = looks_like_object.then(|| mistaken::of_map(&self.output, at, &fields));
                for (key, value) in fields {
                    self.attribute(value, &at.key(&key))?;
                }
                error.filter(|_| !self.is_known).map_or(Ok(()), Err)
            }
            other => Err(self.not_a_resource(at, &other)),
        }
    }

    /// Reads a top-level attribute, which may not be a resource.
    fn attribute(&mut self, value: Value, at: &FieldPath) -> Result<(), String> {
        match value {
            Value::Object(fields) if is_resource(&fields) => self.resource(fields, at),
            Value::Object(fields) if is_nearly_object(&fields) => {
                Err(mistaken::of_map(&self.output, at, &fields))
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(is_resource_value) => {
                self.list(items, at)
            }
            Value::Array(items) => self.other_list(&items, at),
            _ => Ok(()),
        }
    }

    /// Checks a top-level list that is not a list of resources.
    fn other_list(&mut self, items: &[Value], at: &FieldPath) -> Result<(), String> {
        let is_nearly = |it: &Value| it.as_object().is_some_and(is_nearly_object);
        if let Some(number) = items.iter().position(is_nearly) {
            return Err(self.not_a_resource(&at.index(number), &items[number]));
        }
        if items.iter().any(is_resource_value) {
            self.notes
                .push(format!("{} is ignored: it contains resources and other values", shown(at)));
        }
        Ok(())
    }

    fn list(&mut self, items: Vec<Value>, at: &FieldPath) -> Result<(), String> {
        for (index, item) in items.into_iter().enumerate() {
            let at = at.index(index);
            match item {
                Value::Object(fields) if is_resource(&fields) => self.resource(fields, &at)?,
                other => return Err(self.not_a_resource(&at, &other)),
            }
        }
        Ok(())
    }

    /// Reads a map that [`is_resource`].
    fn resource(&mut self, mut fields: Map<String, Value>, at: &FieldPath) -> Result<(), String> {
        self.is_known = true;
        if is_object(&fields) {
            if is_object_list(&fields) {
                let items = fields.remove("items");
                return self.items(items, &at.key("items"), Self::list);
            }
            let written = SourceLocation::Output(Arc::clone(&self.output), at.clone());
            self.resources.push(Draft::object(Value::Object(fields), written));
            return Ok(());
        }
        if fields.contains_key("attributes") {
            return self.record(fields, at);
        }
        for key in ["resources", "instances"] {
            let records = fields.remove(key);
            self.items(records, &at.key(key), Self::records)?;
        }
        for (slot, key) in [(&mut self.secret_store, "secretStore"), (&mut self.context, "context")]
        {
            if let Some(value) = fields.remove(key).filter(|value| !value.is_null()) {
                *slot = Some(value);
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        items: Option<Value>,
        at: &FieldPath,
        read: impl Fn(&mut Self, Vec<Value>, &FieldPath) -> Result<(), String>,
    ) -> Result<(), String> {
        match items {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(items)) => read(self, items, at),
            Some(other) => Err(format!("{} must be a list, not {}", shown(at), kind_of(&other))),
        }
    }

    fn records(&mut self, items: Vec<Value>, at: &FieldPath) -> Result<(), String> {
        for (index, item) in items.into_iter().enumerate() {
            let at = at.index(index);
            match item {
                Value::Object(fields) if is_object(&fields) => self.resource(fields, &at)?,
                Value::Object(fields) => self.record(fields, &at)?,
                other => {
                    return Err(format!("{} must be a map, not {}", shown(&at), kind_of(&other)));
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, mut fields: Map<String, Value>, at: &FieldPath) -> Result<(), String> {
        let attributes_at = at.key("attributes");
        let mut draft = Draft {
            id: take_text(&mut fields, "id", at)?,
            resource_type: take_text(&mut fields, "type", at)?,
            written: SourceLocation::Output(Arc::clone(&self.output), attributes_at.clone()),
            ..Draft::default()
        };
        draft.attributes = match fields.remove("attributes") {
            Some(attributes @ Value::Object(_)) => attributes,
            Some(Value::Null) | None => {
                return Err(format!("{} has no `attributes`", named(draft.id.as_deref(), at)));
            }
            Some(other) => {
                let found = kind_of(&other);
                return Err(format!("{} must be a map, not {found}", shown(&attributes_at)));
            }
        };
        match fields.remove("dependsOn") {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                for (index, item) in items.into_iter().enumerate() {
                    let (id, is_ready) = dependency(item).map_err(|found| {
                        let at = at.key("dependsOn").index(index);
                        format!("{} must be an id or `{{id, ready}}`, not {found}", shown(&at))
                    })?;
                    if is_ready {
                        draft.wait_for.push(id.clone());
                    }
                    draft.depends_on.push(id);
                }
            }
            Some(other) => {
                let at = at.key("dependsOn");
                return Err(format!("{} must be a list, not {}", shown(&at), kind_of(&other)));
            }
        }
        match fields.remove("extensions") {
            None | Some(Value::Null) => {}
            Some(Value::Object(extensions)) => draft.extensions = extensions,
            Some(other) => {
                let at = at.key("extensions");
                return Err(format!("{} must be a map, not {}", shown(&at), kind_of(&other)));
            }
        }
        if let Some(mode) = take_text(&mut fields, "mode", at)?
            && mode != "managed"
        {
            draft.extensions.entry("mode").or_insert(Value::String(mode));
        }
        self.resources.push(draft);
        Ok(())
    }
}

/// Whether a map is a resource or a form that holds resources.
fn is_resource(fields: &Map<String, Value>) -> bool {
    let has_list = |key: &str| fields.get(key).is_some_and(|it| it.is_array() || it.is_null());
    is_object(fields)
        || (fields.contains_key("id") || fields.contains_key("type"))
            && fields.get("attributes").is_some_and(Value::is_object)
        || has_list("resources")
        || has_list("instances")
}

fn is_resource_value(value: &Value) -> bool {
    value.as_object().is_some_and(is_resource)
}

/// Whether a map is a Kubernetes object.
fn is_object(fields: &Map<String, Value>) -> bool {
    is_text(fields, "apiVersion") && is_text(fields, "kind")
}

fn is_text(fields: &Map<String, Value>, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

/// Whether a Kubernetes object is a list of objects: `kind: List`, or `kind: ServiceList` whose
/// items say what they are.
fn is_object_list(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    let items = fields.get("items");
    kind == "List" && items.is_none_or(|items| items.is_array() || items.is_null())
        || kind.ends_with("List")
            && items.and_then(Value::as_array).is_some_and(|items| {
                items.iter().all(|item| item.as_object().is_some_and(is_object))
            })
}

/// Reads a dependency: an id, or `{id, ready}`. Returns whether it must be ready, or else what was
/// found.
fn dependency(item: Value) -> Result<(String, bool), String> {
    match item {
        Value::String(id) => Ok((id, false)),
        Value::Object(mut fields) => {
            let id = fields.remove("id");
            let ready = fields.remove("ready");
            match (id, ready, fields.keys().next()) {
                (Some(Value::String(id)), None, None) => Ok((id, false)),
                (Some(Value::String(id)), Some(Value::Bool(ready)), None) => Ok((id, ready)),
                (_, _, Some(key)) => Err(format!("a map with `{key}`")),
                _ => Err("a map with other values".to_owned()),
            }
        }
        other => Err(kind_of(&other).to_string()),
    }
}

fn take_text(
    fields: &mut Map<String, Value>,
    key: &str,
    at: &FieldPath,
) -> Result<Option<String>, String> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(other) => {
            let at = at.key(key);
            Err(format!("{} must be a string, not {}", shown(&at), kind_of(&other)))
        }
    }
}

fn named(id: Option<&str>, at: &FieldPath) -> String {
    id.map_or_else(|| shown(at), |id| format!("resource `{id}`"))
}

fn shown(at: &FieldPath) -> String {
    match at.0.as_slice() {
        [] => "the output".to_owned(),
        [PathStep::Index(number)] => format!("document {} of the output", number + 1),
        _ => format!("`{at}` of the output"),
    }
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
