//! Guards: changes that a plan must not make unless they are allowed.

use crate::order::is_match;
use kusion_model::{
    Action, Conflict, Description, Guards, Operation, Owner, Plan, PolicyFinding, Problem,
    Protection, Reason, Resource, ResourceId, ResourceState,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewer deletions and replacements than this are a mass deletion only if nothing would remain.
const FEW: usize = 5;
/// The smallest number of deletions that is a mass deletion if nothing would remain.
const FEWEST: usize = 2;

/// A step that a guard or the infrastructure rejects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "refusal")]
pub enum Refusal {
    /// The resource is marked as protected.
    #[error("{id} would be {}, but is marked `prevent-destroy`", done(*.action))]
    PreventDestroy {
        /// The resource.
        id: ResourceId,
        /// The planned action.
        action: Action,
    },
    /// The kind of the resource is protected.
    #[error("{id} would be {}, but resources of kind {kind} are protected", done(*.action))]
    ProtectedKind {
        /// The resource.
        id: ResourceId,
        /// Its kind.
        kind: String,
        /// The planned action.
        action: Action,
    },
    /// The resource exists but is not managed by the stack.
    #[error("{id} would be deleted and recreated, but is not managed by this stack")]
    Unmanaged {
        /// The resource.
        id: ResourceId,
    },
    /// The resource exists and has another owner.
    #[error("{id} belongs to {owner}")]
    Owned {
        /// The resource.
        id: ResourceId,
        /// The owner.
        owner: Owner,
    },
    /// The resource exists and belongs to a stack of the same name, whose state is in another
    /// store.
    #[error("{id} belongs to this stack in another store")]
    OwnedInOtherStore {
        /// The resource.
        id: ResourceId,
        /// The id of that store.
        store: String,
    },
    /// The resource contains objects that are not part of the stack.
    #[error("{id} would be {} with {}", done(*.action), foreign(.contents))]
    Contains {
        /// The resource.
        id: ResourceId,
        /// The planned action.
        action: Action,
        /// Names of the objects.
        contents: Vec<String>,
    },
    /// The infrastructure rejects the desired resource.
    #[error("{id}: {}", problem_text(.problems))]
    Rejected {
        /// The resource.
        id: ResourceId,
        /// The reasons.
        problems: Vec<Problem>,
    },
    /// Other managers own fields that would change.
    #[error("{id}: {}", conflict_text(.conflicts))]
    Conflict {
        /// The resource.
        id: ResourceId,
        /// The managers and their fields.
        conflicts: Vec<Conflict>,
    },
    /// A policy does not let the plan run.
    #[error("policy `{}`: {}", .finding.policy, .finding.text())]
    Policy {
        /// What it found.
        finding: PolicyFinding,
    },
    /// A large share of the resources would be deleted or replaced.
    #[error("{count} of {known} resources would be deleted or replaced, more than {percent} %")]
    MassDelete {
        /// Number of deletions and replacements.
        count: usize,
        /// Number of recorded resources.
        known: usize,
        /// The limit, in percent.
        percent: usize,
    },
}

fn conflict_text(conflicts: &[Conflict]) -> String {
    let parts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    format!("conflict: {}", parts.join("; "))
}

/// Writes problems in one line; at most five.
fn problem_text(problems: &[Problem]) -> String {
    const SHOWN: usize = 5;
    let mut parts: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if let count @ 1.. = problems.len().saturating_sub(SHOWN) {
        parts.push(format!("and {count} more"));
    }
    parts.join("; ")
}

fn done(action: Action) -> &'static str {
    if action == Action::Replace { "replaced" } else { "deleted" }
}

/// Describes objects that are not part of a stack; names at most five.
fn foreign(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let objects = match names.len() {
        1 => "1 object that is".to_owned(),
        count => format!("{count} objects that are"),
    };
    let shown = names[..names.len().min(SHOWN)].join(", ");
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    format!("{objects} not part of this stack: {shown}{more}")
}

/// Returns the recorded containers whose contents a plan would delete, with the planned action,
/// unless their ids are allowed.
pub fn emptied_containers<'a>(
    plan: &Plan,
    prior: &'a BTreeMap<ResourceId, ResourceState>,
    guards: &Guards,
    describe: &dyn Fn(&Resource) -> Description,
) -> Vec<(&'a ResourceState, Action)> {
    let deleted =
        plan.steps.iter().filter(|it| matches!(it.action, Action::Delete | Action::Replace));
    deleted
        .filter(|step| !is_named(guards, &step.id))
        .filter_map(|step| Some((prior.get(&step.id)?, step.action)))
        .filter(|(state, _)| describe(&state.resource).is_container)
        .collect()
}

/// Returns whether the user names a resource: also its deletion with objects of others is allowed.
fn is_named(guards: &Guards, id: &ResourceId) -> bool {
    guards.allowed.iter().any(|it| is_match(it, id.as_str()))
}

/// Returns whether the user or the stack allows the deletion of a protected resource.
fn is_allowed(guards: &Guards, id: &ResourceId, kind: &str) -> bool {
    let mut rules = guards.allowed.iter().chain(&guards.allowed_by_stack);
    rules.any(|it| it == kind || is_match(it, id.as_str()))
}

/// Returns the steps of a plan that guards or the infrastructure reject. `describe` returns the static properties of a
/// resource.
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
        if let (Action::Adopt, Reason::Owned { owner }) = (action, &step.reason) {
            let id = step.id.clone();
            found.push(match owner {
                Owner::Stack { owner } if owner.stack == plan.key => {
                    Refusal::OwnedInOtherStore { id, store: owner.store.clone() }
                }
                _ => Refusal::Owned { id, owner: owner.clone() },
            });
        }
        if !step.problems.is_empty() {
            let (id, problems) = (step.id.clone(), step.problems.clone());
            found.push(Refusal::Rejected { id, problems });
        }
        if !step.conflicts.is_empty() && !plan.options.force {
            let (id, conflicts) = (step.id.clone(), step.conflicts.clone());
            found.push(Refusal::Conflict { id, conflicts });
        }
        if !matches!(action, Action::Delete | Action::Replace) {
            continue;
        }
        // To run a hook again deletes nothing that lasts.
        count += usize::from(step.reason != Reason::Hook);
        let id = step.id.clone();
        let recorded = prior.get(&id).map(|it| &it.resource);
        let all: Vec<Description> =
            [recorded, step.desired.as_ref()].into_iter().flatten().map(describe).collect();
        let is = |protection| all.iter().any(|it| it.protection == protection);
        let kind = all.first().map(|it| it.kind.clone()).unwrap_or_default();
        let is_named = is_named(guards, &id);
        let is_allowed = is_allowed(guards, &id, &kind);
        if is(Protection::Marked) {
            found.push(Refusal::PreventDestroy { id, action });
        } else if is(Protection::Kind) && !is_allowed {
            found.push(Refusal::ProtectedKind { id, kind, action });
        } else if recorded.is_none() && !is_named {
            found.push(Refusal::Unmanaged { id });
        }
    }
    let percent = guards.mass_delete_percent;
    let known = prior.len();
    let is_most = count >= FEW && count * 100 > known * percent;
    let n_deleted = plan.count(Action::Delete);
    let is_all = n_deleted >= FEWEST && n_deleted == known;
    let is_mass = is_most || is_all;
    if plan.operation != Operation::Destroy && is_mass && !guards.allow_mass_delete {
        found.push(Refusal::MassDelete { count, known, percent });
    }
    found
}
