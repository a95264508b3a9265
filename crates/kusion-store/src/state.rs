//! What the records of a stack add up to.

use kusion_model::{
    Action, Ending, OperationId, Phase, Record, ReleaseHead, Resource, ResourceId, ResourceState,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An attempt that began and has not ended: its call was made or not, nobody knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingOperation {
    /// The attempt.
    pub operation: OperationId,
    /// The resource.
    pub id: ResourceId,
    /// What was to be done.
    pub action: Action,
    /// What was wanted; none for deletions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Box<Resource>>,
}

/// One release of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseEntry {
    /// What it does, who started it, when.
    pub head: ReleaseHead,
    /// How far it is.
    pub phase: Phase,
    /// The time of its end, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What is known of a stack: the sum of its records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackState {
    /// The number of the last record; 0 if there is none.
    pub seq: u64,
    /// The number of the last record that says more than who holds the stack.
    #[serde(default)]
    pub changed: u64,
    /// The resources that exist.
    pub resources: BTreeMap<ResourceId, ResourceState>,
    /// The attempts that began and have not ended, oldest first.
    pub pending: Vec<PendingOperation>,
    /// The releases, oldest first.
    pub releases: Vec<ReleaseEntry>,
}

impl StackState {
    /// Adds up records that follow each other from the first one.
    pub fn fold(records: impl IntoIterator<Item = Record>) -> Self {
        let mut state = Self::default();
        for record in records {
            state.add(record);
        }
        state
    }

    /// Adds the next record.
    pub fn add(&mut self, record: Record) {
        self.seq += 1;
        if !matches!(record, Record::Taken { .. }) {
            self.changed = self.seq;
        }
        match record {
            Record::Taken { .. } => {}
            Record::Opened(head) => self.releases.push(ReleaseEntry {
                head,
                phase: Phase::Running,
                ended: None,
                message: String::new(),
            }),
            Record::Began { operation, id, action, desired } => {
                self.pending.push(PendingOperation { operation, id, action, desired });
            }
            Record::Ended { operation, id, ending } => {
                if let Some(found) = self.pending.iter().position(|it| it.operation == operation) {
                    self.pending.remove(found);
                }
                self.end(id, ending);
            }
            Record::Noted { id, ending } => self.end(id, ending),
            Record::Closed { revision, phase, ended, message } => {
                let mut newest_first = self.releases.iter_mut().rev();
                if let Some(entry) = newest_first.find(|it| it.head.revision == revision) {
                    entry.phase = phase;
                    entry.ended = Some(ended);
                    entry.message = message;
                }
            }
        }
    }

    /// Returns the revision that the next release gets.
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
