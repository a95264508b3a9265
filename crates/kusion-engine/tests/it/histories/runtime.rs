//! A runtime whose watch sees a history instead of a server.

use super::Change;
use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use kusion_model::{Description, FieldPath, InfrastructureId, Resource, ResourceId, StackOwner};
use kusion_runtime::{
    Applied, Change as Update, Comparison, Deletion, DryRunResult, Live, Pending, Progress,
    Runtime, RuntimeError, RuntimeSource, Target,
};
use kusion_runtime_k8s::{ObjectChange, watch_changes};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A runtime that can only watch.
#[derive(Clone)]
pub(super) struct Scripted {
    start: String,
    changes: Vec<Change>,
}

impl Scripted {
    pub(super) fn new(start: &str, changes: Vec<Change>) -> Self {
        Self { start: start.to_owned(), changes }
    }
}

#[async_trait]
impl RuntimeSource for Scripted {
    async fn start(&self, _owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        Ok(Arc::new(self.clone()))
    }
}

fn only_watches<T>() -> Result<T, RuntimeError> {
    Err(RuntimeError::Unavailable("this runtime only watches".to_owned()))
}

#[async_trait]
impl Runtime for Scripted {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        Ok(InfrastructureId { name: "a history".to_owned(), id: "history".to_owned() })
    }

    fn parallel_calls(&self) -> usize {
        1
    }

    fn describe(&self, _resource: &Resource) -> Description {
        Description::default()
    }

    async fn read(
        &self,
        _targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        only_watches()
    }

    fn compare(&self, _desired: &Resource, _live: &Live) -> Comparison {
        Comparison::Differs
    }

    fn comparable(&self, live: &Value) -> Value {
        live.clone()
    }

    fn secret_paths(&self, _resource: &Resource, _attributes: &Value) -> Vec<FieldPath> {
        Vec::new()
    }

    async fn dry_run(&self, _change: Update<'_>) -> Result<DryRunResult, RuntimeError> {
        only_watches()
    }

    async fn apply(&self, _change: Update<'_>) -> Result<Applied, RuntimeError> {
        only_watches()
    }

    async fn delete(&self, _deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        only_watches()
    }

    async fn recover(&self, _pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        only_watches()
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        let (before, after): (Vec<Change>, Vec<Change>) =
            self.changes.iter().cloned().partition(|(at, _)| *at <= 0);
        let first = list(before);
        let begun = tokio::time::Instant::now();
        let rest = stream::iter(after).then(move |(at, change)| async move {
            let at = Duration::from_millis(at.unsigned_abs());
            tokio::time::sleep_until(begun + at).await;
            vec![change]
        });
        let changes = stream::iter([first]).chain(rest).boxed();
        Ok(watch_changes(targets, since, &self.start, changes))
    }
}

/// Returns the objects that exist after changes.
fn list(changes: Vec<Change>) -> Vec<ObjectChange> {
    let mut objects: BTreeMap<String, Value> = BTreeMap::new();
    for (_, change) in changes {
        match change {
            ObjectChange::Changed(object) => {
                let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
                objects.insert(uid, object);
            }
            ObjectChange::Deleted(uid) => {
                objects.remove(&uid);
            }
        }
    }
    objects.into_values().map(ObjectChange::Changed).collect()
}
