//! The health of releases, as it was seen.

use crate::error::EngineError;
use crate::lock::acquire;
use crate::operation::RunOptions;
use crate::stack::Stack;
use crate::watch::{ResourceStatus, WatchEnd};
use kusion_model::{HealthState, Operation, Phase, Record, ReleaseHealth, ResourceId};
use kusion_store::{ReleaseEntry, StackState};
use std::collections::BTreeMap;

/// What was seen of the resources of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackHealth {
    /// The state of the worst resource.
    worst: HealthState,
    /// The resources that are not ready, for users.
    message: String,
}

impl StackHealth {
    /// Returns what a watch has seen; `None` if it was stopped.
    pub fn of_watch(end: &WatchEnd) -> Option<Self> {
        let (worst, findings) = match end {
            WatchEnd::Ready => (HealthState::Ready, &[][..]),
            WatchEnd::Failed(findings) => (HealthState::Failed, findings.as_slice()),
            WatchEnd::TimedOut(findings) => (HealthState::Progressing, findings.as_slice()),
            WatchEnd::Stopped => return None,
        };
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        Some(Self { worst, message: texts.join("; ") })
    }

    /// Returns what the status of all resources says; `None` without resources.
    pub fn of_status(resources: &BTreeMap<ResourceId, ResourceStatus>) -> Option<Self> {
        let mut worst = HealthState::Ready;
        let mut unready = Vec::new();
        for (id, status) in resources {
            let state = status.health.as_ref().map_or(HealthState::Progressing, |it| it.state);
            if state != HealthState::Ready {
                unready.push(id.to_string());
            }
            worst = match (worst, state) {
                (HealthState::Failed, _) | (_, HealthState::Failed) => HealthState::Failed,
                (HealthState::Ready, HealthState::Ready) => HealthState::Ready,
                _ => HealthState::Progressing,
            };
        }
        (!resources.is_empty()).then(|| Self { worst, message: unready.join(", ") })
    }

    /// Returns the health of a release, by what was seen before.
    fn of_release(&self, before: Option<ReleaseHealth>) -> ReleaseHealth {
        match (self.worst, before) {
            (HealthState::Ready, _) => ReleaseHealth::Ready,
            (HealthState::Failed, _) => ReleaseHealth::Failed,
            (_, Some(ReleaseHealth::Ready | ReleaseHealth::Degraded)) => ReleaseHealth::Degraded,
            _ => ReleaseHealth::Unknown,
        }
    }
}

/// Returns the release that a rollback without a number goes to: the last one before the current
/// one whose resources were seen ready.
pub fn last_ready(state: &StackState) -> Option<&ReleaseEntry> {
    let earlier = state.releases.split_last().map_or(&[][..], |(_, earlier)| earlier);
    earlier.iter().rev().find(|it| it.was_ready && it.head.operation != Operation::Destroy)
}

impl Stack {
    /// Records the health of the last release, if it is not the recorded one. A release that has
    /// not succeeded has none.
    pub async fn record_health(
        &self,
        seen: &StackHealth,
        options: &RunOptions,
    ) -> Result<(), EngineError> {
        if health_record(&self.engine.store.read(self.key()).await?, seen).is_none() {
            return Ok(());
        }
        // Another process does not fail because of this lock.
        let mut options = options.clone();
        options.lock.holder = options.lock.holder.briefly();
        let session = acquire(self, &options).await?;
        let record = health_record(&session.state(), seen);
        let done = match record {
            Some(record) => session.append(vec![record]).await.map(drop),
            None => Ok(()),
        };
        let closed = session.close().await;
        Ok(done.and(closed)?)
    }
}

/// Returns the record of what was seen, unless it was seen before.
fn health_record(state: &StackState, seen: &StackHealth) -> Option<Record> {
    let release = state.releases.last()?;
    if release.phase != Phase::Succeeded || release.head.operation == Operation::Destroy {
        return None;
    }
    let before = release.health.as_ref().map(|it| it.health);
    let health = seen.of_release(before);
    let (revision, message) = (release.head.revision, seen.message.clone());
    (before != Some(health)).then_some(Record::HealthSeen { revision, health, message })
}
