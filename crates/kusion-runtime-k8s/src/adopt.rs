//! Adoption of objects that `kubectl apply` created: their fields become managed by kusion.
//!
//! Client-side apply records its fields under a separate manager. If they stayed there, a field
//! that the stack removes would never be deleted. So the record is transferred to kusion, as
//! kubectl does when it migrates to server-side apply.

use crate::FIELD_MANAGER;
use crate::calls::Call;
use crate::change::Patch;
use crate::runtime::KubernetesRuntime;
use http::{Method, StatusCode};
use kusion_k8s_merge::fields_v1;
use kusion_runtime::{Conflict, RuntimeError};
use serde_json::{Map, Value, json};

/// The manager of client-side apply.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";
/// How often the write is retried when the object changes concurrently.
const ATTEMPTS: usize = 5;

/// Whether the records of an object, as the server writes it, name client-side apply.
pub(crate) fn is_client_side(text: &[u8]) -> bool {
    // Few objects do; so the text is searched before it is parsed.
    let needle = CLIENT_SIDE.as_bytes();
    text.windows(needle.len()).any(|window| window == needle)
        && serde_json::from_slice::<Value>(text).is_ok_and(|object| has_record(&object))
}

/// Returns whether all conflicts are with client-side apply.
pub(crate) fn are_client_side(conflicts: &[Conflict]) -> bool {
    !conflicts.is_empty() && conflicts.iter().all(|conflict| conflict.manager == CLIENT_SIDE)
}

/// Transfers the record of client-side apply to kusion; returns false if there is none.
pub(crate) async fn migrate(
    runtime: &KubernetesRuntime,
    patch: &Patch,
) -> Result<bool, RuntimeError> {
    for _ in 0..ATTEMPTS {
        let call = Call::get(patch.path().to_owned());
        let Some(answer) = runtime.calls.send(call).await?.found()? else { return Ok(false) };
        let object: Value = serde_json::from_slice(&answer.body)
            .map_err(|error| runtime.calls.lost(&error.to_string()))?;
        let Some(changes) = migration(&object) else { return Ok(false) };
        let body = changes.to_string().into_bytes();
        let target = format!("{}?fieldManager={FIELD_MANAGER}", patch.path());
        let call = Call::with_body(Method::PATCH, target, "application/json-patch+json", body);
        let answer = runtime.calls.send(call).await?;
        if answer.status != StatusCode::CONFLICT {
            answer.success()?;
            return Ok(true);
        }
    }
    Err(runtime.calls.lost("the object keeps changing"))
}

fn records(object: &Value) -> &[Value] {
    let records = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    records.map_or(&[], Vec::as_slice)
}

fn is_record(record: &Value, manager: &str, operation: &str) -> bool {
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    text("manager") == manager && text("operation") == operation && text("subresource").is_empty()
}

fn has_record(object: &Value) -> bool {
    records(object).iter().any(|record| is_record(record, CLIENT_SIDE, "Update"))
}

/// Returns the changes that make the record of client-side apply ours.
fn migration(object: &Value) -> Option<Value> {
    if !has_record(object) {
        return None;
    }
    let all = records(object);
    let ours = all.iter().find(|record| is_record(record, FIELD_MANAGER, "Apply"));
    let theirs = all.iter().filter(|record| is_record(record, CLIENT_SIDE, "Update"));
    let version = ours.or_else(|| theirs.clone().next())?.get("apiVersion")?.clone();
    let null = Value::Object(Map::new());
    let fields_of = |record: &'_ Value| record.get("fieldsV1").unwrap_or(&null).clone();
    let texts: Vec<Value> = ours.into_iter().chain(theirs).map(fields_of).collect();
    let mut union = kusion_k8s_merge::Set::new();
    for fields in &texts {
        union.absorb(fields_v1::parse(fields).ok()?);
    }
    // The copy of the object that client-side apply keeps goes with its record.
    let mut fields = fields_v1::to_value(&union);
    if let Some(Value::Object(annotations)) = fields.pointer_mut("/f:metadata/f:annotations") {
        annotations.retain(|key, _| key != ".");
    }
    let mut kept: Vec<Value> = all
        .iter()
        .filter(|record| {
            !is_record(record, CLIENT_SIDE, "Update") && !is_record(record, FIELD_MANAGER, "Apply")
        })
        .cloned()
        .collect();
    kept.push(json!({
        "manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    }));
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {"op": "replace", "path": "/metadata/resourceVersion",
         "value": object.pointer("/metadata/resourceVersion")?},
    ]))
}
