//! Plans in files, and whether they still hold.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::observe::LiveObjects;
use crate::wanted::Wanted;
use kusion_model::{PLAN_VERSION, Plan, ResourceId};
use kusion_store::StackState;

/// Why a saved plan cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedPlanError {
    /// The file is no plan.
    #[error("the file holds no plan: {0}")]
    Unreadable(String),
    /// Another version wrote it.
    #[error("the plan has format {found}, this version knows {PLAN_VERSION}; make the plan again")]
    Version {
        /// The format of the file.
        found: u64,
    },
    /// The state has changed since.
    #[error(
        "the stack was changed since the plan was made (record {now}, plan at {then}); \
         make the plan again"
    )]
    StateMoved {
        /// The last record when the plan was made.
        then: u64,
        /// The last record now.
        now: u64,
    },
    /// Live objects have changed since.
    #[error("{}; make the plan again", moved(.0))]
    LiveMoved(Vec<ResourceId>),
}

fn moved(ids: &[ResourceId]) -> String {
    let names: Vec<&str> = ids.iter().take(5).map(ResourceId::as_str).collect();
    let more = if ids.len() > 5 { format!(" and {} more", ids.len() - 5) } else { String::new() };
    format!("changed since the plan was made: {}{more}", names.join(", "))
}

/// Writes a plan. It holds no secret as plain text.
pub fn write_plan(plan: &Plan) -> String {
    let mut text = serde_json::to_string_pretty(plan).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads a plan.
pub fn read_plan(text: &str) -> Result<Plan, SavedPlanError> {
    let unreadable = |fault: serde_json::Error| SavedPlanError::Unreadable(fault.to_string());
    let value: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    match version {
        Some(version) if version == u64::from(PLAN_VERSION) => {
            serde_json::from_value(value).map_err(unreadable)
        }
        Some(found) => Err(SavedPlanError::Version { found }),
        None => Err(SavedPlanError::Unreadable("it has no `version`".to_owned())),
    }
}

impl Engine {
    /// Checks that nothing that a plan was made from has changed, and returns what is there.
    pub(crate) async fn check_saved(
        &self,
        plan: &Plan,
        state: &StackState,
    ) -> Result<LiveObjects, EngineError> {
        let now = state.changed;
        // A store that knows less than the plan is another one.
        if now > plan.state_seq || state.seq < plan.state_seq {
            return Err(SavedPlanError::StateMoved { then: plan.state_seq, now }.into());
        }
        self.check_live(plan, state).await
    }

    /// Checks that live objects are as they were when a plan was made.
    pub(crate) async fn check_still_true(&self, plan: &Plan) -> Result<(), EngineError> {
        let state = self.store.read(&plan.key).await?;
        self.check_live(plan, &state).await.map(drop)
    }

    async fn check_live(
        &self,
        plan: &Plan,
        state: &StackState,
    ) -> Result<LiveObjects, EngineError> {
        let mut wanted = Wanted::new();
        for step in &plan.steps {
            if let Some(desired) = &step.desired {
                wanted.insert(step.id.clone(), desired.clone());
            }
        }
        let live = self.read_live(&wanted, &state.resources).await?;
        let mut moved = Vec::new();
        for step in &plan.steps {
            let runtime = self.runtimes.find(&step.id, &step.resource_type)?;
            let now = live.get(&step.id).map(|it| self.observed(runtime.as_ref(), it).digest);
            if now != step.live_digest {
                moved.push(step.id.clone());
            }
        }
        if moved.is_empty() { Ok(live) } else { Err(SavedPlanError::LiveMoved(moved).into()) }
    }
}
