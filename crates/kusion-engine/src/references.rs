//! Resolution of references between resources.

use crate::desired::Desired;
use crate::error::{EngineError, Finding};
use crate::observe::LiveObjects;
use kusion_model::markers::REFERENCE;
use kusion_model::references::{self, IdIndex, Lookup, Reference, ReferenceError};
use kusion_model::{Action, FieldPath, Resource, ResourceId, Step};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The resources that references can name, and the unresolved strings.
#[derive(Debug, Default)]
pub(crate) struct References {
    index: IdIndex,
    /// Paths of strings whose values are not known yet, by resource.
    later: BTreeMap<ResourceId, Vec<FieldPath>>,
}

impl References {
    /// Creates the index of resources that can be referenced.
    pub(crate) fn index(desired: &Desired) -> Self {
        Self { index: IdIndex::new(desired.keys()), later: BTreeMap::new() }
    }

    /// Resolves references to values in the Spec, and keeps the others for later. A field that a
    /// reference fills from a secret value is marked as secret; `is_secret` tells which are.
    pub(crate) fn of(
        desired: &mut Desired,
        is_secret: &dyn Fn(&Resource, &FieldPath) -> bool,
    ) -> Result<Self, EngineError> {
        let mut all = Self::index(desired);
        let mut uses = BTreeMap::new();
        let mut findings = Vec::new();
        for (id, resource) in desired.iter() {
            match all.used_by(&resource.attributes) {
                Ok(None) => {}
                Ok(Some(used)) => {
                    uses.insert(id.clone(), used);
                }
                Err(fault) => findings.push(finding(id, &fault)),
            }
        }
        for id in users_last(&uses) {
            all.mark_secrets(desired, &id, is_secret);
            let Some(resource) = desired.get(&id) else { continue };
            let resolved = references::resolve(&resource.attributes, &all.index, |reference| {
                Ok(all.stated(desired, reference))
            });
            match resolved {
                Ok(resolved) => {
                    if let Some(resource) = desired.get_mut(&id) {
                        resource.attributes = resolved.value.into();
                    }
                    if !resolved.unknown.is_empty() {
                        all.later.insert(id, resolved.unknown);
                    }
                }
                Err(fault) => findings.push(finding(&id, &fault)),
            }
        }
        if findings.is_empty() { Ok(all) } else { Err(EngineError::References(findings)) }
    }

    /// Marks the fields of a resource that refer to secret values of others as secret.
    fn mark_secrets(
        &self,
        desired: &mut Desired,
        id: &ResourceId,
        is_secret: &dyn Fn(&Resource, &FieldPath) -> bool,
    ) {
        let Some(resource) = desired.get(id) else { return };
        let mut paths = Vec::new();
        // Invalid references were reported before.
        let _ = references::visit(&resource.attributes, &self.index, &mut |path, reference, _| {
            let target = desired.get(&reference.id);
            if target.is_some_and(|it| is_secret(it, &reference.path)) {
                paths.push(path.clone());
            }
        });
        if let Some(resource) = desired.get_mut(id) {
            for path in &paths {
                resource.mark_secret(path);
            }
        }
    }

    /// Returns the resources that attributes refer to; `None` if they contain no reference.
    fn used_by(&self, attributes: &Value) -> Result<Option<BTreeSet<ResourceId>>, ReferenceError> {
        let mut used = BTreeSet::new();
        references::visit(attributes, &self.index, &mut |_, reference, _| {
            used.insert(reference.id);
        })
        .map_err(|(_, fault)| fault)?;
        let has_mark = !used.is_empty() || holds_mark(attributes);
        Ok(has_mark.then_some(used))
    }

    /// Returns a value from the desired attributes of a resource.
    fn stated(&self, desired: &Desired, reference: &Reference) -> Lookup {
        let stated = desired.get(&reference.id).and_then(|it| reference.find(&it.attributes));
        let waits = self.later.get(&reference.id).is_some_and(|paths| {
            paths
                .iter()
                .any(|it| it.is_prefix_of(&reference.path) || reference.path.is_prefix_of(it))
        });
        match stated {
            Some(value) if !waits => Lookup::Known(value.clone()),
            _ => Lookup::Later,
        }
    }

