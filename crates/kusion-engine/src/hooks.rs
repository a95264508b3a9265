//! Hooks: resources that run once for each Spec that is applied, before or after everything else.
//!
//! The state of a hook records for which desired resources it ran. So a hook of an operation that
//! was interrupted is not run again: the next operation waits for it.

use crate::desired::Desired;
use crate::scope::Scope;
use kusion_model::{Action, HOOK_RUN, Reason, Resource, ResourceId, ResourceState, Step};
use kusion_store::StackState;
use serde_json::Value;
use std::collections::BTreeMap;

/// Removes the marks of earlier runs from the desired resources.
pub(crate) fn strip_runs(desired: &mut Desired) {
    for resource in desired.values_mut() {
        resource.extensions.remove(HOOK_RUN);
    }
}

/// Returns the recorded state of a hook that must run again.
pub(crate) fn without_run(mut state: ResourceState) -> ResourceState {
    state.resource.extensions.remove(HOOK_RUN);
    state
}

impl Scope {
    /// Marks the hooks among the desired resources with the Spec that they run for.
    pub(crate) fn mark_hooks(&self, desired: &mut Desired, run: &str) {
        for resource in desired.values_mut().filter(|it| self.describe(it).hook.is_some()) {
            resource.extensions.insert(HOOK_RUN.to_owned(), Value::from(run));
        }
    }

    /// Decides which hooks run: those that did not run for this Spec, if they or anything else
    /// change.
    pub(crate) fn plan_hooks(&self, steps: &mut BTreeMap<ResourceId, Step>, state: &StackState) {
        let is_hook =
            |step: &Step| step.desired.as_ref().is_some_and(|it| self.describe(it).hook.is_some());
        let has_changes = steps.values().any(|it| it.action.is_change() && !is_hook(it));
        for step in steps.values_mut().filter(|it| is_hook(it)) {
            if matches!(step.reason, Reason::Owned { .. } | Reason::Shared) {
                continue;
            }
            let prior = state.resources.get(&step.id);
            let desired = step.desired.as_ref();
            let ran = prior.is_some_and(|it| run_of(&it.resource) == desired.and_then(run_of));
            let is_new = matches!(step.action, Action::Update | Action::Replace);
            let is_kept = ran || (prior.is_some() && !has_changes && !is_new);
            (step.action, step.reason) = match (is_kept, &step.live_digest) {
                (true, _) => (Action::Keep, Reason::Same),
                (false, Some(_)) => (Action::Replace, Reason::Hook),
                (false, None) => (Action::Create, Reason::Hook),
            };
            step.changes.clear();
        }
    }
}

fn run_of(resource: &Resource) -> Option<&str> {
    resource.extensions.get(HOOK_RUN)?.as_str()
}
