//! Writes other than apply: what changed belongs to the writer now.

use std::collections::BTreeMap;

use serde_json::Value;

use super::entries::{self, Entry, Operation};
use super::{STRIPPED, Versions, Writer, cap};
use crate::set::Set;
use crate::typed::Comparison;

/// Records what a write changed in `new.metadata.managedFields`.
///
/// `old` is the live object, or for a create an empty object as the server would make it. When
/// the records cannot be kept, because the object does not fit its type, they are removed.
pub fn update(writer: &Writer<'_>, old: &Value, new: &mut Value) {
    let encoded = updated(writer, old, new);
    entries::store(new, encoded);
}

fn updated(writer: &Writer<'_>, old: &Value, new: &Value) -> Option<Value> {
    let known = known_entries(writer, old, new);
    // An object that exists without records is not tracked before the first apply.
    let exists = old
        .get("metadata")
        .and_then(|meta| meta.get("uid"))
        .and_then(Value::as_str)
        .is_some_and(|uid| !uid.is_empty());
    if known.is_empty() && exists {
        return None;
    }
    let mut records = record(writer, old, new, known)?;
    cap::cap_updaters(&mut records);
    entries::encode(records)
}

/// Records the differences between two objects as owned by the writer, even if others own them.
pub(super) fn record<'v>(
    writer: &Writer<'v>,
    old: &'v Value,
    new: &'v Value,
    mut known: Vec<Entry<'v>>,
) -> Option<Vec<Entry<'v>>> {
    let typed = writer.versions.typed(writer.api_version)?;
    reconcile(writer.versions, &mut known);
    let mut compared = typed.compare(old, new).ok()?;
    if let Some(reset) = writer.versions.reset_fields(writer.api_version) {
        compared.exclude(reset);
    }
    take(writer.versions, writer.api_version, &compared, (old, new), &mut known, None)?;
    known.retain(|entry| !entry.fields.is_empty());
    let Comparison { modified, added, .. } = compared;
    let mut fields = modified;
    fields.absorb(added);
    fields.subtract(&STRIPPED);
    if !fields.is_empty() {
        let mut entry = Entry::of(writer, Operation::Update, fields);
        entry.time = Some(writer.now.into());
        match known.iter_mut().find(|other| other.same_manager(&entry)) {
            Some(own) => {
                own.fields.absorb(entry.fields);
                own.time = entry.time;
            }
            None => known.push(entry),
        }
    }
    Some(known)
}

/// Returns the records to start from: those that the request brings, else those of the live
/// object; none when the request resets them.
fn known_entries<'v>(writer: &Writer<'_>, old: &'v Value, new: &'v Value) -> Vec<Entry<'v>> {
    let of_live = || entries::decode(old).unwrap_or_default();
    if !writer.subresource.is_empty() {
        return of_live();
    }
    if is_reset(new) {
        return Vec::new();
    }
    match entries::decode(new) {
        Ok(brought) if !brought.is_empty() => brought,
        _ => of_live(),
    }
}

/// Returns whether an object requests a reset of its records (`managedFields: [{}]` or `[]`).
pub fn is_reset(object: &Value) -> bool {
    let list = object.get("metadata").and_then(|meta| meta.get("managedFields"));
    match list.and_then(Value::as_array).map(Vec::as_slice) {
        Some([] | [Value::Null]) => true,
        Some([Value::Object(only)]) => only.values().all(|value| match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            _ => false,
        }),
        _ => false,
    }
}

/// Adapts the records to what is atomic now, and drops those of unknown versions.
pub(super) fn reconcile(versions: &dyn Versions, known: &mut Vec<Entry<'_>>) {
    known.retain_mut(|entry| match versions.typed(&entry.api_version) {
        Some(typed) => {
            typed.reconcile(&mut entry.fields);
            true
        }
        None => false,
    });
}

/// Removes changed fields from all managers but one; returns what was removed, by index.
///
/// `compared` is the difference in the version of the request. Records of other versions are
/// compared in theirs; those that cannot be converted lose all their fields.
pub(super) fn take<'v>(
    versions: &dyn Versions,
    api_version: &str,
    compared: &Comparison<'_>,
    (old, new): (&Value, &Value),
    known: &mut [Entry<'v>],
    own: Option<&Entry<'_>>,
) -> Option<Vec<(usize, Set<'v>)>> {
    let mut taken = Vec::new();
    let mut converted: BTreeMap<String, Option<(Value, Value)>> = BTreeMap::new();
    for (idx, entry) in known.iter_mut().enumerate() {
        if own.is_some_and(|own| own.same_manager(entry)) {
            continue;
        }
        let found = if entry.api_version == api_version {
            take_from(entry, compared)
        } else {
            let version = entry.api_version.clone().into_owned();
            let pair = converted.entry(version).or_insert_with_key(|version| {
                versions.convert(old, version).zip(versions.convert(new, version))
            });
            let (Some((old, new)), Some(typed)) = (&*pair, versions.typed(&entry.api_version))
            else {
                entry.fields = Set::new();
                continue;
            };
            let mut compared = typed.compare(old, new).ok()?;
            if let Some(reset) = versions.reset_fields(&entry.api_version) {
                compared.exclude(reset);
            }
            take_from(entry, &compared)
        };
        if !found.is_empty() {
            taken.push((idx, found));
        }
    }
    Some(taken)
}

fn take_from<'v>(entry: &mut Entry<'v>, compared: &Comparison<'_>) -> Set<'v> {
    if compared.is_empty() {
        return Set::new();
    }
    let mut found = entry.fields.intersection(&compared.modified);
    found.absorb(entry.fields.intersection(&compared.added));
    entry.fields.subtract(&found);
    entry.fields.subtract(&compared.removed);
    found
}
