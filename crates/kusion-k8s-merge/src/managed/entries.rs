//! The record of managers, read from and written to an object.

use std::borrow::Cow;
use std::cmp::Ordering;

use base_text::push_html_safe_json_string;
use serde_json::{Map, Value};

use super::Writer;
use crate::fields_v1;
use crate::set::Set;

/// How a manager came to its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// One manager and its fields.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) manager: Cow<'a, str>,
    pub(crate) operation: Operation,
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) subresource: Cow<'a, str>,
    pub(crate) time: Option<Cow<'a, str>>,
    pub(crate) fields: Set<'a>,
}

impl<'a> Entry<'a> {
    /// Starts the record of a writer.
    pub(crate) fn of(writer: &Writer<'a>, operation: Operation, fields: Set<'a>) -> Self {
        let manager = if writer.manager.is_empty() { "unknown" } else { writer.manager };
        Self {
            manager: Cow::Borrowed(manager),
            operation,
            api_version: Cow::Borrowed(writer.api_version),
            subresource: Cow::Borrowed(writer.subresource),
            time: None,
            fields,
        }
    }

    /// Returns whether two records are of the same manager: appliers are identified by name and
    /// subresource, others by version too.
    pub(crate) fn same_manager(&self, other: &Entry<'_>) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }

    /// Returns the text by which the server sorts managers.
    pub(crate) fn identity(&self) -> String {
        let mut out = String::from("{");
        let mut push = |name: &str, value: &str| {
            if !value.is_empty() {
                out.push_str(if out.len() > 1 { ",\"" } else { "\"" });
                out.push_str(name);
                out.push_str("\":");
                push_html_safe_json_string(&mut out, value);
            }
        };
        push("manager", &self.manager);
        push("operation", self.operation.name());
        if self.operation == Operation::Update {
            push("apiVersion", &self.api_version);
        }
        push("subresource", &self.subresource);
        out.push('}');
        out
    }

    /// Returns the manager as conflicts name it.
    pub(crate) fn shown(&self) -> String {
        let mut out = kusion_k8s_schema::quoted(&self.manager);
        if !self.subresource.is_empty() {
            out.push_str(" with subresource ");
            kusion_k8s_schema::push_quoted(&mut out, &self.subresource);
        }
        if self.operation == Operation::Update {
            out.push_str(" using ");
            out.push_str(&self.api_version);
        }
        out
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                map.insert(name.to_owned(), Value::String(value.to_owned()));
            }
        };
        put("apiVersion", &self.api_version);
        put("fieldsType", "FieldsV1");
        put("manager", &self.manager);
        put("operation", self.operation.name());
        put("subresource", &self.subresource);
        put("time", self.time.as_deref().unwrap_or_default());
        map.insert("fieldsV1".to_owned(), fields_v1::to_value(&self.fields));
        Value::Object(map)
    }

    fn order(&self, other: &Self) -> Ordering {
        let time = |entry: &Self| entry.time.as_deref().unwrap_or_default().to_owned();
        (self.operation.cmp(&other.operation))
            .then_with(|| time(self).cmp(&time(other)))
            .then_with(|| self.manager.cmp(&other.manager))
            .then_with(|| self.api_version.cmp(&other.api_version))
            .then_with(|| self.subresource.cmp(&other.subresource))
    }
}

/// Reads the records of an object; the error says what is wrong with them.
pub(crate) fn decode(object: &Value) -> Result<Vec<Entry<'_>>, String> {
    let list = object.get("metadata").and_then(|meta| meta.get("managedFields"));
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (idx, raw) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let entry = decode_entry(idx, raw)?;
        entries.retain(|other| !other.same_manager(&entry));
        entries.push(entry);
    }
    Ok(entries)
}

fn decode_entry(idx: usize, raw: &Value) -> Result<Entry<'_>, String> {
    let text = |name: &str| raw.get(name).and_then(Value::as_str).unwrap_or_default();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    if text("apiVersion").is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => return Err(format!("missing fieldsType in managed fields entry {idx}")),
        other => {
            let other = kusion_k8s_schema::quoted(other);
            return Err(format!("invalid fieldsType {other} in managed fields entry {idx}"));
        }
    }
    let fields = fields_v1::parse(raw.get("fieldsV1").unwrap_or(&Value::Null))
        .map_err(|e| format!("error decoding set: {e}"))?;
    Ok(Entry {
        manager: Cow::Borrowed(text("manager")),
        operation,
        api_version: Cow::Borrowed(text("apiVersion")),
        subresource: Cow::Borrowed(text("subresource")),
        time: raw.get("time").and_then(Value::as_str).map(Cow::Borrowed),
        fields,
    })
}

/// Returns the records as they are written, sorted.
pub(crate) fn encode(mut entries: Vec<Entry<'_>>) -> Option<Value> {
    if entries.is_empty() {
        return None;
    }
    entries.sort_by(Entry::order);
    Some(Value::Array(entries.iter().map(Entry::to_value).collect()))
}

/// Writes the records into an object; without records there is no field.
pub(crate) fn store(object: &mut Value, encoded: Option<Value>) {
    let Value::Object(object) = object else { return };
    match encoded {
        Some(list) => {
            let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
            if metadata.is_null() {
                *metadata = Value::Object(Map::new());
            }
            if let Value::Object(metadata) = metadata {
                metadata.insert("managedFields".to_owned(), list);
            }
        }
        None => {
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("managedFields");
            }
        }
    }
}
