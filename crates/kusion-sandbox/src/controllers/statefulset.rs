//! `StatefulSet`: pods with names, an order and volumes of their own.

mod identity;

use super::kind::Kind;
use super::meta::{self, int, items, set_count, text};
use super::ownership::claim;
use super::record::{Source, Tone, record};
use super::revision::{self, LABEL, Revisions};
use super::task::Key;
use super::world::World;
use crate::Status;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

const COMPONENT: &str = "statefulset-controller";

/// A place in the sequence: the pod that is there, if any.
#[derive(Debug, Clone)]
struct Slot {
    ordinal: i64,
    pod: Option<Arc<Value>>,
}

/// A `StatefulSet` in work.
struct Round<'a> {
    world: &'a mut World,
    set: Arc<Value>,
    revisions: Revisions,
    current: String,
    slots: Vec<Slot>,
    condemned: Vec<Arc<Value>>,
    now: Timestamp,
}

/// Brings the pods of a `StatefulSet` one step nearer to what it wants.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(set) = world.get(Kind::StatefulSet, key.namespace(), key.name()) else {
        return Ok(());
    };
    let label_selector = set["spec"]["selector"].clone();
    let pods = claim(world, Kind::StatefulSet, &set, Kind::Pod, &label_selector)?;
    let mut collisions = int(&set["status"]["collisionCount"], 0);
    let revisions = if meta::is_deleting(&set) {
        let all = world.cache.children(meta::uid(&set), Kind::ControllerRevision);
        let Some(update) = all.last().cloned() else { return Ok(()) };
        Revisions { update, all }
    } else {
        revision::ensure(world, Kind::StatefulSet, &set, &mut collisions)?
    };
    let named = text(&set["status"]["currentRevision"]);
    let current = match revisions.named(named) {
        Some(_) => named.to_owned(),
        None => meta::name(&revisions.update).to_owned(),
    };
    let (slots, condemned) = partition(&set, pods);
    let now = world.now();
    let mut round = Round { world, set, revisions, current, slots, condemned, now };
    let result = if meta::is_deleting(&round.set) { Ok(()) } else { round.step() };
    round.write_status(collisions)?;
    if !meta::is_deleting(&round.set) {
        round.prune()?;
    }
    if let Some(seconds) = round.seconds_to_available() {
        round.world.add_after(key, seconds * 1000);
    }
    result
}

/// The places of the sequence, and the pods beyond them (last first).
fn partition(set: &Value, pods: Vec<Arc<Value>>) -> (Vec<Slot>, Vec<Arc<Value>>) {
    let first = int(&set["spec"]["ordinals"]["start"], 0);
    let count = int(&set["spec"]["replicas"], 1).max(0);
    let mut slots: Vec<Slot> =
        (first..first + count).map(|ordinal| Slot { ordinal, pod: None }).collect();
    let mut condemned = Vec::new();
    for pod in pods {
        let Some(ordinal) = identity::ordinal(set, &pod) else { continue };
        match slots.iter_mut().find(|it| it.ordinal == ordinal) {
            Some(slot) => slot.pod = Some(pod),
            None => condemned.push(pod),
        }
    }
    condemned.sort_by_key(|it| std::cmp::Reverse(identity::ordinal(set, it)));
    (slots, condemned)
}

