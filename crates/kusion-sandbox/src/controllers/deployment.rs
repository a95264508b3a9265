//! Deployment: `ReplicaSets`, one per version of the template, of which one is wanted.

mod plan;
mod revisions;
mod rollout;
mod scale;
mod status;

use super::kind::Kind;
use super::meta::{self, int};
use super::ownership::claim;
use super::selector;
use super::task::Key;
use super::world::World;
use crate::Status;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
pub(crate) const HASH_LABEL: &str = "pod-template-hash";
const COMPONENT: &str = "deployment-controller";

/// A Deployment in work: the object as last written, and its `ReplicaSets`.
struct Rollout<'a> {
    world: &'a mut World,
    key: &'a Key,
    deployment: Value,
    sets: Vec<Arc<Value>>,
}

/// Brings the `ReplicaSets` of a Deployment one step nearer to what it wants.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(deployment) = world.get(Kind::Deployment, key.namespace(), key.name()) else {
        return Ok(());
    };
    let mut deployment = (*deployment).clone();
    if selector::is_empty(&deployment["spec"]["selector"]) {
        return observe(world, &deployment);
    }
    let label_selector = deployment["spec"]["selector"].clone();
    let sets = claim(world, Kind::Deployment, &deployment, Kind::ReplicaSet, &label_selector)?;
    if !deployment["status"].is_object() {
        deployment["status"] = json!({});
    }
    let mut rollout = Rollout { world, key, deployment, sets };
    if meta::is_deleting(&rollout.deployment) {
        let (new, _) = rollout.split();
        return rollout.write_plain_status(new.as_deref());
    }
    rollout.note_pause()?;
    if rollout.deployment["spec"]["paused"] == true || rollout.is_scaling() {
        return rollout.settle();
    }
    if rollout.deployment["spec"]["strategy"]["type"] == "Recreate" {
        rollout.recreate()
    } else {
        rollout.roll()
    }
}

/// Records that a Deployment that selects nothing has been seen.
fn observe(world: &World, deployment: &Value) -> Result<(), Status> {
    let mut status = deployment["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["observedGeneration"] = meta::generation(deployment).into();
    world.update_status(Kind::Deployment, deployment, status)
}

impl Rollout<'_> {
    /// The number of pods that are wanted.
    fn wanted(&self) -> i64 {
        int(&self.deployment["spec"]["replicas"], 1)
    }

    /// Writes the Deployment's status (with its annotations) and keeps the answer.
    fn store_status(&mut self) -> Result<(), Status> {
        let write = self.deployment.clone();
        let answer =
            self.world.update_as(super::world::MANAGER, Kind::Deployment, "status", write)?;
        self.deployment = (*answer).clone();
        Ok(())
    }

    /// Replaces a set in the list by its newer version.
    fn put_set(&mut self, set: Arc<Value>) {
        match self.sets.iter_mut().find(|it| meta::uid(it) == meta::uid(&set)) {
            Some(slot) => *slot = set,
            None => self.sets.push(set),
        }
    }

    /// The set of the present template, and all others.
    fn split(&self) -> (Option<Arc<Value>>, Vec<Arc<Value>>) {
        let new = plan::newest(&self.deployment, &self.sets);
        let uid = new.as_ref().map(|it| meta::uid(it).to_owned());
        let old =
            self.sets.iter().filter(|it| uid.as_deref() != Some(meta::uid(it))).cloned().collect();
        (new, old)
    }
}
