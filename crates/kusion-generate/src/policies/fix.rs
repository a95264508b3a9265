//! Policies that change desired resources before a plan is made.

use super::folder::RepositoryPolicies;
use super::subject::check_subject;
use crate::GenerateError;
use crate::compile::Compiled;
use base_system::System;
use kusion_model::{FieldPath, PathStep, PolicyLevel, ResourceId};
use kusion_policy::Moment;
use serde_json::{Map, Value};

/// A field that a policy changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedField {
    /// The policy.
    pub policy: String,
    /// The resource.
    pub id: ResourceId,
    /// The field.
    pub path: FieldPath,
    /// Its value now.
    pub value: Value,
}

/// Changes the Spec of a stack as its policies of the level `fix` say. The first policy that sets a
/// field counts; a path that leads through a list item that does not exist is left alone.
///
/// # Errors
///
/// If policies cannot be read.
pub fn fix_spec(
    system: &(dyn System + Sync),
    policies: &RepositoryPolicies,
    compiled: &mut Compiled,
    actor: &str,
    now: Moment,
) -> Result<Vec<FixedField>, GenerateError> {
    let has_fix = |it: &kusion_policy::Policy| it.level() == PolicyLevel::Fix;
    if !policies.policies(system)?.iter().any(has_fix) {
        return Ok(Vec::new());
    }
    let found = policies.check(system, &[check_subject(compiled, Vec::new(), actor, now)])?;
    let mut fixed: Vec<FixedField> = Vec::new();
    for found in found.into_iter().flatten() {
        let finding = found.finding;
        let is_fix = finding.level == PolicyLevel::Fix && finding.exception.is_none();
        let (Some(id), Some(value), true) = (finding.resource, found.value, is_fix) else {
            continue;
        };
        if fixed.iter().any(|it| it.id == id && it.path == finding.path) {
            continue;
        }
        let mut resources = compiled.spec.resources.iter_mut();
        let Some(resource) = resources.find(|it| it.id == id) else { continue };
        if set(&mut resource.attributes, &finding.path.0, &value) {
            fixed.push(FixedField { policy: finding.policy, id, path: finding.path, value });
        }
    }
    Ok(fixed)
}

/// Sets the value at a path, with new maps on the way. Returns whether it is possible.
fn set(value: &mut Value, path: &[PathStep], new: &Value) -> bool {
    match path {
        [] => false,
        [PathStep::Index(index), rest @ ..] => match (value.get_mut(*index), rest) {
            (Some(item), []) => {
                *item = new.clone();
                true
            }
            (Some(item), rest) => set(item, rest, new),
            (None, _) => false,
        },
        [PathStep::Key(key), rest @ ..] => {
            let Some(fields) = value.as_object_mut() else { return false };
            if rest.is_empty() {
                fields.insert(key.clone(), new.clone());
                return true;
            }
            let inner = fields.entry(key.clone()).or_insert_with(|| Map::new().into());
            set(inner, rest, new)
        }
    }
}
