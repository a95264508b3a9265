//! The removal of fields that an applier no longer applies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Versions;
use super::entries::Entry;
use crate::set::Set;

/// Removes what the manager applied last time and not this time, unless others own it.
///
/// `entries` hold the manager's new fields already. `merged` is in the version `api_version`,
/// and so is the result.
pub(super) fn prune(
    versions: &dyn Versions,
    api_version: &str,
    merged: Value,
    entries: &[Entry<'_>],
    last: &Entry<'_>,
) -> Result<Value, String> {
    let last_version = &*last.api_version;
    let Some(merged) = to_version(versions, merged, api_version, last_version) else {
        return Err(format!("failed to convert merged object to {last_version}"));
    };
    let Some(typed) = versions.typed(last_version) else { return Ok(merged) };
    let last_fields = typed.with_parents(&last.fields);
    let pruned = typed.remove_items(&merged, &last_fields);
    let pruned = add_owned(versions, last_version, &merged, pruned, entries)?;
    let left = typed.with_parents(&typed.field_set(&pruned));
    let mut gone = typed.with_parents(&typed.field_set(&merged));
    gone.subtract(&left);
    let gone = gone.intersection(&last_fields);
    let result = typed.remove_items(&merged, &gone);
    to_version(versions, result, last_version, api_version)
        .ok_or_else(|| format!("failed to convert pruned object to {api_version}"))
}

/// Adds back what any manager owns; returns the object in the version it came in.
fn add_owned(
    versions: &dyn Versions,
    version: &str,
    merged: &Value,
    mut pruned: Value,
    entries: &[Entry<'_>],
) -> Result<Value, String> {
    let mut owned: BTreeMap<&str, Set<'_>> = BTreeMap::new();
    for entry in entries {
        owned.entry(&entry.api_version).or_default().absorb(entry.fields.clone());
    }
    if let Some(fields) = owned.remove(version) {
        pruned = add_owned_fields(versions, version, merged, &pruned, &fields);
    }
    for (other, fields) in owned {
        let converted = versions.convert(merged, other).zip(versions.convert(&pruned, other));
        let Some((merged, below)) = converted else { continue };
        let with = add_owned_fields(versions, other, &merged, &below, &fields);
        pruned = versions
            .convert(&with, version)
            .ok_or_else(|| format!("failed to convert pruned object at version {version}"))?;
    }
    Ok(pruned)
}

fn add_owned_fields(
    versions: &dyn Versions,
    version: &str,
    merged: &Value,
    pruned: &Value,
    owned: &Set<'_>,
) -> Value {
    let Some(typed) = versions.typed(version) else { return pruned.clone() };
    let mut gone = typed.with_parents(&typed.field_set(merged));
    gone.subtract(&typed.with_parents(&typed.field_set(pruned)));
    gone.subtract(&typed.with_parents(owned));
    typed.remove_items(merged, &gone)
}

fn to_version(versions: &dyn Versions, object: Value, from: &str, to: &str) -> Option<Value> {
    if from == to { Some(object) } else { versions.convert(&object, to) }
}
