//! What is to be done.

use crate::{
    FieldPath, Identity, Infrastructure, Operation, Origin, PlanOptions, Requirement, Resource,
    ResourceId, ResourceType, StackKey,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the written form of plans.
pub const PLAN_VERSION: u32 = 2;

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Nothing: live is as wanted and ours.
    Keep,
    /// It is made.
    Create,
    /// It exists but was not ours; from now on it is.
    Adopt,
    /// Fields of it change.
    Update,
    /// It is deleted and made again, because a field that cannot change is to change.
    Replace,
    /// It is deleted.
    Delete,
    /// It is in the state, but neither wanted nor there: the state forgets it.
    Forget,
}

impl Action {
    /// Whether the action changes anything outside the state.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Forget)
    }
}

/// Why an action was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "why")]
pub enum Reason {
    /// Neither the state nor the infrastructure knows it.
    New,
    /// Live is as wanted.
    Same,
    /// Wanted fields differ from live ones.
    Differs,
    /// The state knows it, but it does not exist: it is made again.
    Missing,
    /// It exists, and the state does not know it.
    Unmanaged,
    /// It is no longer in the stack.
    Removed,
    /// Objects that an interrupted replacement left behind are still there.
    Leftovers,
    /// Everything of the stack goes.
    Destroyed,
    /// Fields changed that cannot change in place.
    Immutable {
        /// The fields, or empty if only the server knows.
        fields: Vec<FieldPath>,
        /// What the server said.
        message: String,
    },
}

/// Something that people should know about a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "note")]
pub enum Note {
    /// Its dry run is made when what it requires exists: an earlier step of the plan makes it.
    DryRunDeferred {
        /// What it requires.
        requirement: Requirement,
    },
    /// It has no dry run: it takes values that are known when other steps have ended.
    NoDryRun,
    /// It takes over fields that somebody else manages.
    TakesFields {
        /// Who manages them.
        manager: String,
        /// The fields, as the infrastructure writes them.
        fields: Vec<String>,
    },
    /// A field keeps its live value, because a rule says so.
    KeepsLive {
        /// The field.
        path: FieldPath,
        /// The rule, as written.
        rule: String,
    },
    /// Objects that an interrupted replacement left behind are deleted.
    DeletesLeftovers {
        /// How many.
        count: usize,
    },
    /// The infrastructure warns of something.
    Warning {
        /// What it said; no secrets.
        message: String,
    },
}

/// A value as people may see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shown {
    /// As it is.
    Plain(Value),
    /// A secret: all that may be known is whether it is the same, by a keyed hash.
    Secret {
        /// The hash.
        hash: String,
    },
    /// Known only when what it refers to exists; the text of the reference.
    Later(String),
}

/// One field that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field.
    pub path: FieldPath,
    /// What it is; none if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Shown>,
    /// What it is to be; none if it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Shown>,
    /// What set the wanted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// What is done to one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The resource.
    pub id: ResourceId,
    /// The runtime that does it.
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    /// What is done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The fields that change, in order of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// What is wanted, secrets sealed; none for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Resource>,
    /// The places of texts in what is wanted whose references are resolved when the step begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<FieldPath>,
    /// What the state knows of the live object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// A fingerprint of the live object that the step was computed from, without its status;
    /// none if it was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_digest: Option<String>,
    /// The steps that must end before this one begins: by their resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ResourceId>,
    /// What else people should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl Step {
    /// Makes a step of which nothing else is known.
    pub fn new(
        id: ResourceId,
        resource_type: ResourceType,
        action: Action,
        reason: Reason,
    ) -> Self {
        Self {
            id,
            resource_type,
            action,
            reason,
            changes: Vec::new(),
            desired: None,
            later: Vec::new(),
            identity: None,
            live_digest: None,
            after: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// What is to be done to a stack. Pure data: preview shows it, apply runs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The stack.
    pub key: StackKey,
    /// What the plan is for.
    pub operation: Operation,
    /// How it was made.
    pub options: PlanOptions,
    /// The infrastructures that it was made on.
    pub infrastructure: Infrastructure,
    /// The number of the last record of the state that it was computed from.
    pub state_seq: u64,
    /// A fingerprint of the desired resources.
    pub spec_digest: String,
    /// The steps, in order of ids: desired resources, then those that are deleted.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Makes a plan that was computed from no state.
    pub fn new(key: StackKey, operation: Operation, steps: Vec<Step>) -> Self {
        Self {
            key,
            operation,
            options: PlanOptions::default(),
            infrastructure: Infrastructure::new(),
            state_seq: 0,
            spec_digest: String::new(),
            steps,
        }
    }

    /// Whether the plan changes nothing outside the state.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| step.action.is_change())
    }

    /// Counts the steps with an action.
    pub fn count(&self, action: Action) -> usize {
        self.steps.iter().filter(|step| step.action == action).count()
    }
}
