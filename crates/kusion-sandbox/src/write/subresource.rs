//! Parts of objects with ends of their own: status, scale and the like.

use super::update::Origin;
use super::{Failed, Outcome, managed, prepare};
use crate::api::{Caller, Write};
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::store::Stored;
use crate::{Status, object};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns the object that a write to a subresource leads to.
pub(crate) fn prepare(
    served: &Served,
    subresource: &str,
    old: &Value,
    new: Value,
) -> Result<Value, Status> {
    if !served.has(subresource) {
        return Err(Status::no_route());
    }
    match subresource {
        "status" => Ok(status(served, old, new)),
        "finalize" => Ok(part(old, &new, &["spec", "finalizers"])),
        "binding" => {
            let bound = part(old, &new, &["spec", "nodeName"]);
            Ok(part(&bound, &new, &["status", "conditions"]))
        }
        "approval" => {
            let conditions = part(old, &new, &["status", "conditions"]);
            let mut merged = status(served, old, new);
            prepare::keep(&conditions, &mut merged, "status");
            Ok(merged)
        }
        "ephemeralcontainers" => {
            let mut merged = part(old, &new, &["spec", "ephemeralContainers"]);
            if merged != *old {
                prepare::bump_generation(&mut merged);
            }
            Ok(merged)
        }
        "resize" => {
            let mut merged = part(old, &new, &["spec", "containers"]);
            if merged != *old {
                prepare::bump_generation(&mut merged);
            }
            Ok(merged)
        }
        _ => Err(Status::method_not_allowed()),
    }
}

/// Returns `old` with the status of `new`, and with those of its labels and annotations that a
/// writer of the status may set.
fn status(served: &Served, old: &Value, mut new: Value) -> Value {
    if !served.is_builtin() || managed::keeps_metadata(served) {
        let mut merged = old.clone();
        prepare::keep(&new, &mut merged, "status");
        let records = object::at(&new, &["metadata", "managedFields"]).clone();
        if !records.is_null() {
            object::meta_mut(&mut merged).insert("managedFields".to_owned(), records);
        }
        return merged;
    }
    prepare::keep_meta(old, &mut new);
    if served.is("apps", "deployments") || served.is("apps", "replicasets") {
        let labels = object::at(old, &["metadata", "labels"]).clone();
        let meta = object::meta_mut(&mut new);
        if labels.is_null() {
            meta.remove("labels");
        } else {
            meta.insert("labels".to_owned(), labels);
        }
    }
    let keys: Vec<String> = old
        .as_object()
        .into_iter()
        .chain(new.as_object())
        .flat_map(|map| map.keys().cloned())
        .collect();
    for key in keys {
        if !matches!(key.as_str(), "metadata" | "status") {
            prepare::keep(old, &mut new, &key);
        }
    }
    new
}

/// Returns `old` with one field of `new`.
fn part(old: &Value, new: &Value, path: &[&str; 2]) -> Value {
    let mut merged = old.clone();
    let value = object::at(new, path).clone();
    let parent = object::child_mut(&mut merged, path[0]);
    if value.is_null() {
        parent.remove(path[1]);
    } else {
        parent.insert(path[1].to_owned(), value);
    }
    let records = object::at(new, &["metadata", "managedFields"]).clone();
    if !records.is_null() {
        object::meta_mut(&mut merged).insert("managedFields".to_owned(), records);
    }
    merged
}

impl Cluster {
    /// Returns how many replicas an object wants and has, as a `Scale`.
    pub(crate) fn scale(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
    ) -> Result<Value, Status> {
        let stored = self.get(served, namespace, name)?;
        Ok(scale_of(served, &*self.view(served, &stored)?))
    }

    /// Sets how many replicas an object wants.
    pub(crate) fn update_scale(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        scale: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        if !served.has("scale") {
            return Err(Status::no_route());
        }
        loop {
            let old = self.get(served, namespace, name)?;
            match self.replace_scale(served, &old, scale, write, false) {
                Err(Failed::Race) => {}
                Err(Failed::Status(status)) => return Err(status),
                Ok(outcome) => return Ok(outcome),
            }
        }
    }

