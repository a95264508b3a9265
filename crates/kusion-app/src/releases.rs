//! The Specs of releases.

use crate::secrets::hide;
use kusion_engine::{EngineError, Stack};
use kusion_model::markers::shown_secret;
use kusion_model::{
    Action, FieldChange, ListItems, Operation, Plan, Reason, Resource, ResourceId, Shown, Spec,
    StackKey, Step,
};
use kusion_plan::differences;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the Spec of a release; secrets are replaced by their hashes.
pub async fn spec(stack: &Stack, revision: u64) -> Result<Spec, EngineError> {
    hidden_spec(stack, revision, &|hash| shown_secret(hash.clone())).await
}

/// Returns the plan from the Spec of one release to that of another.
pub async fn compare(stack: &Stack, from: u64, to: u64) -> Result<Plan, EngineError> {
    let hashed = |hash: &Value| format!("{MARK}{}", hash.as_str().unwrap_or_default()).into();
    let from = hidden_spec(stack, from, &hashed).await?;
    let to = hidden_spec(stack, to, &hashed).await?;
    Ok(compared(stack.key(), &from, &to))
}

async fn hidden_spec(
    stack: &Stack,
    revision: u64,
    instead: &(dyn Fn(&Value) -> Value + Sync),
) -> Result<Spec, EngineError> {
    let mut spec = stack.sealed_spec(revision).await?;
    for resource in &mut spec.resources {
        hide(&mut resource.attributes, instead);
    }
    Ok(spec)
}

fn compared(key: &StackKey, from: &Spec, to: &Spec) -> Plan {
    let by_id = |spec: &Spec| -> BTreeMap<ResourceId, Resource> {
        spec.resources.iter().map(|it| (it.id.clone(), it.clone())).collect()
    };
    let (from, to) = (by_id(from), by_id(to));
    let mut steps: Vec<Step> =
        to.values().map(|after| step(from.get(&after.id), after, true)).collect();
    let removed = from.values().filter(|it| !to.contains_key(&it.id));
    steps.extend(removed.map(|before| step(None, before, false)));
    Plan::new(key.clone(), Operation::Apply, steps)
}

fn step(before: Option<&Resource>, resource: &Resource, is_desired: bool) -> Step {
    let changes: Vec<FieldChange> = before
        .map(|before| {
            differences(&before.attributes, &resource.attributes, &|_| ListItems::Unknown)
                .into_iter()
                .map(|it| FieldChange {
                    path: it.path,
                    before: it.before.map(shown),
                    after: it.after.map(shown),
                    label: it.label,
                    ..FieldChange::default()
                })
                .collect()
        })
        .unwrap_or_default();
    let (action, reason) = match (before, is_desired) {
        (_, false) => (Action::Delete, Reason::Removed),
        (None, true) => (Action::Create, Reason::New),
        (Some(_), true) if changes.is_empty() => (Action::Keep, Reason::Same),
        (Some(_), true) => (Action::Update, Reason::Differs),
    };
    let (id, resource_type) = (resource.id.clone(), resource.resource_type.clone());
    Step { changes, ..Step::new(id, resource_type, action, reason) }
}

/// Prefix of the hash of a secret while Specs are compared: a secret is one value.
const MARK: &str = "\0secret ";

fn shown(value: &Value) -> Shown {
    match hash_of(value) {
        Some(hash) => Shown::Secret { hash: hash.to_owned() },
        None => {
            let mut plain = value.clone();
            unmark(&mut plain);
            Shown::Plain(plain)
        }
    }
}

fn hash_of(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix(MARK)
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(unmark),
        Value::Array(items) => items.iter_mut().for_each(unmark),
        _ => {
            if let Some(hash) = hash_of(value) {
                *value = shown_secret(hash);
            }
        }
    }
}
