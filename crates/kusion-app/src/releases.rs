//! The Specs of releases.

use crate::secrets::hide;
use kusion_engine::{EngineError, Stack};
use kusion_model::markers::shown_secret;
use kusion_model::{
    Action, FieldChange, FieldPath, ListItems, Operation, Origins, Plan, Reason, Resource,
    ResourceId, Shown, Spec, StackKey, Step,
};
use kusion_plan::differences;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the Spec of a release; secrets are replaced by their hashes.
pub async fn spec(stack: &Stack, revision: u64) -> Result<Spec, EngineError> {
    Ok(spec_with_origins(stack, revision).await?.0)
}

/// Reads the Spec of a release as [`spec`], and the source locations of its values: none for a
/// release of an earlier version.
pub async fn spec_with_origins(
    stack: &Stack,
    revision: u64,
) -> Result<(Spec, Origins), EngineError> {
    hidden_spec(stack, revision, &|hash| shown_secret(hash.clone())).await
}

/// Returns the plan from the Spec of one release to that of another, and the source locations of the
/// values of the latter.
pub async fn compare(stack: &Stack, from: u64, to: u64) -> Result<(Plan, Origins), EngineError> {
    let hashed = |hash: &Value| format!("{MARK}{}", hash.as_str().unwrap_or_default()).into();
    let (from, _) = hidden_spec(stack, from, &hashed).await?;
    let (to, origins) = hidden_spec(stack, to, &hashed).await?;
    Ok((compared(stack.key(), &from, &to, &origins), origins))
}

async fn hidden_spec(
    stack: &Stack,
    revision: u64,
    instead: &(dyn Fn(&Value) -> Value + Sync),
) -> Result<(Spec, Origins), EngineError> {
    let (mut spec, origins) = stack.sealed_spec_with_origins(revision).await?;
    for resource in &mut spec.resources {
        hide(&mut resource.attributes, instead);
    }
    Ok((spec, origins))
}

fn compared(key: &StackKey, from: &Spec, to: &Spec, origins: &Origins) -> Plan {
    let by_id = |spec: &Spec| -> BTreeMap<ResourceId, Resource> {
        spec.resources.iter().map(|it| (it.id.clone(), it.clone())).collect()
    };
    let (from, to) = (by_id(from), by_id(to));
    let mut steps: Vec<Step> =
        to.values().map(|after| step(from.get(&after.id), after, Some(origins))).collect();
    let removed = from.values().filter(|it| !to.contains_key(&it.id));
    steps.extend(removed.map(|before| step(None, before, None)));
    Plan::new(key.clone(), Operation::Apply, steps)
}

/// Returns the step from a resource to another one, or for one that is deleted: it has no origins.
fn step(before: Option<&Resource>, resource: &Resource, origins: Option<&Origins>) -> Step {
    let find = |path: &FieldPath| origins.and_then(|it| it.find(&resource.id, path));
    let changes: Vec<FieldChange> = before
        .map(|before| {
            differences(&before.attributes, &resource.attributes, &|_| ListItems::Unknown)
                .into_iter()
                .map(|it| FieldChange {
                    // The path of a removed item is that of another one in the new list.
                    origin: it.after.and_then(|_| find(&it.path)),
                    path: it.path,
                    before: it.before.map(shown),
                    after: it.after.map(shown),
                    label: it.label,
                    ..FieldChange::default()
                })
                .collect()
        })
        .unwrap_or_default();
    let (action, reason) = match (before, origins.is_some()) {
        (_, false) => (Action::Delete, Reason::Removed),
        (None, true) => (Action::Create, Reason::New),
        (Some(_), true) if changes.is_empty() => (Action::Keep, Reason::Same),
        (Some(_), true) => (Action::Update, Reason::Differs),
    };
    let (id, resource_type) = (resource.id.clone(), resource.resource_type.clone());
    let origin = find(&FieldPath::default()).filter(|_| action != Action::Keep);
    Step { changes, origin, ..Step::new(id, resource_type, action, reason) }
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
