//! Server-side apply.

use serde_json::{Map, Value};

use super::conflict::{self, Conflicts};
use super::entries::{self, Entry, Operation};
use super::last_applied::{self, KUBECTL};
use super::prune::prune;
use super::update::{reconcile, record, take};
use super::{STRIPPED, Writer};
use crate::set::Set;
use crate::typed::{Typed, describe, equal};

/// The manager of fields that existed before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The result of an apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The merged object, with its records of managers.
    pub object: Value,
    /// Whether anything but the records differs from the live object.
    pub changed: bool,
}

/// Why an apply is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Other managers own fields with other values.
    #[error("{0}")]
    Conflict(Conflicts),
    /// The request is wrong.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration does not fit its type.
    #[error("{0}")]
    Invalid(String),
}

/// Merges a configuration into the live object, or into nothing, and records the manager's
/// fields.
///
/// The result is neither decoded nor defaulted: `null` replaces a container that lost its last
/// item.
pub fn apply(
    writer: &Writer<'_>,
    live: Option<&Value>,
    config: &Value,
    force: bool,
) -> Result<Applied, ApplyError> {
    if config
        .get("metadata")
        .and_then(|meta| meta.get("managedFields"))
        .is_some_and(|v| !v.is_null())
    {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    let typed = writer.versions.typed(writer.api_version).ok_or_else(|| {
        ApplyError::Invalid(format!("no corresponding type for {}", kind_of(config)))
    })?;
    let empty;
    let live = match live {
        Some(live) => live,
        None => {
            empty = writer.versions.empty_object(writer.api_version);
            &empty
        }
    };
    let step = ApplyInput { writer: *writer, typed, live, config };
    let mut applied = match step.run(force)? {
        Outcome::Done(applied) => applied,
        Outcome::Conflicts(conflicts) => return Err(ApplyError::Conflict(conflicts)),
    };
    if writer.manager == KUBECTL {
        last_applied::sync(&mut applied.object, config);
    }
    Ok(applied)
}

enum Outcome {
    Done(Applied),
    Conflicts(Conflicts),
}

struct ApplyInput<'a> {
    writer: Writer<'a>,
    typed: Typed<'a>,
    live: &'a Value,
    config: &'a Value,
}

impl ApplyInput<'_> {
    fn run(&self, force: bool) -> Result<Outcome, ApplyError> {
        let ApplyInput { writer, typed, live, config } = self;
        let problems = typed.check(config);
        if !problems.is_empty() {
            return Err(ApplyError::Invalid(format!(
                "failed to create typed patch object ({}): {}",
                full_name(config),
                describe(&problems)
            )));
        }
        let empty;
        let mut known = entries::decode(live)
            .map_err(|e| ApplyError::Invalid(format!("failed to decode managed fields: {e}")))?;
        if known.is_empty() {
            empty = writer.versions.empty_object(writer.api_version);
            known = self.before(&empty)?;
        }
        reconcile(writer.versions, &mut known);
        let merged = typed.merge(live, config).map_err(|problems| {
            ApplyError::Invalid(format!("failed to merge config: {}", describe(&problems)))
        })?;
        let mut fields = typed.field_set(config);
        if let Some(reset) = writer.versions.reset_fields(writer.api_version) {
            fields.subtract_deep(reset);
        }
        let mut own = Entry::of(writer, Operation::Apply, fields);
        let last =
            known.iter().position(|entry| entry.same_manager(&own)).map(|at| known.remove(at));
        own.time = last.as_ref().and_then(|last| last.time.clone());
        known.push(own.clone());
        let new = match &last {
            Some(last) if !keeps_all(last, &own) => {
                prune(writer.versions, writer.api_version, merged, &known, last)
                    .map_err(|e| ApplyError::Invalid(format!("failed to prune fields: {e}")))?
            }
            _ => merged,
        };
        if let Some(conflicts) = self.settle(&new, &mut known, &own, force)? {
            return Ok(Outcome::Conflicts(conflicts));
        }
        let changed = !same_object(live, &new);
        if let Some(own) = known.last_mut() {
            own.fields.subtract(&STRIPPED);
            if changed {
                own.time = Some(writer.now.into());
            }
        }
        known.retain(|entry| !entry.fields.is_empty());
        let encoded = entries::encode(known);
        let mut object = new;
        entries::store(&mut object, encoded);
        Ok(Outcome::Done(Applied { object, changed }))
    }

    /// Returns the records of a live object that has none: its fields belong to a manager of
    /// its own.
    fn before<'v>(&'v self, empty: &'v Value) -> Result<Vec<Entry<'v>>, ApplyError> {
        let before = Writer { manager: BEFORE_FIRST_APPLY, ..self.writer };
        record(&before, empty, self.live, Vec::new()).ok_or_else(|| {
            ApplyError::Invalid("failed to create manager for existing fields".to_owned())
        })
    }

    /// Removes the changed fields from other managers; returns the remaining conflicts.
    fn settle(
        &self,
        new: &Value,
        known: &mut [Entry<'_>],
        own: &Entry<'_>,
        force: bool,
    ) -> Result<Option<Conflicts>, ApplyError> {
        let writer = &self.writer;
        let failed = |what: &str| ApplyError::Invalid(format!("failed to compare objects: {what}"));
        let mut compared =
            self.typed.compare(self.live, new).map_err(|problems| failed(&describe(&problems)))?;
        if let Some(reset) = writer.versions.reset_fields(writer.api_version) {
            compared.exclude(reset);
        }
        let pair = (self.live, new);
        let mut taken =
            take(writer.versions, writer.api_version, &compared, pair, known, Some(own))
                .ok_or_else(|| failed("versions differ"))?;
        if force || taken.is_empty() {
            return Ok(None);
        }
        if writer.manager == KUBECTL {
            last_applied::own_fields(writer, self.live, |allowed| {
                for (_, fields) in &mut taken {
                    fields.subtract(allowed);
                }
            });
            taken.retain(|(_, fields)| !fields.is_empty());
            if taken.is_empty() {
                return Ok(None);
            }
        }
        let found: Vec<(&Entry<'_>, Set<'_>)> =
            taken.into_iter().map(|(at, fields)| (&known[at], fields)).collect();
        Ok(Some(conflict::describe(found)))
    }
}

/// Returns whether an applier applies everything that it applied last time, so that no field can
/// be removed.
fn keeps_all(last: &Entry<'_>, own: &Entry<'_>) -> bool {
    last.api_version == own.api_version && last.fields.is_subset(&own.fields)
}

/// Returns whether two objects are the same apart from the records of managers.
fn same_object(old: &Value, new: &Value) -> bool {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return equal(old, new) };
    old.len() == new.len()
        && old.iter().zip(new).all(|((key, left), (other, right))| {
            key == other
                && match (left, right) {
                    (Value::Object(left), Value::Object(right)) if key == "metadata" => {
                        same_metadata(left, right)
                    }
                    _ => equal(left, right),
                }
        })
}

fn same_metadata(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    let mut left = old.iter().filter(|(key, _)| *key != "managedFields");
    let mut right = new.iter().filter(|(key, _)| *key != "managedFields");
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if left.0 == right.0 && equal(left.1, right.1) => {}
            _ => return false,
        }
    }
}

fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn kind_of(config: &Value) -> String {
    let version = text(config, "apiVersion");
    let version = if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    format!("{version}, Kind={}", text(config, "kind"))
}

fn full_name(config: &Value) -> String {
    let metadata = config.get("metadata").unwrap_or(&Value::Null);
    format!("{}/{}; {}", text(metadata, "namespace"), text(metadata, "name"), kind_of(config))
}
