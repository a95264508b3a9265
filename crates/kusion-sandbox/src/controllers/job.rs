//! Job: pods that run to their end.

mod finish;
mod indexes;
mod pods;

use super::clock::rfc3339;
use super::kind::Kind;
use super::meta::{self, int, set_count, text};
use super::ownership::claim;
use super::record::{Source, Tone, record};
use super::task::Key;
use super::world::World;
use crate::Status;
use finish::Verdict;
use jiff::Timestamp;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use std::sync::Arc;

const COMPONENT: &str = "job-controller";
/// Keeps a pod until its end has been counted.
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Pods whose end stands in the status of their Job, while their finalizer may still be there.
#[derive(Debug, Default)]
pub(crate) struct Counted(FxHashSet<Arc<str>>);

/// A Job in work.
struct Round<'a> {
    world: &'a mut World,
    job: Arc<Value>,
    pods: Vec<Arc<Value>>,
    status: Value,
    now: Timestamp,
}

/// Brings the pods of a Job one step nearer to its end.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(job) = world.get(Kind::Job, key.namespace(), key.name()) else {
        return release_orphans(world, key);
    };
    let manager = text(&job["spec"]["managedBy"]);
    if !manager.is_empty() && manager != "kubernetes.io/job-controller" {
        return Ok(());
    }
    if finish::is_finished(&job) {
        return release_finalizers(world, &job);
    }
    let label_selector = job["spec"]["selector"].clone();
    let pods = claim(world, Kind::Job, &job, Kind::Pod, &label_selector)?;
    let mut status = job["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    let now = world.now();
    let mut round = Round { world, job, pods, status, now };
    let result = round.step(key);
    let job = Arc::clone(&round.job);
    let status = round.status;
    world.update_status(Kind::Job, &job, status)?;
    let left = world.cache.children(meta::uid(&job), Kind::Pod);
    for pod in left.iter().filter(|it| meta::is_pod_finished(it)) {
        world.counted.0.insert(meta::uid(pod).into());
    }
    release_finalizers(world, &job)?;
    result
}

impl Counted {
    /// Forgets a pod that is gone.
    pub(crate) fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }
}

/// Lets counted pods go.
fn release_finalizers(world: &mut World, job: &Value) -> Result<(), Status> {
    for pod in world.cache.children(meta::uid(job), Kind::Pod) {
        if meta::has_finalizer(&pod, TRACKING)
            && (meta::is_pod_finished(&pod) || meta::is_deleting(&pod) || meta::is_deleting(job))
            && (world.counted.0.contains(meta::uid(&pod)) || !meta::is_pod_finished(&pod))
        {
            drop_finalizer(world, &pod)?;
        }
    }
    Ok(())
}

/// Lets the pods of a Job that is gone go.
fn release_orphans(world: &mut World, key: &Key) -> Result<(), Status> {
    let pods: Vec<Arc<Value>> = world
        .cache
        .in_namespace(Kind::Pod, key.namespace())
        .filter(|it| {
            meta::has_finalizer(it, TRACKING)
                && meta::controller(it)
                    .is_none_or(|it| it["kind"] == "Job" && it["name"] == key.name())
        })
        .collect();
    for pod in pods {
        drop_finalizer(world, &pod)?;
    }
    Ok(())
}

fn drop_finalizer(world: &World, pod: &Value) -> Result<(), Status> {
    let mut pod = pod.clone();
    meta::remove_finalizer(&mut pod, TRACKING);
    match world.update(Kind::Pod, pod) {
        Err(status) if status.code == 404 => Ok(()),
        result => result.map(drop),
    }
}

