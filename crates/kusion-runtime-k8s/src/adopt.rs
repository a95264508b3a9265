//! Adoption of objects that `kubectl apply` or another stack created: their fields become managed
//! by the stack.
//!
//! Fields of an object are recorded by manager. If those of client-side apply or of an earlier
//! owner stayed there, a field that the stack removes would never be deleted. So the record is
//! transferred to the stack, as kubectl does when it migrates to server-side apply.

use crate::calls::{Call, push_escaped};
use crate::change::Patch;
use crate::owner::{FIRST_MANAGER, is_stack_manager};
use crate::runtime::KubernetesRuntime;
use http::{Method, StatusCode};
use kusion_k8s_merge::fields_v1;
use kusion_runtime::{Conflict, RuntimeError};
use memchr::memmem;
use serde_json::{Map, Value, json};

/// The manager of client-side apply.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";
/// The record of earlier versions, as the server writes it.
const FIRST_RECORD: &str = "\"manager\":\"kusion\"";
/// How often the write is retried when the object changes concurrently.
const ATTEMPTS: usize = 5;

/// The records of an object that a stack takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predecessors {
    /// Those of earlier versions: the object belongs to the stack already.
    Earlier,
    /// Also that of client-side apply: the object belongs to nobody.
    ClientSide,
    /// Also those of other stacks.
    Stacks,
}

impl Predecessors {
    /// Returns whether the record of a manager is taken over by another manager.
    fn include(self, manager: &str, operation: &str, own: &str) -> bool {
        match operation {
            "Update" => manager == CLIENT_SIDE && self != Self::Earlier,
            "Apply" if manager == own => false,
            "Apply" if self == Self::Stacks => is_stack_manager(manager),
            "Apply" => manager == FIRST_MANAGER,
            _ => false,
        }
    }

    /// Returns whether an object, as the server writes it, has records to take over.
    pub(crate) fn are_in(self, text: &[u8], own: &str) -> bool {
        // Few objects have; so the text is searched before it is parsed.
        let has = |needle: &str| memmem::find(text, needle.as_bytes()).is_some();
        let may_have = match self {
            Self::Earlier => has(FIRST_RECORD),
            Self::ClientSide => has(FIRST_RECORD) || has(CLIENT_SIDE),
            Self::Stacks => true,
        };
        may_have
            && serde_json::from_slice::<Value>(text).is_ok_and(|object| self.has_any(&object, own))
    }

    fn has_any(self, object: &Value, own: &str) -> bool {
        records(object).iter().any(|record| self.include_record(record, own))
    }

    fn include_record(self, record: &Value, own: &str) -> bool {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        text("subresource").is_empty() && self.include(text("manager"), text("operation"), own)
    }

    /// Returns whether all conflicts are with managers whose records are taken over.
    pub(crate) fn explain(self, conflicts: &[Conflict], own: &str) -> bool {
        let is_one = |it: &Conflict| {
            ["Update", "Apply"].iter().any(|operation| self.include(&it.manager, operation, own))
        };
        !conflicts.is_empty() && conflicts.iter().all(is_one)
    }
}

/// Transfers the records of predecessors to the stack; returns false if there are none.
pub(crate) async fn migrate(
    runtime: &KubernetesRuntime,
    patch: &Patch,
    predecessors: Predecessors,
) -> Result<bool, RuntimeError> {
    let own = runtime.mark.manager.as_str();
    for _ in 0..ATTEMPTS {
        let call = Call::get(patch.path().to_owned());
        let Some(answer) = runtime.calls.send(call).await?.found()? else { return Ok(false) };
        let object: Value = serde_json::from_slice(&answer.body)
            .map_err(|error| runtime.calls.lost(&error.to_string()))?;
        let Some(changes) = migration(&object, predecessors, own) else { return Ok(false) };
        let body = changes.to_string().into_bytes();
        let mut target = format!("{}?fieldManager=", patch.path());
        push_escaped(&mut target, own);
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

/// Returns the changes that make the records of predecessors ours.
fn migration(object: &Value, predecessors: Predecessors, own: &str) -> Option<Value> {
    if !predecessors.has_any(object, own) {
        return None;
    }
    let all = records(object);
    let ours = all.iter().find(|record| is_record(record, own, "Apply"));
    let theirs = all.iter().filter(|record| predecessors.include_record(record, own));
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
            !predecessors.include_record(record, own) && !is_record(record, own, "Apply")
        })
        .cloned()
        .collect();
    kept.push(json!({
        "manager": own, "operation": "Apply", "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    }));
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {"op": "replace", "path": "/metadata/resourceVersion",
         "value": object.pointer("/metadata/resourceVersion")?},
    ]))
}
