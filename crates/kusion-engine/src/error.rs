//! Errors of operations.

use crate::saved::SavedPlanError;
use kusion_model::{InfrastructureId, Problem, ResourceId, ResourceType, StackKey, StackSource};
use kusion_plan::Refusal;
use kusion_runtime::RuntimeError;
use kusion_store::StoreError;
use serde::Serialize;
use std::fmt;

/// Maximum number of problems of one resource in a message.
const MAX_PROBLEMS: usize = 20;

/// A problem with one resource. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The resource.
    pub id: ResourceId,
    /// The problem.
    pub message: String,
    /// The problem by field, with source locations, where fields are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Finding {
    /// Creates a finding.
    pub fn new(id: &ResourceId, message: impl Into<String>) -> Self {
        Self { id: id.clone(), message: message.into(), problems: Vec::new() }
    }

    /// Creates the finding of problems of fields.
    pub(crate) fn of_problems(id: &ResourceId, problems: Vec<Problem>) -> Self {
        let texts = problems.iter().take(MAX_PROBLEMS).map(ToString::to_string);
        let message = texts.collect::<Vec<_>>().join("; ");
        Self { id: id.clone(), message, problems }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.problems.is_empty() {
            return write!(f, "{}: {}", self.id, self.message);
        }
        write!(f, "{}:", self.id)?;
        let mut shown = self.problems.iter().take(MAX_PROBLEMS);
        shown.try_for_each(|problem| write!(f, "\n    {problem}"))?;
        match self.problems.len().saturating_sub(MAX_PROBLEMS) {
            0 => Ok(()),
            count => write!(f, "\n    and {count} more"),
        }
    }
}

/// The error of an operation that stopped before it changed anything, or could not continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No runtime is registered for a resource.
    #[error("{id}: no runtime for resources of type `{resource_type}`")]
    NoRuntime {
        /// The resource.
        id: ResourceId,
        /// Its type.
        resource_type: ResourceType,
    },
    /// The stack was deployed from other files.
    #[error("{stack} was deployed from {recorded}, but this is {found}")]
    OtherSource {
        /// The stack.
        stack: Box<StackKey>,
        /// The recorded source.
        recorded: Box<StackSource>,
        /// The source of the files.
        found: Box<StackSource>,
    },
    /// The stack was applied to another infrastructure.
    #[error("the stack was applied to {recorded}, but this is {found}")]
    OtherInfrastructure {
        /// The type of its resources.
        resource_type: ResourceType,
        /// The recorded infrastructure.
        recorded: Box<InfrastructureId>,
        /// The current infrastructure.
        found: Box<InfrastructureId>,
    },
    /// The stack may only be deployed to another infrastructure.
    #[error("{stack} is only for the infrastructure with the id `{pinned}`, but this is {found}")]
    Pinned {
        /// The stack.
        stack: Box<StackKey>,
        /// The id of its only infrastructure.
        pinned: String,
        /// The current infrastructure.
        found: Box<InfrastructureId>,
    },
    /// Resources were rejected by the infrastructure.
    #[error("{}", list("rejected", .0))]
    Rejected(Vec<Finding>),
    /// References cannot be resolved.
    #[error("{}", list("unresolved references in", .0))]
    References(Vec<Finding>),
    /// Guards reject the plan.
    #[error("{}", guards(.0))]
    Guarded(Vec<Refusal>),
    /// The policies of the stack cannot be evaluated.
    #[error("cannot evaluate policies: {0}")]
    Policies(String),
    /// Targets that match no resource.
    #[error("no resource matches the target `{}`", .0.join("`, `"))]
    Targets(Vec<String>),
    /// A saved plan cannot be applied.
    #[error(transparent)]
    SavedPlan(#[from] SavedPlanError),
    /// The release does not exist, or has no Spec.
    #[error("cannot roll back to release {revision}: it does not exist or has no Spec")]
    NoRelease {
        /// The revision.
        revision: u64,
    },
    /// The resource is not in the state.
    #[error("{id} is not in the state{}", .near.as_ref().map(|it| format!("; did you mean {it}?")).unwrap_or_default())]
    NotRecorded {
        /// The requested id.
        id: ResourceId,
        /// The similar id of a recorded resource.
        near: Option<ResourceId>,
    },
    /// The new id of a resource is that of another recorded one.
    #[error("{id} is in the state already")]
    AlreadyRecorded {
        /// The id.
        id: ResourceId,
    },
    /// There is nothing to wait for.
    #[error("{stack} has no resources to wait for")]
    NoResources {
        /// The stack.
        stack: Box<StackKey>,
    },
    /// A secret of an earlier release cannot be read.
    #[error("{id}: {message}")]
    Secret {
        /// The resource.
        id: ResourceId,
        /// The cause.
        message: String,
    },
    /// An interrupted call may have created an object, and nothing can tell whether it did.
    #[error("{message}")]
    Ambiguous {
        /// The resource.
        id: ResourceId,
        /// What is not known.
        message: String,
    },
    /// The object that the user named does not exist.
    #[error("{id}: there is no object `{object}`")]
    NoObject {
        /// The resource.
        id: ResourceId,
        /// The id of the object.
        object: String,
    },
    /// A call to the infrastructure failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user stopped it before it changed anything.
    #[error("stopped; nothing was changed")]
    Stopped,
}

