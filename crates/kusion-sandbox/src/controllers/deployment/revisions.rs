//! Revisions: the new `ReplicaSet`, its annotations, and how much history is kept.

use super::plan::{self, revision};
use super::{COMPONENT, DESIRED, HASH_LABEL, HISTORY, MAXIMUM, REVISION, Rollout, status};
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int};
use crate::controllers::record::{Source, Tone, record};
use crate::controllers::template::{hash, is_namespace_ending, without_hash};
use serde_json::{Value, json};
use std::sync::Arc;

/// Annotations of a Deployment that its sets do not get.
const NOT_COPIED: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// The set of the present template, when there is one, and the others.
type Sets = (Option<Arc<Value>>, Vec<Arc<Value>>);

impl Rollout<'_> {
    /// The set of the present template with its annotations up to date; made when `create` is
    /// set and it is missing. Also gives all other sets.
    pub(super) fn revise(&mut self, create: bool) -> Result<Sets, Status> {
        let (new, old) = self.split();
        let max_old = old.iter().map(|it| revision(it)).max().unwrap_or(0);
        let new_revision = (max_old + 1).to_string();
        let Some(new) = new else {
            if !create {
                return Ok((None, old));
            }
            let new = self.create_set(&old, &new_revision)?;
            return Ok((Some(new), old));
        };
        let mut set = (*new).clone();
        let changed = annotate_set(&self.deployment, &mut set, &new_revision, true);
        let min_ready = self.deployment["spec"].get("minReadySeconds").cloned();
        let min_ready_differs = int(&set["spec"]["minReadySeconds"], 0)
            != min_ready.as_ref().map_or(0, |it| int(it, 0));
        if changed || min_ready_differs {
            match (min_ready.filter(|it| int(it, 0) != 0), set["spec"].as_object_mut()) {
                (Some(seconds), Some(spec)) => {
                    spec.insert("minReadySeconds".to_owned(), seconds);
                }
                (None, Some(spec)) => {
                    spec.remove("minReadySeconds");
                }
                _ => {}
            }
            let set = self.world.update(Kind::ReplicaSet, set)?;
            self.put_set(set.clone());
            return Ok((Some(set), old));
        }
        let revision = meta::annotation(&new, REVISION).unwrap_or_default().to_owned();
        if meta::annotation(&self.deployment, REVISION) != Some(&revision) {
            meta::set_annotation(&mut self.deployment, REVISION, revision);
        }
        let conditions = &self.deployment["status"]["conditions"];
        let progressing = meta::items(conditions).iter().any(|it| it["type"] == "Progressing");
        if status::deadline(&self.deployment).is_some() && !progressing {
            let message = format!("Found new replica set \"{}\"", meta::name(&new));
            let now = self.world.now_text();
            let condition =
                status::condition("Progressing", "True", "FoundNewReplicaSet", &message);
            status::set_condition(&mut self.deployment["status"]["conditions"], condition, &now);
        }
        Ok((Some(new), old))
    }

    fn create_set(&mut self, old: &[Arc<Value>], new_revision: &str) -> Result<Arc<Value>, Status> {
        let collisions = int(&self.deployment["status"]["collisionCount"], 0);
        let hash = hash(&self.deployment["spec"]["template"], collisions);
        let total: i64 = old.iter().map(|it| plan::size(it)).sum();
        let mut set = new_set(&self.deployment, &hash);
        set["spec"]["replicas"] = plan::new_set_size(&self.deployment, 0, total).into();
        annotate_set(&self.deployment, &mut set, new_revision, false);
        let namespace = meta::namespace(&self.deployment).to_owned();
        let created = match self.world.create(Kind::ReplicaSet, &namespace, set) {
            Ok(set) => set,
            Err(status) if status.reason == "AlreadyExists" => {
                return self.resolve_collision(&hash, status);
            }
            Err(status) if is_namespace_ending(&status) => return Err(status),
            Err(failure) => return Err(self.fail_creation(failure)),
        };
        self.put_set(created.clone());
        let size = plan::size(&created);
        if size > 0 {
            let message =
                format!("Scaled up replica set {} from 0 to {size}", meta::name(&created));
            self.tell(Tone::Normal, "ScalingReplicaSet", &message);
        }
        meta::set_annotation(&mut self.deployment, REVISION, new_revision);
        if status::deadline(&self.deployment).is_some() {
            let message = format!("Created new replica set \"{}\"", meta::name(&created));
            let now = self.world.now_text();
            let condition =
                status::condition("Progressing", "True", "NewReplicaSetCreated", &message);
            status::set_condition(&mut self.deployment["status"]["conditions"], condition, &now);
        }
        Ok(created)
    }

    /// A set of the same name is there: ours with the same template (use it), or another one
    /// (count a collision and try again under a new name).
    fn resolve_collision(&mut self, hash: &str, failure: Status) -> Result<Arc<Value>, Status> {
        let name = format!("{}-{hash}", meta::name(&self.deployment));
        let resource = Kind::ReplicaSet.resource();
        let existing = self.world.api.get(resource, meta::namespace(&self.deployment), &name)?;
        let wanted = without_hash(&self.deployment["spec"]["template"], HASH_LABEL);
        if meta::is_controlled_by(&existing, &self.deployment)
            && without_hash(&existing["spec"]["template"], HASH_LABEL) == wanted
        {
            self.put_set(existing.clone());
            return Ok(existing);
        }
        let collisions = int(&self.deployment["status"]["collisionCount"], 0) + 1;
        self.deployment["status"]["collisionCount"] = collisions.into();
        self.store_status()?;
        Err(failure)
    }

    fn fail_creation(&mut self, failure: Status) -> Status {
        let name = meta::name(&self.deployment).to_owned();
        let message = format!("Failed to create new replica set \"{name}\": {failure}");
        if status::deadline(&self.deployment).is_some() {
            let now = self.world.now_text();
            let condition =
                status::condition("Progressing", "False", "ReplicaSetCreateError", &message);
            status::set_condition(&mut self.deployment["status"]["conditions"], condition, &now);
            if let Err(status) = self.store_status() {
                return status;
            }
        }
        self.tell(Tone::Warning, "ReplicaSetCreateError", &message);
        failure
    }

    /// Deletes the oldest sets beyond the limit of history.
    pub(super) fn clean_history(&mut self, old: &[Arc<Value>]) -> Result<(), Status> {
        let Some(limit) = self.deployment["spec"]["revisionHistoryLimit"].as_i64() else {
            return Ok(());
        };
        let mut alive: Vec<&Arc<Value>> = old.iter().filter(|it| !meta::is_deleting(it)).collect();
        let surplus = alive.len() as i64 - limit;
        if surplus <= 0 {
            return Ok(());
        }
        alive.sort_by_key(|it| revision(it));
        for set in alive.into_iter().take(surplus as usize) {
            let busy = int(&set["status"]["replicas"], 0) != 0
                || plan::size(set) != 0
                || meta::generation(set) > int(&set["status"]["observedGeneration"], 0);
            if !busy {
                self.world.delete(Kind::ReplicaSet, set)?;
            }
        }
        Ok(())
    }

    /// Tells an event about the Deployment.
    pub(super) fn tell(&mut self, tone: Tone, reason: &str, message: &str) {
        let source = Source::component(COMPONENT);
        record(self.world, source, Kind::Deployment, &self.deployment, tone, reason, message);
    }
}