impl Round<'_> {
    fn step(&mut self, key: &Key) -> Result<(), Status> {
        let suspended = self.job["spec"]["suspend"] == true;
        if !suspended && self.status["startTime"].is_null() {
            self.status["startTime"] = rfc3339(self.now).into();
        }
        self.count();
        let mut result = Ok(());
        let verdict = if meta::is_deleting(&self.job) { None } else { finish::judge(self) };
        match verdict {
            Some(verdict) => result = self.conclude(&verdict),
            None if meta::is_deleting(&self.job) => {}
            None => {
                result = self.manage(key, suspended);
                self.note_suspension(suspended);
            }
        }
        self.count_active();
        if let Some(limit) = self.job["spec"]["activeDeadlineSeconds"].as_i64()
            && let Some(start) = meta::time(&self.status["startTime"])
            && !suspended
        {
            let rest = start.as_second() + limit - self.now.as_second();
            if rest > 0 {
                self.world.add_after(key, rest * 1000);
            }
        }
        result
    }

    /// Counts pods that have ended since the last time.
    fn count(&mut self) {
        let (mut succeeded, mut failed) = (0, 0);
        let mut indexes = indexes::parse(text(&self.status["completedIndexes"]));
        let mut failed_indexes = indexes::parse(text(&self.status["failedIndexes"]));
        let indexed = self.is_indexed();
        for pod in &self.pods {
            if !meta::is_pod_finished(pod)
                || !meta::has_finalizer(pod, TRACKING)
                || self.world.counted.0.contains(meta::uid(pod))
            {
                continue;
            }
            if pod["status"]["phase"] == "Succeeded" {
                if indexed {
                    if let Some(index) = indexes::of(pod) {
                        indexes.insert(index);
                    }
                } else {
                    succeeded += 1;
                }
            } else {
                let action = finish::action_for(&self.job, pod);
                if action == "Ignore" {
                    continue;
                }
                failed += 1;
                if action == "FailIndex" {
                    failed_indexes.extend(indexes::of(pod));
                } else if let Some(index) =
                    indexes::of(pod).filter(|_| self.per_index_limit().is_some())
                    && indexes::failures(pod) >= self.per_index_limit().unwrap_or(0)
                {
                    failed_indexes.insert(index);
                }
            }
        }
        let before = |key: &str| int(&self.status[key], 0);
        let succeeded =
            if indexed { indexes.len() as i64 } else { before("succeeded") + succeeded };
        let failed = before("failed") + failed;
        set_count(&mut self.status, "succeeded", succeeded);
        set_count(&mut self.status, "failed", failed);
        if indexed && !indexes.is_empty() {
            self.status["completedIndexes"] = indexes::print(&indexes).into();
        }
        if self.per_index_limit().is_some() {
            self.status["failedIndexes"] = indexes::print(&failed_indexes).into();
        }
        self.status["uncountedTerminatedPods"] = json!({});
    }

    fn is_indexed(&self) -> bool {
        self.job["spec"]["completionMode"] == "Indexed"
    }

    fn per_index_limit(&self) -> Option<i64> {
        self.job["spec"]["backoffLimitPerIndex"].as_i64()
    }

    /// Notes how many pods are at work, from the latest state.
    fn count_active(&mut self) {
        let pods = self.world.cache.children(meta::uid(&self.job), Kind::Pod);
        let known: FxHashSet<&str> = pods.iter().map(|it| meta::uid(it)).collect();
        let created = self.pods.iter().filter(|it| !known.contains(meta::uid(it)));
        let all: Vec<&Arc<Value>> = pods.iter().chain(created).collect();
        let deleted: FxHashSet<&str> =
            self.pods.iter().filter(|it| meta::is_deleting(it)).map(|it| meta::uid(it)).collect();
        let alive = |it: &&&Arc<Value>| meta::is_pod_active(it) && !deleted.contains(meta::uid(it));
        let active = all.iter().filter(alive).count() as i64;
        let ready = all.iter().filter(alive).filter(|it| meta::is_pod_ready(it)).count() as i64;
        let ending = all
            .iter()
            .filter(|it| {
                (meta::is_deleting(it) || deleted.contains(meta::uid(it)))
                    && !meta::is_pod_finished(it)
            })
            .count() as i64;
        set_count(&mut self.status, "active", active);
        self.status["ready"] = ready.into();
        self.status["terminating"] = ending.into();
    }

    fn note_suspension(&mut self, suspended: bool) {
        let now = rfc3339(self.now);
        let was = meta::items(&self.status["conditions"])
            .iter()
            .find(|it| it["type"] == "Suspended")
            .map(|it| it["status"] == "True");
        if suspended && was != Some(true) {
            let condition = json!({"type": "Suspended", "status": "True", "lastProbeTime": now,
                "reason": "JobSuspended", "message": "Job suspended"});
            meta::set_condition(&mut self.status["conditions"], condition, &now);
            meta::remove(&mut self.status, "startTime");
            self.tell(Tone::Normal, "Suspended", "Job suspended");
        } else if !suspended && was == Some(true) {
            let condition = json!({"type": "Suspended", "status": "False", "lastProbeTime": now,
                "reason": "JobResumed", "message": "Job resumed"});
            meta::set_condition(&mut self.status["conditions"], condition, &now);
            self.status["startTime"] = now.into();
            self.tell(Tone::Normal, "Resumed", "Job resumed");
        }
    }

    /// Ends the Job: stops what runs, then says so.
    fn conclude(&mut self, verdict: &Verdict) -> Result<(), Status> {
        self.stop_all()?;
        let now = rfc3339(self.now);
        let condition = |type_: &str| {
            json!({"type": type_, "status": "True", "lastProbeTime": now,
                "reason": verdict.reason, "message": verdict.message})
        };
        let (early, late) = if verdict.good {
            ("SuccessCriteriaMet", "Complete")
        } else {
            ("FailureTarget", "Failed")
        };
        meta::set_condition(&mut self.status["conditions"], condition(early), &now);
        let busy = self.pods.iter().any(|it| !meta::is_pod_finished(it));
        if busy {
            return Ok(());
        }
        meta::set_condition(&mut self.status["conditions"], condition(late), &now);
        if verdict.good {
            self.status["completionTime"] = now.clone().into();
            self.tell(Tone::Normal, "Completed", "Job completed");
        } else {
            self.tell(Tone::Warning, &verdict.reason, &verdict.message);
        }
        Ok(())
    }

    fn tell(&mut self, tone: Tone, reason: &str, message: &str) {
        let job = Arc::clone(&self.job);
        let source = Source::component(COMPONENT);
        record(self.world, source, Kind::Job, &job, tone, reason, message);
    }
}