impl EngineError {
    /// Creates the error of a plan with steps that are rejected. Guards are named only if the
    /// infrastructure rejects nothing: the other resources must be changed first.
    pub fn refused(refusals: Vec<Refusal>) -> Self {
        let rejected = refusals.iter().filter_map(|it| match it {
            Refusal::Rejected { id, problems } => Some(Finding::of_problems(id, problems.clone())),
            _ => None,
        });
        let rejected: Vec<Finding> = rejected.collect();
        if rejected.is_empty() { Self::Guarded(refusals) } else { Self::Rejected(rejected) }
    }

    /// Returns the error code, for programs. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRuntime { .. } => "no-runtime",
            Self::OtherSource { .. } => "other-source",
            Self::OtherInfrastructure { .. } => "other-infrastructure",
            Self::Pinned { .. } => "pinned",
            Self::Rejected(_) => "rejected",
            Self::References(_) => "unresolved-references",
            Self::Guarded(refusals) if refusals.iter().all(is_conflict) => "conflict",
            Self::Guarded(refusals) if refusals.iter().all(is_policy) => "policy",
            Self::Guarded(_) => "guarded",
            Self::Policies(_) => "invalid-policies",
            Self::Targets(_) => "no-such-target",
            Self::SavedPlan(error) => error.code(),
            Self::NoRelease { .. } => "no-such-release",
            Self::NoResources { .. } => "no-resources",
            Self::NotRecorded { .. } => "no-such-resource",
            Self::AlreadyRecorded { .. } => "resource-exists",
            Self::Secret { .. } => "secret",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NoObject { .. } => "no-such-object",
            Self::Runtime(RuntimeError::Unavailable(_)) => "unavailable",
            Self::Runtime(RuntimeError::Unusable { .. }) => "unusable",
            Self::Runtime(_) => "infrastructure",
            Self::Store(error) => error.code(),
            Self::Stopped => "stopped",
        }
    }

    /// Returns the resources that the error is about.
    pub fn subjects(&self) -> Vec<&ResourceId> {
        match self {
            Self::NoRuntime { id, .. }
            | Self::Secret { id, .. }
            | Self::Ambiguous { id, .. }
            | Self::NoObject { id, .. }
            | Self::NotRecorded { id, .. }
            | Self::AlreadyRecorded { id } => vec![id],
            Self::Rejected(findings) | Self::References(findings) => {
                findings.iter().map(|it| &it.id).collect()
            }
            Self::Guarded(refusals) => {
                let conflicts = refusals.iter().filter_map(|it| match it {
                    Refusal::Conflict { id, .. } => Some(id),
                    _ => None,
                });
                conflicts.collect()
            }
            Self::SavedPlan(SavedPlanError::LiveMoved(ids)) => ids.iter().collect(),
            _ => Vec::new(),
        }
    }
}

fn list(head: &str, findings: &[Finding]) -> String {
    let n = findings.len();
    let word = if n == 1 { "resource" } else { "resources" };
    let lines: Vec<String> = findings.iter().map(|it| format!("\n  {it}")).collect();
    format!("{head} {n} {word}:{}", lines.concat())
}

fn is_conflict(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Conflict { .. })
}

fn is_policy(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Policy { .. })
}

fn guards(refusals: &[Refusal]) -> String {
    let lines: Vec<String> = refusals.iter().map(|it| format!("\n  {it}")).collect();
    let reason = if refusals.iter().all(is_conflict) {
        "plan rejected because of conflicts"
    } else if refusals.iter().all(is_policy) {
        "plan rejected by policies"
    } else {
        "plan rejected by a guard"
    };
    format!("{reason}; nothing was changed:{}", lines.concat())
}
