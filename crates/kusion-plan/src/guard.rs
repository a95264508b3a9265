//! What a plan must not do without being told so.

use crate::order::is_match;
use kusion_model::{
    Action, Description, Guards, Operation, Plan, Protection, Resource, ResourceId, ResourceState,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Deletions below this number are never a mass deletion.
const FEW: usize = 5;

/// What a guard refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "refusal")]
pub enum Refusal {
    /// A resource says that it must not be deleted.
    #[error("{id} would be {}, and is marked `prevent-destroy`", done(*.action))]
    PreventDestroy {
        /// The resource.
        id: ResourceId,
        /// What would be done to it.
        action: Action,
    },
    /// Resources of this kind are not deleted unless they are named.
    #[error("{id} would be {}, and a {kind} is protected", done(*.action))]
    ProtectedKind {
        /// The resource.
        id: ResourceId,
        /// Its kind.
        kind: String,
        /// What would be done to it.
        action: Action,
    },
    /// Somebody else made it.
    #[error("{id} exists, this stack does not manage it, and it would be deleted and recreated")]
    Unmanaged {
        /// The resource.
        id: ResourceId,
    },
    /// A large share would be deleted.
    #[error("{count} of {known} resources would be deleted or replaced, more than {percent} %")]
    MassDelete {
        /// How many.
        count: usize,
        /// Of how many.
        known: usize,
        /// The limit.
        percent: usize,
    },
}

fn done(action: Action) -> &'static str {
    if action == Action::Replace { "replaced" } else { "deleted" }
}

/// Says what of a plan must not be done. `describe` says what the runtime of a resource knows of
/// it.
pub fn refusals(
    plan: &Plan,
    prior: &BTreeMap<ResourceId, ResourceState>,
    guards: &Guards,
    describe: &dyn Fn(&Resource) -> Description,
) -> Vec<Refusal> {
    let mut found = Vec::new();
    let mut count = 0;
    for step in &plan.steps {
        let action = step.action;
        if !matches!(action, Action::Delete | Action::Replace) {
            continue;
        }
        count += 1;
        let id = step.id.clone();
        let recorded = prior.get(&id).map(|it| &it.resource);
        let all: Vec<Description> =
            [recorded, step.desired.as_ref()].into_iter().flatten().map(describe).collect();
        let is = |protection| all.iter().any(|it| it.protection == protection);
        let kind = all.first().map(|it| it.kind.clone()).unwrap_or_default();
        let is_named = guards.allowed.iter().any(|it| is_match(it, id.as_str()));
        let is_allowed = is_named || guards.allowed.contains(&kind);
        if is(Protection::Marked) {
            found.push(Refusal::PreventDestroy { id, action });
        } else if is(Protection::Kind) && !is_allowed {
            found.push(Refusal::ProtectedKind { id, kind, action });
        } else if recorded.is_none() && !is_named {
            found.push(Refusal::Unmanaged { id });
        }
    }
    let percent = guards.mass_delete_percent;
    let is_mass = count >= FEW && count * 100 > prior.len() * percent;
    if plan.operation != Operation::Destroy && is_mass && !guards.allow_mass_delete {
        found.push(Refusal::MassDelete { count, known: prior.len(), percent });
    }
    found
}