impl Round<'_> {
    fn ordered(&self) -> bool {
        self.set["spec"]["podManagementPolicy"] != "Parallel"
    }

    fn min_ready(&self) -> i64 {
        int(&self.set["spec"]["minReadySeconds"], 0)
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod["status"]["phase"] == "Running"
            && !meta::is_deleting(pod)
            && meta::pod_available(pod, self.min_ready(), self.now).is_ok()
    }

    fn seconds_to_available(&self) -> Option<i64> {
        let pods = self.slots.iter().filter_map(|it| it.pod.as_ref());
        pods.filter_map(|it| meta::pod_available(it, self.min_ready(), self.now).err().flatten())
            .min()
    }

    fn step(&mut self) -> Result<(), Status> {
        for idx in 0..self.slots.len() {
            if self.fill(idx)? && self.ordered() {
                return Ok(());
            }
        }
        if self.shrink()? {
            return Ok(());
        }
        if self.set["spec"]["updateStrategy"]["type"] == "OnDelete" {
            return Ok(());
        }
        self.roll()
    }

    /// Sees to one place; says whether those after it must wait.
    fn fill(&mut self, idx: usize) -> Result<bool, Status> {
        let slot = self.slots[idx].clone();
        let Some(pod) = slot.pod else {
            return self.create(idx).map(|()| true);
        };
        if meta::is_pod_finished(&pod) {
            if !meta::is_deleting(&pod) {
                self.delete(&pod)?;
            }
            return Ok(true);
        }
        if pod["status"]["phase"] == "Pending" {
            self.make_claims(slot.ordinal)?;
        }
        if meta::is_deleting(&pod) || !self.is_available(&pod) {
            return Ok(true);
        }
        if let Some(fixed) = identity::repaired(&self.set, &pod, slot.ordinal) {
            let pod = self.world.update(Kind::Pod, fixed)?;
            self.slots[idx].pod = Some(pod);
        }
        Ok(false)
    }

    fn create(&mut self, idx: usize) -> Result<(), Status> {
        let ordinal = self.slots[idx].ordinal;
        self.make_claims(ordinal)?;
        let (revision, template) = self.revision_for(ordinal);
        let pod = identity::pod(&self.set, &template, ordinal, &revision);
        let name = meta::name(&pod).to_owned();
        let namespace = meta::namespace(&self.set).to_owned();
        match self.world.create(Kind::Pod, &namespace, pod) {
            Ok(pod) => {
                self.slots[idx].pod = Some(pod);
                self.tell_pod("create", &name, None);
                Ok(())
            }
            Err(status) if status.is_already_exists() => Err(status),
            Err(status) => {
                self.tell_pod("create", &name, Some(&status));
                Err(status)
            }
        }
    }

    /// The revision and template for a new pod: the old ones below the partition while an
    /// update is on its way.
    fn revision_for(&self, ordinal: i64) -> (String, Value) {
        let update = meta::name(&self.revisions.update).to_owned();
        let strategy = &self.set["spec"]["updateStrategy"];
        let first = int(&self.set["spec"]["ordinals"]["start"], 0);
        let partition = int(&strategy["rollingUpdate"]["partition"], 0);
        let rolling = strategy["type"] != "OnDelete";
        let n_current = int(&self.set["status"]["currentReplicas"], 0);
        let keep_old = rolling
            && ((strategy["rollingUpdate"].is_null() && ordinal < first + n_current)
                || (!strategy["rollingUpdate"].is_null() && ordinal < first + partition));
        match self.revisions.named(&self.current).filter(|_| keep_old && self.current != update) {
            Some(revision) => (self.current.clone(), revision::template_of(revision)),
            None => (update, self.set["spec"]["template"].clone()),
        }
    }

    /// Removes pods beyond the sequence; says whether that is under way.
    fn shrink(&mut self) -> Result<bool, Status> {
        let first_unavailable = self.first_unavailable();
        for pod in self.condemned.clone() {
            if meta::is_deleting(&pod) {
                if self.ordered() {
                    return Ok(true);
                }
                continue;
            }
            let is_first = first_unavailable.as_deref() == Some(meta::name(&pod));
            if self.ordered() && !self.is_available(&pod) && !is_first {
                return Ok(true);
            }
            self.leave_claims(&pod)?;
            self.delete(&pod)?;
            if self.ordered() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the claims of a pod that the set no longer wants go with the pod, if it says so.
    fn leave_claims(&mut self, pod: &Value) -> Result<(), Status> {
        let policy = &self.set["spec"]["persistentVolumeClaimRetentionPolicy"];
        let Some(ordinal) = identity::ordinal(&self.set, pod) else { return Ok(()) };
        if policy["whenScaled"] != "Delete" {
            return Ok(());
        }
        let namespace = meta::namespace(&self.set).to_owned();
        for claim in identity::claims(&self.set, ordinal) {
            let known = self.world.get(Kind::PersistentVolumeClaim, &namespace, meta::name(&claim));
            let Some(known) = known else { continue };
            let mut claim = (*known).clone();
            claim["metadata"]["ownerReferences"] =
                json!([meta::controller_reference(Kind::Pod, pod)]);
            self.world.update(Kind::PersistentVolumeClaim, claim)?;
        }
        Ok(())
    }

    fn first_unavailable(&self) -> Option<String> {
        let alive = self.slots.iter().filter_map(|it| it.pod.as_ref());
        alive
            .chain(self.condemned.iter().rev())
            .find(|it| !self.is_available(it))
            .map(|it| meta::name(it).to_owned())
    }

    /// Deletes pods of an old revision, from the last to the partition.
    fn roll(&mut self) -> Result<(), Status> {
        let rolling = &self.set["spec"]["updateStrategy"]["rollingUpdate"];
        let partition = int(&rolling["partition"], 0).max(0) as usize;
        let count = self.slots.len() as i64;
        let allowed = match rolling.get("maxUnavailable") {
            Some(it) if !it.is_null() => meta::scaled(it, count, true).max(1),
            _ => 1,
        };
        let update = meta::name(&self.revisions.update).to_owned();
        let mut missing = 0;
        for slot in &self.slots {
            let available = slot.pod.as_ref().is_some_and(|it| self.is_available(it));
            missing += i64::from(!available);
        }
        for idx in (partition.min(self.slots.len())..self.slots.len()).rev() {
            let Some(pod) = self.slots[idx].pod.clone() else { continue };
            let outdated = meta::label(&pod, LABEL) != Some(&update);
            if outdated && !meta::is_deleting(&pod) {
                let available = self.is_available(&pod);
                if available && missing >= allowed {
                    return Ok(());
                }
                self.delete(&pod)?;
                missing += i64::from(available);
                if missing >= allowed {
                    return Ok(());
                }
            } else if !self.is_available(&pod) && missing >= allowed {
                return Ok(());
            }
        }
        Ok(())
    }

    fn delete(&mut self, pod: &Value) -> Result<(), Status> {
        self.world.delete(Kind::Pod, pod)?;
        self.tell_pod("delete", meta::name(pod), None);
        Ok(())
    }

    fn make_claims(&mut self, ordinal: i64) -> Result<(), Status> {
        let namespace = meta::namespace(&self.set).to_owned();
        for claim in identity::claims(&self.set, ordinal) {
            let name = meta::name(&claim).to_owned();
            if self.world.get(Kind::PersistentVolumeClaim, &namespace, &name).is_some() {
                continue;
            }
            match self.world.create(Kind::PersistentVolumeClaim, &namespace, claim) {
                Ok(_) => {
                    let pod = identity::name(&self.set, ordinal);
                    let set = meta::name(&self.set);
                    let message =
                        format!("Create Claim {name} Pod {pod} in StatefulSet {set} success");
                    self.tell(Tone::Normal, "SuccessfulCreate", &message);
                }
                Err(status) if status.is_already_exists() => {}
                Err(status) => return Err(status),
            }
        }
        Ok(())
    }

    fn tell_pod(&mut self, verb: &str, pod: &str, failure: Option<&Status>) {
        let set = meta::name(&self.set).to_owned();
        let capital = if verb == "create" { "Create" } else { "Delete" };
        match failure {
            None => {
                let message = format!("{capital} Pod {pod} in StatefulSet {set} successful");
                self.tell(Tone::Normal, &format!("Successful{capital}"), &message);
            }
            Some(status) => {
                let message =
                    format!("{capital} Pod {pod} in StatefulSet {set} failed error: {status}");
                self.tell(Tone::Warning, &format!("Failed{capital}"), &message);
            }
        }
    }

    fn tell(&mut self, tone: Tone, reason: &str, message: &str) {
        let source = Source::component(COMPONENT);
        let set = Arc::clone(&self.set);
        record(self.world, source, Kind::StatefulSet, &set, tone, reason, message);
    }

    fn write_status(&mut self, collisions: i64) -> Result<(), Status> {
        let status = self.status(collisions);
        self.world.update_status(Kind::StatefulSet, &self.set, status)
    }

    fn status(&self, collisions: i64) -> Value {
        let update = meta::name(&self.revisions.update);
        let pods: Vec<&Arc<Value>> = self
            .slots
            .iter()
            .filter_map(|it| it.pod.as_ref())
            .chain(&self.condemned)
            .filter(|it| !text(&it["status"]["phase"]).is_empty())
            .collect();
        let count =
            |test: &dyn Fn(&Value) -> bool| pods.iter().filter(|it| test(it)).count() as i64;
        let of = |pod: &Value, revision: &str| {
            !meta::is_deleting(pod) && meta::label(pod, LABEL) == Some(revision)
        };
        let running = |pod: &Value| pod["status"]["phase"] == "Running" && meta::is_pod_ready(pod);
        let wanted = int(&self.set["spec"]["replicas"], 1);
        let replicas = count(&|_| true);
        let ready = count(&running);
        let available =
            count(&|it| running(it) && meta::pod_available(it, self.min_ready(), self.now).is_ok());
        let updated = count(&|it| of(it, update));
        let mut current = count(&|it| of(it, &self.current));
        let mut current_name = self.current.as_str();
        if self.set["spec"]["updateStrategy"]["type"] != "OnDelete"
            && updated == wanted
            && ready == wanted
            && replicas == wanted
        {
            (current, current_name) = (updated, update);
        }
        let mut status = self.set["status"].clone();
        if !status.is_object() {
            status = json!({});
        }
        status["replicas"] = replicas.into();
        status["availableReplicas"] = available.into();
        set_count(&mut status, "observedGeneration", meta::generation(&self.set));
        set_count(&mut status, "readyReplicas", ready);
        set_count(&mut status, "currentReplicas", current);
        set_count(&mut status, "updatedReplicas", updated);
        status["currentRevision"] = current_name.into();
        status["updateRevision"] = update.into();
        status["collisionCount"] = collisions.into();
        status
    }

    fn prune(&self) -> Result<(), Status> {
        revision::prune(self.world, &self.set, &self.revisions, |revision| {
            let name = meta::name(revision);
            let pods = self.slots.iter().filter_map(|it| it.pod.as_ref()).chain(&self.condemned);
            name == self.current || pods.into_iter().any(|it| meta::label(it, LABEL) == Some(name))
        })
    }
}

/// The names of the claims that a set's template asks for.
fn claim_templates(set: &Value) -> &[Value] {
    items(&set["spec"]["volumeClaimTemplates"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> Arc<Value> {
        Arc::new(json!({"metadata": {"name": name}}))
    }

    #[test]
    fn pods_beyond_the_sequence_are_condemned_last_first() {
        let set = json!({"metadata": {"name": "web"}, "spec": {"replicas": 2}});
        let pods = vec![pod("web-0"), pod("web-2"), pod("web-3"), pod("other-1"), pod("web-x")];
        let (slots, condemned) = partition(&set, pods);
        assert!(slots[0].pod.is_some() && slots[1].pod.is_none());
        let names: Vec<&str> = condemned.iter().map(|it| meta::name(it)).collect();
        assert_eq!(names, ["web-3", "web-2"]);
    }
}