    /// Groups resources into rounds: each uses values of earlier rounds only.
    pub(crate) fn rounds(&self, desired: &Desired) -> Vec<Vec<ResourceId>> {
        let mut uses = BTreeMap::new();
        for (id, paths) in &self.later {
            let Some(resource) = desired.get(id) else { continue };
            let mut used = BTreeSet::new();
            for text in paths.iter().filter_map(|path| path.find(&resource.attributes)) {
                used.extend(self.used_by(text).ok().flatten().into_iter().flatten());
            }
            uses.insert(id.clone(), used);
        }
        let mut rounds = vec![Vec::new()];
        let mut round_of: BTreeMap<ResourceId, usize> = BTreeMap::new();
        for id in users_last(&uses) {
            let used = uses.get(&id).into_iter().flatten();
            let round = 1 + used.filter_map(|it| round_of.get(it)).max().copied().unwrap_or(0);
            round_of.insert(id, round);
        }
        for id in desired.keys() {
            let round = round_of.get(id).copied().unwrap_or(0);
            if rounds.len() <= round {
                rounds.resize_with(round + 1, Vec::new);
            }
            rounds[round].push(id.clone());
        }
        rounds
    }

    /// Resolves references to values of unchanged objects, before any step. Returns the paths of
    /// unresolved strings.
    pub(crate) fn resolve_known(
        &self,
        resource: &mut Resource,
        steps: &BTreeMap<ResourceId, Step>,
        live: &LiveObjects,
    ) -> Result<Vec<FieldPath>, EngineError> {
        let Some(paths) = self.later.get(&resource.id) else { return Ok(Vec::new()) };
        self.resolve_at(resource, paths, |reference| {
            let stays = steps.get(&reference.id).is_some_and(|it| it.action == Action::Keep);
            let object = live.get(&reference.id).filter(|_| stays)?;
            reference.find(&object.attributes).cloned()
        })
        .map_err(|fault| EngineError::References(vec![fault]))
    }

    /// Resolves the remaining references by live objects.
    pub(crate) fn resolve_live(
        &self,
        resource: &mut Resource,
        paths: &[FieldPath],
        lookup: impl Fn(&Reference) -> Option<Value>,
    ) -> Result<(), Finding> {
        let left = self.resolve_at(resource, paths, lookup)?;
        match left.first() {
            None => Ok(()),
            Some(path) => {
                let text = path.find(&resource.attributes).cloned().unwrap_or_default();
                Err(Finding::new(&resource.id, format!("{path}: unresolved reference {text}")))
            }
        }
    }

    fn resolve_at(
        &self,
        resource: &mut Resource,
        paths: &[FieldPath],
        lookup: impl Fn(&Reference) -> Option<Value>,
    ) -> Result<Vec<FieldPath>, Finding> {
        let mut left = Vec::new();
        for path in paths {
            let Some(text) = path.find_mut(&mut resource.attributes) else { continue };
            let resolved = references::resolve(text, &self.index, |reference| {
                Ok(lookup(reference).map_or(Lookup::Later, Lookup::Known))
            })
            .map_err(|fault| finding(&resource.id, &fault))?;
            if resolved.unknown.is_empty() {
                *text = resolved.value;
            } else {
                left.push(path.clone());
            }
        }
        Ok(left)
    }
}

fn finding(id: &ResourceId, fault: &ReferenceError) -> Finding {
    Finding::new(id, fault.to_string())
}

/// Returns whether a string of a value contains the prefix of references, even if it is escaped.
fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REFERENCE),
        Value::Array(items) => items.iter().any(holds_mark),
        Value::Object(fields) => fields.values().any(holds_mark),
        _ => false,
    }
}

/// Sorts resources after their dependencies. Resources in a cycle come last, ordered by id.
fn users_last(uses: &BTreeMap<ResourceId, BTreeSet<ResourceId>>) -> Vec<ResourceId> {
    let mut order = Vec::with_capacity(uses.len());
    let mut done = BTreeSet::new();
    let mut left: Vec<&ResourceId> = uses.keys().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|id| {
            let waits =
                uses[*id].iter().any(|it| it != *id && uses.contains_key(it) && !done.contains(it));
            if !waits {
                done.insert((*id).clone());
                order.push((*id).clone());
            }
            waits
        });
        if left.len() == before {
            order.extend(left.drain(..).cloned());
        }
    }
    order
}
