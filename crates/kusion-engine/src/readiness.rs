//! Decides when watched resources are ready: those that may not be stable yet must stay ready.

use crate::error::Finding;
use kusion_model::{Health, HealthState, ResourceId};
use kusion_runtime::Progress;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long a resource that may not be stable must stay ready, by default.
pub const DEFAULT_SETTLE: Duration = Duration::from_secs(3);

/// The watched resources. All of them settle at the same time, so that a watch waits for it once.
pub(crate) struct Readiness {
    settle: Duration,
    resources: BTreeMap<ResourceId, Option<Seen>>,
}

/// The newest observation of a resource.
struct Seen {
    /// As observed.
    progress: Progress,
    /// When it is stable if it stays ready; `None` if it is, or is not ready.
    stable_at: Option<Instant>,
}

impl Readiness {
    /// Creates the readiness of resources that were not observed yet.
    pub(crate) fn new(ids: impl Iterator<Item = ResourceId>, settle: Duration) -> Self {
        Self { settle, resources: ids.map(|id| (id, None)).collect() }
    }

    /// Notes an observation; returns it as it is to be shown.
    pub(crate) fn see(&mut self, progress: Progress, now: Instant) -> Progress {
        let stable_at = progress
            .settling_since
            .filter(|_| progress.health.is_ready())
            .and_then(|since| Instant::from_std(since).checked_add(self.settle))
            .filter(|it| *it > now);
        let seen = Seen { progress, stable_at };
        let shown = Progress { health: self.health(&seen), ..seen.progress.clone() };
        self.resources.insert(shown.id.clone(), Some(seen));
        shown
    }

    /// Returns when the next resource is stable.
    pub(crate) fn next_stable(&self) -> Option<Instant> {
        self.resources.values().flatten().filter_map(|it| it.stable_at).min()
    }

    /// Returns the resources that have become stable.
    pub(crate) fn settled(&mut self, now: Instant) -> Vec<Progress> {
        let is_due = |it: &&mut Seen| it.stable_at.is_some_and(|at| at <= now);
        let due = self.resources.values_mut().flatten().filter(is_due);
        due.map(|seen| {
            seen.stable_at = None;
            seen.progress.clone()
        })
        .collect()
    }

    /// Returns whether each resource is ready and stable, or has failed.
    pub(crate) fn is_decided(&self) -> bool {
        self.resources.values().all(|it| {
            it.as_ref().is_some_and(|seen| {
                let state = self.health(seen).state;
                matches!(state, HealthState::Ready | HealthState::Failed)
            })
        })
    }

    /// Returns the resources that are not ready, with the reason.
    pub(crate) fn not_ready(&self) -> Vec<Finding> {
        let finding = |(id, seen): (&ResourceId, &Option<Seen>)| {
            let Some(seen) = seen else { return Some(Finding::new(id, "health unknown")) };
            let health = self.health(seen);
            (!health.is_ready()).then(|| Finding::new(id, text(&health)))
        };
        self.resources.iter().filter_map(finding).collect()
    }

    fn health(&self, seen: &Seen) -> Health {
        let health = &seen.progress.health;
        if seen.stable_at.is_none() {
            return health.clone();
        }
        let seconds = self.settle.as_secs_f64();
        let must = format!("must stay ready for {seconds} s");
        let message =
            if health.message.is_empty() { must } else { format!("{}; {must}", health.message) };
        Health {
            state: HealthState::Progressing,
            reason: Some("Settling".to_owned()),
            message,
            ..health.clone()
        }
    }
}

/// Returns the reason and the message of a health.
pub(crate) fn text(health: &Health) -> String {
    match (&health.reason, health.message.as_str()) {
        (Some(reason), "") => reason.clone(),
        (Some(reason), message) => format!("{reason}: {message}"),
        (None, message) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(id: &str, health: Health, since: Option<Instant>) -> Progress {
        let settling_since = since.map(Instant::into_std);
        Progress { id: ResourceId::new(id), health, related: Vec::new(), settling_since }
    }

    #[test]
    fn resources_settle_at_the_same_time() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let ids = ["a", "b", "c"].map(ResourceId::new);
        let mut readiness = Readiness::new(ids.into_iter(), DEFAULT_SETTLE);
        let ready = || Health::ready("1 of 1");
        assert!(readiness.see(seen("a", ready(), None), at(0)).health.is_ready());
        let shown = readiness.see(seen("b", ready(), Some(at(0))), at(0)).health;
        assert_eq!(text(&shown), "Settling: 1 of 1; must stay ready for 3 s");
        let shown = readiness.see(seen("c", ready(), Some(at(1))), at(1)).health;
        assert_eq!(shown.state, HealthState::Progressing);
        assert_eq!(readiness.next_stable(), Some(at(3)));
        assert!(readiness.settled(at(2)).is_empty());
        assert_eq!(readiness.settled(at(3)).len(), 1);
        assert!(!readiness.is_decided());
        assert_eq!(readiness.settled(at(4)).len(), 1);
        assert!(readiness.is_decided() && readiness.not_ready().is_empty());
    }

    #[test]
    fn a_crash_ends_the_settling() {
        let start = Instant::now();
        let ids = std::iter::once(ResourceId::new("a"));
        let mut readiness = Readiness::new(ids, DEFAULT_SETTLE);
        readiness.see(seen("a", Health::ready(""), Some(start)), start);
        readiness.see(seen("a", Health::progressing("restarts"), None), start);
        assert_eq!(readiness.next_stable(), None);
        assert!(!readiness.is_decided());
        readiness.see(seen("a", Health::failed("CrashLoopBackOff", ""), None), start);
        assert!(readiness.is_decided());
        assert_eq!(readiness.not_ready()[0].message, "CrashLoopBackOff");
        // One that is stable since long ago needs no wait.
        let later = start + DEFAULT_SETTLE;
        assert!(readiness.see(seen("a", Health::ready(""), Some(start)), later).health.is_ready());
    }
}
