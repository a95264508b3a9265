//! What an operation did.

use crate::event::Outcome;
use crate::preview::Previewed;
use crate::watch::Watched;
use kusion_model::{Action, Phase, ResourceId};
use kusion_runtime::Live;

/// How one step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// The resource.
    pub id: ResourceId,
    /// What was to be done.
    pub action: Action,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed or did not begin; no secrets.
    pub message: String,
}

/// What an operation did.
#[derive(Debug)]
pub struct Report {
    /// The release; none if there was nothing to do.
    pub revision: Option<u64>,
    /// How it ended.
    pub phase: Phase,
    /// The steps that change something, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// The objects that exist now, for watching.
    pub live: Vec<Watched>,
}

impl Report {
    /// Makes the report of an operation that had nothing to do.
    pub(crate) fn of_nothing(previewed: &Previewed) -> Self {
        let live = previewed
            .live
            .iter()
            .filter_map(|(id, live)| watched(previewed, id.clone(), live.clone()))
            .collect();
        Self { revision: None, phase: Phase::Succeeded, steps: Vec::new(), live }
    }

    /// Counts the steps with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.steps.iter().filter(|step| step.outcome == outcome).count()
    }

    /// Says in one line what did not work; empty if everything did.
    pub(crate) fn summary(&self) -> String {
        let failed: Vec<&StepReport> = self
            .steps
            .iter()
            .filter(|it| matches!(it.outcome, Outcome::Failed | Outcome::Unknown))
            .collect();
        let skipped = self.count(Outcome::Skipped);
        match (failed.first(), skipped) {
            (None, 0) => String::new(),
            (None, n) => format!("stopped; {n} steps not started"),
            (Some(first), n) => {
                format!("{} failed, {n} skipped; {}: {}", failed.len(), first.id, first.message)
            }
        }
    }
}

/// Returns what is watched of a live object; none if it is not desired.
pub(crate) fn watched(previewed: &Previewed, id: ResourceId, live: Live) -> Option<Watched> {
    let resource_type = previewed.desired.get(&id)?.resource_type.clone();
    Some(Watched { id, resource_type, live })
}