    /// Sets how many replicas an object wants that was read at `old`.
    pub(crate) fn replace_scale(
        &self,
        served: &Served,
        old: &Arc<Stored>,
        scale: &Value,
        write: &Write<'_>,
        _applied: bool,
    ) -> Result<Outcome, Failed> {
        super::update::check_preconditions(served, old, scale)?;
        let mut new = self.live(served, old)?;
        let before = scale_of(served, &new);
        let kind = ("autoscaling", "v1", "Scale");
        let scale = &self.hooks_subresource(served, write, kind, before, scale.clone())?;
        let replicas = object::at(scale, &["spec", "replicas"]).as_i64().unwrap_or(0);
        if replicas < 0 {
            let cause = crate::Cause::new(
                "FieldValueInvalid",
                "spec.replicas",
                format!("Invalid value: {replicas}: must be greater than or equal to 0"),
            );
            let name = object::name(scale);
            return Err(Status::invalid("autoscaling", "Scale", name, &[cause]).into());
        }
        match served.custom.as_ref().and_then(|custom| custom.scale.as_ref()) {
            Some(paths) => object::set_path(&mut new, &paths.spec, replicas.into()),
            None => {
                object::child_mut(&mut new, "spec").insert("replicas".to_owned(), replicas.into());
            }
        }
        // The object changes as a whole, but its managers are told by the subresource.
        let live = self.view(served, old)?;
        super::managed::update(self, served, write, Some(&live), &mut new);
        if served.custom.is_some() {
            forget_scale_times(&mut new);
        }
        let caller = Caller { admitted: true, ..write.caller };
        let plain = Write { subresource: "", caller, ..*write };
        let outcome = self.replace(served, old, new, &plain, Origin::Applied)?;
        let value = Arc::new(scale_of(served, &outcome.value));
        Ok(Outcome { value, stored: None, ..outcome })
    }
}

/// Entries of managers who scale a custom object carry no time on the real server.
fn forget_scale_times(object: &mut Value) {
    let entries = object::meta_mut(object).get_mut("managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        if entry.get("subresource").is_some_and(|name| name == "scale") {
            entry.remove("time");
        }
    }
}

/// Returns how many replicas an object wants and has, as a `Scale`.
pub(crate) fn scale_of(served: &Served, object: &Value) -> Value {
    let mut meta = serde_json::Map::new();
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        let value = object::at(object, &["metadata", key]);
        if !value.is_null() {
            meta.insert(key.to_owned(), value.clone());
        }
    }
    let custom = served.custom.as_ref().and_then(|custom| custom.scale.as_ref());
    let (wanted, present, selector) = match custom {
        Some(paths) => (
            object::at_path(object, &paths.spec),
            object::at_path(object, &paths.status),
            match object::at_path(object, &paths.selector) {
                Value::String(text) if !paths.selector.is_empty() => text.clone(),
                _ => String::new(),
            },
        ),
        None => (
            object::at(object, &["spec", "replicas"]),
            object::at(object, &["status", "replicas"]),
            selector_text(object::at(object, &["spec", "selector"])),
        ),
    };
    let spec = match wanted.as_i64() {
        None | Some(0) => json!({}),
        Some(replicas) => json!({"replicas": replicas}),
    };
    let mut status = json!({"replicas": present.as_i64().unwrap_or(0)});
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": meta,
        "spec": spec,
        "status": status,
    })
}

/// Returns the text form of a selector object, or of a plain map of labels.
pub(crate) fn selector_text(selector: &Value) -> String {
    let mut parts = Vec::new();
    let structured =
        selector.get("matchLabels").is_some() || selector.get("matchExpressions").is_some();
    let labels = if structured { selector.get("matchLabels") } else { Some(selector) };
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str().unwrap_or_default()));
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = object::text(expression, &["key"]);
        let mut values: Vec<&str> = object::at(expression, &["values"])
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        parts.push(match object::text(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    parts.sort();
    parts.join(",")
}