/// A set for the present template.
fn new_set(deployment: &Value, hash: &str) -> Value {
    let mut template = deployment["spec"]["template"].clone();
    if !template["metadata"].is_object() {
        template["metadata"] = json!({});
    }
    meta::set_label(&mut template, HASH_LABEL, hash);
    let mut selector = deployment["spec"]["selector"].clone();
    if !selector["matchLabels"].is_object() {
        selector["matchLabels"] = json!({});
    }
    selector["matchLabels"][HASH_LABEL] = hash.into();
    let mut set = json!({
        "metadata": {
            "name": format!("{}-{hash}", meta::name(deployment)),
            "namespace": meta::namespace(deployment),
            "labels": template["metadata"]["labels"],
            "ownerReferences": [meta::controller_reference(Kind::Deployment, deployment)],
        },
        "spec": {
            "selector": selector,
            "template": template,
        },
    });
    let min_ready = int(&deployment["spec"]["minReadySeconds"], 0);
    if min_ready != 0 {
        set["spec"]["minReadySeconds"] = min_ready.into();
    }
    set
}

/// Brings the annotations of the new set up to date; says whether they changed.
fn annotate_set(deployment: &Value, set: &mut Value, new_revision: &str, exists: bool) -> bool {
    let before = set["metadata"]["annotations"].clone();
    if let Some(annotations) = deployment["metadata"]["annotations"].as_object() {
        for (key, value) in annotations {
            if !NOT_COPIED.contains(&key.as_str()) {
                meta::set_annotation(set, key, value.clone());
            }
        }
    }
    let old_revision = revision(set);
    let new_number: i64 = new_revision.parse().unwrap_or(0);
    if old_revision < new_number {
        if exists && old_revision > 0 {
            let mut history: Vec<String> = meta::annotation(set, HISTORY)
                .unwrap_or_default()
                .split(',')
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .collect();
            history.push(old_revision.to_string());
            meta::set_annotation(set, HISTORY, history.join(","));
        }
        meta::set_annotation(set, REVISION, new_revision);
    }
    if !exists {
        size_annotations(deployment, set);
    }
    before != set["metadata"]["annotations"]
}

/// Notes the size of the whole Deployment on a set.
pub(super) fn size_annotations(deployment: &Value, set: &mut Value) {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let (surge, _) = plan::fence_posts(deployment);
    meta::set_annotation(set, DESIRED, wanted.to_string());
    meta::set_annotation(set, MAXIMUM, (wanted + surge).to_string());
}
