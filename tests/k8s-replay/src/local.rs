//! The library itself as a target, for kinds that need no more than it.

use std::collections::HashMap;

use anyhow::Result;
use kusion_k8s_merge::{
    ApplyError, OneVersion, PatchError, Typed, Writer, apply, custom_reset_fields, json_patch,
    keep_times, merge_patch, strategic_merge, update,
};
use kusion_k8s_schema::{
    Field, ListKind, Listing, Mapping, Scalar, Struct, Type, TypeId, TypeTable, builtin,
};
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::generate::{Method, Step};
use super::kinds::{Kind, custom_schema};
use super::{Target, text};

/// Answers requests about config maps and the custom kind by the merge library alone: what comes
/// before and after it in a server is as small as these kinds allow.
pub struct Local {
    table: TypeTable,
    thing: TypeId,
    config_map: TypeId,
    objects: HashMap<String, Value>,
}

impl Default for Local {
    fn default() -> Self {
        Self::new()
    }
}

impl Local {
    /// Starts without objects.
    pub fn new() -> Self {
        let builtin = builtin();
        let mut table = builtin.types.clone();
        let config_map = builtin.type_of("", "v1", "ConfigMap").unwrap_or_default();
        let metadata = match table.get(config_map) {
            Type::Struct(named) => named.field("metadata").map_or(TypeId::default(), |f| f.ty),
            _ => TypeId::default(),
        };
        let thing = type_of(&mut table, &custom_schema());
        let string = table.push(Type::Scalar(Scalar::String));
        if let Type::Struct(named) = table.get(thing) {
            let mut named = named.clone();
            named.fields.push(Field { name: "metadata".into(), ty: metadata, ..Field::default() });
            for name in ["apiVersion", "kind"] {
                named.fields.push(Field { name: name.into(), ty: string, ..Field::default() });
            }
            named.fields.sort_by(|a, b| a.name.cmp(&b.name));
            table.set(thing, Type::Struct(named));
        }
        Self { table, thing, config_map, objects: HashMap::new() }
    }

    fn typed(&self, kind: Kind) -> Typed<'_> {
        Typed::new(&self.table, if kind == Kind::Thing { self.thing } else { self.config_map })
    }

    fn write(
        &self,
        kind: Kind,
        step: &Step,
        live: Option<&Value>,
    ) -> Result<(u16, Value), (u16, Value)> {
        let typed = self.typed(kind);
        let reset = match kind {
            Kind::Thing => custom_reset_fields(true, &step.subresource),
            _ => None,
        };
        let versions = OneVersion { api_version: kind.api_version(), typed, reset };
        let writer = Writer {
            versions: &versions,
            api_version: kind.api_version(),
            subresource: &step.subresource,
            manager: &step.manager,
            now: "2026-01-02T03:04:05Z",
        };
        let body = &step.body;
        let mut new = match (step.method, live) {
            (Method::Apply, live) => {
                let applied =
                    apply(&writer, live, body, step.force).map_err(|e| refuse_apply(&e))?;
                let mut new = applied.object;
                self.settle(kind, &mut new, true);
                new
            }
            (Method::Create, _) | (Method::Update, Some(_)) => {
                let mut new = body.clone();
                if let (Some(live), Value::Object(metadata)) = (live, &mut new["metadata"]) {
                    metadata.insert("uid".to_owned(), live["metadata"]["uid"].clone());
                }
                self.settle(kind, &mut new, false);
                let empty = json!({"apiVersion": kind.api_version(), "kind": kind.name()});
                update(&writer, live.unwrap_or(&empty), &mut new);
                new
            }
            (method, Some(live)) => {
                let patched = match method {
                    Method::Json => json_patch(live, body),
                    Method::Merge => merge_patch(live, body),
                    _ => strategic_merge(typed, live, body),
                };
                let mut new = patched.map_err(|e| refuse_patch(&e))?;
                self.settle(kind, &mut new, false);
                update(&writer, live, &mut new);
                new
            }
            (_, None) => return Err((404, json!({"message": "not found"}))),
        };
        reset_part(kind, step, live, &mut new);
        if live.is_none() {
            new["metadata"]["uid"] = json!("uid");
        }
        if let Some(live) = live {
            keep_times(live, &mut new);
        }
        Ok((if live.is_none() { 201 } else { 200 }, new))
    }

    /// Does what decoding does: defaults, and no more than the schema knows.
    fn settle(&self, kind: Kind, object: &mut Value, nulls: bool) {
        if kind == Kind::Thing {
            default(&self.table, self.thing, object, nulls);
        }
        for pointer in ["/metadata/labels", "/metadata/annotations", "/data", "/binaryData"] {
            let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
            let empty = match object.pointer(pointer) {
                Some(Value::Object(map)) => map.is_empty(),
                Some(Value::Null) => true,
                _ => false,
            };
            if let (true, Some(Value::Object(parent))) = (empty, object.pointer_mut(parent)) {
                parent.remove(key);
            }
        }
    }
}

