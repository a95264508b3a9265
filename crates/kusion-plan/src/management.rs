//! Fields whose value stays, but whose management changes.

use crate::decide::{Context, DryRun, Facts, is_alike, shown};
use crate::diff::{ListRules, differences};
use kusion_model::markers::{SEALED, secret_hash, shown_secret};
use kusion_model::{FieldChange, FieldPath, Management, PathStep, Shown};
use serde_json::Value;

/// Returns the fields that the stack starts or stops to set, compared with what it applied last,
/// without those that `changes` has already: their values do not change.
pub(crate) fn management_changes(
    context: &Context<'_>,
    facts: &Facts<'_>,
    lists: ListRules<'_>,
    changes: &[FieldChange],
) -> Vec<FieldChange> {
    let (Some(prior), Some(sealed)) = (facts.prior, &facts.sealed) else { return Vec::new() };
    if !matches!(facts.dry_run, DryRun::After(_)) {
        return Vec::new();
    }
    let (recorded, desired) = (&*prior.resource.attributes, &*sealed.attributes);
    let mut found: Vec<FieldChange> = Vec::new();
    for difference in differences(recorded, desired, lists) {
        let (path, is_whole) = above_seal(&difference.path);
        let (old_path, _) = above_seal(&difference.old_path);
        // The parts of a sealed value are not fields.
        let (before, after) = if is_whole {
            (difference.before, difference.after)
        } else {
            (old_path.find(recorded), path.find(desired))
        };
        let is_equal = before.zip(after).is_some_and(|(a, b)| is_alike(a, b));
        let is_known = changes
            .iter()
            .chain(&found)
            .any(|it| it.path.is_prefix_of(&path) || path.is_prefix_of(&it.path));
        let (value, management) = match (before, after) {
            _ if is_equal || is_known => continue,
            (Some(value), None) => (value, Management::Ended),
            (_, Some(value)) => (value, Management::Started),
            (None, None) => continue,
        };
        let value = Some(shown_sealed(context, facts, [&path, &old_path], value));
        found.push(FieldChange {
            before: value.clone(),
            after: value,
            origin: match management {
                Management::Started => context.origins.find(facts.id, &path),
                Management::Ended => None,
            },
            label: if is_whole { difference.label } else { String::new() },
            path,
            management: Some(management),
        });
    }
    found
}

/// Returns the path of the sealed value that a path leads into, if it does, and whether the path
/// leads to a whole value.
fn above_seal(path: &FieldPath) -> (FieldPath, bool) {
    let is_seal = |step: &PathStep| matches!(step, PathStep::Key(key) if key == SEALED);
    match path.0.iter().position(is_seal) {
        Some(end) => (FieldPath(path.0[..end].to_vec()), false),
        None => (path.clone(), true),
    }
}

fn shown_sealed(
    context: &Context<'_>,
    facts: &Facts<'_>,
    paths: [&FieldPath; 2],
    value: &Value,
) -> Shown {
    if let Some(hash) = secret_hash(value) {
        return Shown::Secret { hash: hash.as_str().unwrap_or_default().to_owned() };
    }
    let mut value = value.clone();
    unseal(&mut value);
    shown(context, facts, paths, &value)
}

/// Replaces sealed values by their hashes.
fn unseal(value: &mut Value) {
    if let Some(hash) = secret_hash(value) {
        *value = shown_secret(hash.clone());
        return;
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(unseal),
        Value::Array(items) => items.iter_mut().for_each(unseal),
        _ => {}
    }
}
