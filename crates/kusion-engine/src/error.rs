//! Why an operation stopped.

use crate::saved::SavedPlanError;
use kusion_model::{ResourceId, ResourceType};
use kusion_plan::Refusal;
use kusion_runtime::RuntimeError;
use kusion_store::StoreError;
use std::fmt;

/// Something that is wrong with one resource. Holds no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The resource.
    pub id: ResourceId,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.message)
    }
}

/// Why an operation stopped before it changed anything, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No runtime answers for a resource.
    #[error("{id}: there is no runtime for resources of type `{resource_type}`")]
    NoRuntime {
        /// The resource.
        id: ResourceId,
        /// Its type.
        resource_type: ResourceType,
    },
    /// The infrastructure would refuse resources.
    #[error("{}", list("the infrastructure refuses", .0))]
    Refused(Vec<Finding>),
    /// References lead nowhere.
    #[error("{}", list("references lead nowhere in", .0))]
    References(Vec<Finding>),
    /// Guards forbid the plan.
    #[error("{}", guards(.0))]
    Guarded(Vec<Refusal>),
    /// Targets mean nothing.
    #[error("no resource is meant by `--target {}`", .0.join("`, `--target "))]
    Targets(Vec<String>),
    /// A saved plan cannot be applied.
    #[error(transparent)]
    SavedPlan(#[from] SavedPlanError),
    /// There is no release with this number, or it wants nothing that is known.
    #[error("{0}")]
    Release(String),
    /// A secret of an earlier release cannot be read.
    #[error("{id}: {message}")]
    Secret {
        /// The resource.
        id: ResourceId,
        /// Why.
        message: String,
    },
    /// The infrastructure cannot be asked.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user said no.
    #[error("nothing was changed")]
    Declined,
}

fn list(head: &str, findings: &[Finding]) -> String {
    let n = findings.len();
    let word = if n == 1 { "resource" } else { "resources" };
    let lines: Vec<String> = findings.iter().map(|it| format!("\n  {it}")).collect();
    format!("{head} {n} {word}:{}", lines.concat())
}

fn guards(refusals: &[Refusal]) -> String {
    let lines: Vec<String> = refusals.iter().map(|it| format!("\n  {it}")).collect();
    format!("the plan is refused, nothing was changed:{}", lines.concat())
}
