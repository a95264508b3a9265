//! Plans: the steps to reach the desired state.

use crate::{
    Conflict, FieldPath, Identity, Infrastructure, Operation, Origin, Owner, PlanOptions,
    PolicyRecord, Problem, Requirement, Resource, ResourceId, ResourceType, StackKey,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the plan format.
pub const PLAN_VERSION: u32 = 2;

/// The action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// No change: the live object matches the desired state and is managed by the stack.
    Keep,
    /// Create the object.
    Create,
    /// Start managing an object that exists but was not managed by the stack.
    Adopt,
    /// Update fields in place.
    Update,
    /// Delete and recreate the object, because an immutable field differs.
    Replace,
    /// Delete the object.
    Delete,
    /// Remove a resource from the state that is neither desired nor live.
    Forget,
}

impl Action {
    /// Returns whether the action changes anything other than the state.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Keep | Self::Forget)
    }
}

/// The reason for an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "why")]
pub enum Reason {
    /// Neither recorded nor live.
    New,
    /// The live object matches the desired state.
    Same,
    /// Desired fields differ from live fields.
    Differs,
    /// Recorded, but missing: deleted outside kusion.
    Missing,
    /// Live, but not recorded.
    Unmanaged,
    /// It lacks the mark of its owner.
    Unmarked,
    /// It has another owner.
    Owned {
        /// The owner.
        owner: Owner,
    },
    /// It is shared with other stacks, and exists.
    Shared,
    /// No longer in the stack.
    Removed,
    /// An interrupted replacement left objects behind that still exist.
    Leftovers,
    /// Its object is that of a desired resource with another id.
    Renamed {
        /// The id of that resource.
        to: ResourceId,
    },
    /// It is a hook, which runs once for each Spec that is applied.
    Hook,
    /// The stack is being destroyed.
    Destroyed,
    /// Immutable fields differ.
    Immutable {
        /// The fields; empty if the server did not name them.
        fields: Vec<FieldPath>,
        /// The message of the server.
        message: String,
    },
    /// Its live state is unknown, because its part of the infrastructure cannot be reached. The
    /// step fails without a call.
    Unreachable {
        /// Why; contains no secrets.
        message: String,
    },
}

/// A note for users on a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "note")]
pub enum Note {
    /// The dry run is deferred until an earlier step has created a requirement.
    DryRunDeferred {
        /// The requirement.
        requirement: Requirement,
    },
    /// Not dry-run: uses values that are known only after other steps.
    NoDryRun,
    /// Takes over fields from another manager.
    TakesFields {
        /// The current manager.
        manager: String,
        /// The fields, as the infrastructure writes them.
        fields: Vec<String>,
    },
    /// It will be deleted with the stack, although another tool or user created it.
    Adopts,
    /// Takes over the object from its owner.
    TakesOver {
        /// The current owner.
        owner: Owner,
    },
    /// A field keeps its live value because of an ignore rule.
    KeepsLive {
        /// The field.
        path: FieldPath,
        /// The rule, as written.
        rule: String,
    },
    /// The resource was recorded with another id.
    Moved {
        /// The recorded id.
        from: ResourceId,
    },
    /// Deletes objects that an interrupted replacement left behind.
    DeletesLeftovers {
        /// Number of objects.
        count: usize,
    },
    /// A warning from the infrastructure.
    Warning {
        /// The message; contains no secrets.
        message: String,
    },
}

/// A value that is safe to show to users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shown {
    /// A plain value.
    Plain(Value),
    /// A secret, represented by a keyed hash, so that only equality is visible.
    Secret {
        /// The hash.
        hash: String,
    },
    /// A value that is known after apply; the text of its references, empty if it has none.
    Later(String),
}

/// How the management of a field changes whose value stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Management {
    /// The stack starts to manage it.
    Started,
    /// The stack no longer sets it: it keeps its value, and others may change it.
    Ended,
}

