//! The state of a stack, computed from its records.

use kusion_model::{
    Action, AttemptId, Ending, Infrastructure, OperationId, Phase, Record, ReleaseHead,
    ReleaseHealth, ReplaceOrder, Resource, ResourceId, ResourceState, ResourceType, StackSource,
    StampedRecord,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An attempt that started and has no recorded end: its call may or may not have been made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingStep {
    /// The attempt.
    pub attempt: AttemptId,
    /// The resource.
    pub id: ResourceId,
    /// The action.
    pub action: Action,
    /// The desired resource; `None` for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Box<Resource>>,
    /// Order of deletion and creation of a replacement.
    #[serde(default)]
    pub replace_order: ReplaceOrder,
}

/// The last observed health of the resources of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenHealth {
    /// The health.
    pub health: ReleaseHealth,
    /// Resources that were not ready.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Time of the observation, RFC 3339.
    pub time: String,
}

/// One release of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseEntry {
    /// Metadata.
    pub head: ReleaseHead,
    /// The operation that it belongs to.
    pub operation_id: OperationId,
    /// The time of its start, RFC 3339.
    pub started: String,
    /// Its phase.
    pub phase: Phase,
    /// The time of its end, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The error message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The last observed health of its resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<SeenHealth>,
    /// Whether all its resources were ready at some time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_ready: bool,
}

/// The state of a stack: the result of all its records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackState {
    /// Number of the last record; 0 if there is none.
    pub seq: u64,
    /// Number of the last record that affects plans: not one about locks, places or health.
    #[serde(default)]
    pub changed: u64,
    /// The infrastructures that the stack is deployed to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub infrastructure: Infrastructure,
    /// Origin of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StackSource>,
    /// The person or team that is responsible for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The recorded resources.
    pub resources: BTreeMap<ResourceId, ResourceState>,
    /// The attempts without a recorded end, oldest first.
    pub pending: Vec<PendingStep>,
    /// The releases, oldest first.
    pub releases: Vec<ReleaseEntry>,
}

impl StackState {
    /// Computes the state from all records, from the first one on.
    pub fn fold(records: impl IntoIterator<Item = StampedRecord>) -> Self {
        let mut state = Self::default();
        for record in records {
            state.add(record);
        }
        state
    }

    /// Applies the next record.
    pub fn add(&mut self, stamped: StampedRecord) {
        let StampedRecord { operation_id, time, record } = stamped;
        self.seq += 1;
        if !matches!(
            record,
            Record::Locked { .. }
                | Record::Located { .. }
                | Record::Described { .. }
                | Record::HealthSeen { .. }
        ) {
            self.changed = self.seq;
        }
        match record {
            Record::Locked { .. } => {}
            Record::Located { infrastructure, is_new } => {
                if is_new {
                    for name in infrastructure.keys() {
                        self.forget(name);
                    }
                }
                self.infrastructure.extend(infrastructure);
            }
            Record::Described { source, owner } => {
                self.source = source.or(self.source.take());
                self.owner = owner.or(self.owner.take());
            }
            Record::ReleaseOpened(head) => self.releases.push(ReleaseEntry {
                head,
                operation_id,
                started: time,
                phase: Phase::Running,
                ended: None,
                message: String::new(),
                health: None,
                was_ready: false,
            }),
            Record::StepBegan { attempt, id, action, desired, replace_order } => {
                self.pending.push(PendingStep { attempt, id, action, desired, replace_order });
            }
            Record::StepEnded { attempt, id, ending } => {
                if let Some(found) = self.pending.iter().position(|it| it.attempt == attempt) {
                    self.pending.remove(found);
                }
                self.end(id, ending);
            }
            Record::Noted { id, ending } => self.end(id, ending),
            Record::ReleaseClosed { revision, phase, message } => {
                if let Some(entry) = self.release_mut(revision) {
                    entry.phase = phase;
                    entry.ended = Some(time);
                    entry.message = message;
                }
            }
            Record::HealthSeen { revision, health, message } => {
                if let Some(entry) = self.release_mut(revision) {
                    entry.was_ready |= health == ReleaseHealth::Ready;
                    entry.health = Some(SeenHealth { health, message, time });
                }
            }
        }
    }

    /// Discards the resources on an infrastructure that no longer exists, by resource type. If no
    /// other resources are left, releases are discarded, too.
    pub fn forget(&mut self, resource_type: &ResourceType) {
        self.infrastructure.remove(resource_type);
        let is_there = |it: &PendingStep| {
            let recorded = self.resources.get(&it.id).map(|it| &it.resource.resource_type);
            let desired = it.desired.as_ref().map(|it| &it.resource_type);
            desired.or(recorded).is_some_and(|it| it != resource_type)
        };
        self.pending.retain(is_there);
        self.resources.retain(|_, it| it.resource.resource_type != *resource_type);
        if self.resources.is_empty() {
            self.releases.clear();
        }
    }

    fn release_mut(&mut self, revision: u64) -> Option<&mut ReleaseEntry> {
        self.releases.iter_mut().rev().find(|it| it.head.revision == revision)
    }

    /// Returns the revision of the next release.
    pub fn next_revision(&self) -> u64 {
        self.releases.iter().map(|it| it.head.revision).max().unwrap_or(0) + 1
    }

    /// Returns a release by its revision; the newest one if a revision was used twice.
    pub fn release(&self, revision: u64) -> Option<&ReleaseEntry> {
        self.releases.iter().rev().find(|it| it.head.revision == revision)
    }

    fn end(&mut self, id: ResourceId, ending: Ending) {
        match ending {
            Ending::Present(state) => {
                self.resources.insert(id, *state);
            }
            Ending::Absent => {
                self.resources.remove(&id);
            }
            Ending::Failed { .. } => {}
        }
    }
}