/// Takes over what the written part may not change.
fn reset_part(kind: Kind, step: &Step, live: Option<&Value>, new: &mut Value) {
    if kind != Kind::Thing {
        return;
    }
    let (Some(live), "status") = (live, step.subresource.as_str()) else {
        let status = live.and_then(|live| live.get("status")).cloned();
        if let Value::Object(new) = new {
            new.remove("status");
            new.extend(status.map(|status| ("status".to_owned(), status)));
        }
        return;
    };
    let mut kept = live.clone();
    if let Some(Value::Object(metadata)) = kept.get_mut("metadata") {
        metadata.remove("managedFields");
        let records = new.pointer("/metadata/managedFields").cloned();
        metadata.extend(records.map(|records| ("managedFields".to_owned(), records)));
    }
    if let Value::Object(kept) = &mut kept {
        kept.remove("status");
        kept.extend(new.get("status").map(|status| ("status".to_owned(), status.clone())));
    }
    *new = kept;
}

impl Target for Local {
    fn send(&mut self, kind: Kind, name: &str, step: &Step) -> Result<Answer> {
        if step.method == Method::Create {
            self.objects.remove(name);
        }
        let mut step = step.clone();
        if step.body.is_object() {
            step.body["metadata"]["name"] = json!(name);
        }
        let live = self.objects.get(name);
        let (code, body) = match self.write(kind, &step, live) {
            Ok((code, object)) => {
                self.objects.insert(name.to_owned(), object.clone());
                (code, object)
            }
            Err(refused) => refused,
        };
        Ok(Answer::of(code, &body).without_name(name))
    }

    fn can_answer(&self, answer: &Answer) -> bool {
        !answer.message.contains(" is invalid: ")
    }
}

fn refuse_apply(error: &ApplyError) -> (u16, Value) {
    let causes: Vec<Value> = match error {
        ApplyError::Conflict(conflicts) => conflicts
            .list
            .iter()
            .map(|c| json!({"reason": "FieldManagerConflict", "message": c.message(), "field": c.field}))
            .collect(),
        _ => Vec::new(),
    };
    let code = match error {
        ApplyError::Conflict(_) => 409,
        ApplyError::BadRequest(_) => 400,
        ApplyError::Invalid(_) => 500,
    };
    (code, json!({"message": error.to_string(), "details": {"causes": causes}}))
}

fn refuse_patch(error: &PatchError) -> (u16, Value) {
    let code = match error {
        PatchError::BadRequest(_) => 400,
        PatchError::TooLarge(_) => 413,
        PatchError::Unprocessable(_) => 422,
        PatchError::Internal(_) => 500,
    };
    (code, json!({"message": error.to_string()}))
}

/// Sets missing fields that have defaults, and removes unknown ones and `null`.
fn default(table: &TypeTable, ty: TypeId, value: &mut Value, nulls: bool) {
    match (table.get(ty), value) {
        (Type::Struct(named), Value::Object(map)) => {
            if !named.preserve_unknown && named.additional.is_none() {
                let known =
                    |key: &str| named.field(key).is_some() || ["apiVersion", "kind"].contains(&key);
                map.retain(|key, value| known(key) && (nulls || !value.is_null()));
            }
            for field in &named.fields {
                if let (Some(default), None) = (&field.default, map.get(&*field.name)) {
                    map.insert(field.name.to_string(), default.clone());
                }
            }
            for (key, below) in map.iter_mut().filter(|(key, _)| *key != "metadata") {
                if let Some(field) = named.field(key) {
                    default(table, field.ty, below, nulls);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                default(table, list.element, item, nulls);
            }
        }
        _ => {}
    }
}

/// Makes a type of a small schema.
fn type_of(table: &mut TypeTable, schema: &Value) -> TypeId {
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return table.push(Type::Scalar(Scalar::IntOrString));
    }
    let atomic = text(schema, "/x-kubernetes-map-type") == "atomic";
    let ty = match text(schema, "/type") {
        "string" => Type::Scalar(Scalar::String),
        "integer" => Type::Scalar(Scalar::Integer),
        "boolean" => Type::Scalar(Scalar::Boolean),
        "array" => {
            let element = type_of(table, &schema["items"]);
            let keys = schema["x-kubernetes-list-map-keys"].as_array();
            let kind = match text(schema, "/x-kubernetes-list-type") {
                "set" => ListKind::Set,
                "map" => ListKind::Map(
                    keys.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect(),
                ),
                _ => ListKind::Atomic,
            };
            Type::List(Listing { element, kind })
        }
        _ if schema.get("additionalProperties").is_some() => {
            let element = type_of(table, &schema["additionalProperties"]);
            Type::Map(Mapping { element, atomic })
        }
        _ => {
            let empty = Map::new();
            let mut fields = Vec::new();
            for (name, below) in schema["properties"].as_object().unwrap_or(&empty) {
                let ty = type_of(table, below);
                let default = below.get("default").cloned();
                fields.push(Field { name: name.as_str().into(), ty, default, ..Field::default() });
            }
            let preserve_unknown = schema.get("x-kubernetes-preserve-unknown-fields").is_some();
            Type::Struct(Struct { fields, atomic, preserve_unknown, ..Struct::default() })
        }
    };
    table.push(ty)
}