/// The change of one field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The field.
    pub path: FieldPath,
    /// The live value; `None` if the field is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Shown>,
    /// The desired value; `None` if the field is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Shown>,
    /// The source location of the desired value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The path for display, with list items by their names: `items[name=a].value`; empty if it is
    /// the text of `path`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// How its management changes, if its value stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<Management>,
}

impl FieldChange {
    /// Returns the path for display.
    pub fn label(&self) -> String {
        if self.label.is_empty() { self.path.to_string() } else { self.label.clone() }
    }
}

/// One step of a plan: the action on one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The resource.
    pub id: ResourceId,
    /// The resource type, which selects the runtime.
    #[serde(rename = "type")]
    pub resource_type: ResourceType,
    /// The action.
    pub action: Action,
    /// The reason for the action.
    pub reason: Reason,
    /// The fields that change, in order of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// The desired resource with sealed secrets; `None` for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Resource>,
    /// Paths of desired strings whose references are resolved when the step starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<FieldPath>,
    /// The recorded state of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Fingerprint of the live object that the step was computed from, without its status; `None`
    /// if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_digest: Option<String>,
    /// Ids of the resources whose steps must end before this one starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ResourceId>,
    /// Notes for users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The source location of the resource; `None` if nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Conflicts with other managers of fields, which prevent the step unless it is forced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// Why the infrastructure rejects the desired resource, which prevents the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// What the live object waits for, if it is being deleted already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminating: Option<String>,
    /// What is unavailable while the object is replaced; empty if nothing is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub interruption: String,
    /// When the step starts, besides what it waits for: after the steps of lower stages.
    #[serde(default, skip_serializing_if = "is_first")]
    pub stage: i32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(stage: &i32) -> bool {
    *stage == 0
}

impl Step {
    /// Creates a step with defaults for all other fields.
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
            origin: None,
            conflicts: Vec::new(),
            problems: Vec::new(),
            terminating: None,
            interruption: String::new(),
            stage: 0,
        }
    }
}

/// A plan for one stack. Plain data: preview shows it, apply runs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The stack.
    pub key: StackKey,
    /// The operation.
    pub operation: Operation,
    /// The options that it was made with.
    pub options: PlanOptions,
    /// The infrastructures that it was made for.
    pub infrastructure: Infrastructure,
    /// Number of the last journal record that it was computed from.
    pub state_seq: u64,
    /// A fingerprint of the desired resources.
    pub spec_digest: String,
    /// The steps, in order of ids: desired resources, then those that are deleted.
    pub steps: Vec<Step>,
    /// What policies found, with what they saw; `None` if the stack has no policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<PolicyRecord>,
}

impl Plan {
    /// Creates a plan for a stack without state.
    pub fn new(key: StackKey, operation: Operation, steps: Vec<Step>) -> Self {
        Self {
            key,
            operation,
            options: PlanOptions::default(),
            infrastructure: Infrastructure::new(),
            state_seq: 0,
            spec_digest: String::new(),
            steps,
            policies: None,
        }
    }

    /// Returns whether the plan changes nothing other than the state.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| step.action.is_change())
    }

    /// Counts the steps with an action.
    pub fn count(&self, action: Action) -> usize {
        self.steps.iter().filter(|step| step.action == action).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_of_earlier_plan_files_are_read_and_unknown_fields_are_ignored() {
        let step = json!({
            "id": "a", "type": "T", "action": "update", "reason": {"why": "differs"},
            "changes": [{"path": ["spec", 0], "before": {"plain": 1}, "later": true}],
            "fromTheFuture": 1,
        });
        let step: Step = serde_json::from_value(step).expect("a step");
        assert_eq!(step.changes[0].label(), "spec[0]");
        assert!(step.conflicts.is_empty() && step.origin.is_none());
        let text = serde_json::to_string(&step).expect("a text");
        for field in ["conflicts", "origin", "terminating", "interruption", "label", "management"] {
            assert!(!text.contains(field), "{field} is left out if it is empty: {text}");
        }
    }
}
