//! Reports of operations.

use crate::event::Outcome;
use crate::preview::Previewed;
use crate::watch::Watched;
use kusion_model::{Action, Phase, ResourceId};
use kusion_runtime::Live;

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// The resource.
    pub id: ResourceId,
    /// Its action.
    pub action: Action,
    /// The result.
    pub outcome: Outcome,
    /// The reason if it failed or was skipped; contains no secrets.
    pub message: String,
}

/// The result of an operation.
#[derive(Debug)]
pub struct Report {
    /// The revision of the release; `None` if there was nothing to do.
    pub revision: Option<u64>,
    /// The result.
    pub phase: Phase,
    /// When the first step could start, RFC 3339; `None` if there was nothing to do.
    pub started: Option<String>,
    /// The steps that change something, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// The live objects, for watching.
    pub live: Vec<Watched>,
}

impl Report {
    /// Creates the report of an operation that had nothing to do.
    pub(crate) fn of_nothing(previewed: &Previewed) -> Self {
        let live = previewed
            .live
            .iter()
            .filter_map(|(id, live)| watched(previewed, id.clone(), live.clone()))
            .collect();
        Self { revision: None, phase: Phase::Succeeded, started: None, steps: Vec::new(), live }
    }

    /// Counts the steps with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.steps.iter().filter(|step| step.outcome == outcome).count()
    }

    /// Summarizes failures in one line; empty if all steps succeeded.
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

/// Returns the watch target of a live object; `None` if it is not desired.
pub(crate) fn watched(previewed: &Previewed, id: ResourceId, live: Live) -> Option<Watched> {
    let resource_type = previewed.desired.get(&id)?.resource_type.clone();
    Some(Watched { id, resource_type, live })
}
