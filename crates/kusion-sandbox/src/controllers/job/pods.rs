//! The pods of a Job: how many, which, and when the next may come.

use super::super::kind::Kind;
use super::super::meta::{self, int, items, text};
use super::super::task::Key;
use super::super::template;
use super::{COMPONENT, Round, TRACKING, indexes};
use crate::Status;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Pods that are created at a time.
const BURST: i64 = 500;

/// The first pause after a pod has failed.
const FIRST_PAUSE_MS: i64 = 1000;
/// The longest such pause.
const LONGEST_PAUSE_MS: i64 = 600_000;

impl Round<'_> {
    /// Makes and removes pods.
    pub(super) fn manage(&mut self, key: &Key, suspended: bool) -> Result<(), Status> {
        if suspended {
            return self.stop_all();
        }
        let active: Vec<Arc<Value>> =
            self.pods.iter().filter(|it| meta::is_pod_active(it)).cloned().collect();
        let wanted = self.wanted(active.len() as i64);
        let surplus = active.len() as i64 - wanted;
        if surplus > 0 {
            let mut order = active;
            order.sort_by_key(|it| (meta::is_pod_ready(it), std::cmp::Reverse(indexes::of(it))));
            for pod in order.into_iter().take(surplus as usize) {
                self.stop(&pod)?;
            }
            return Ok(());
        }
        if self.job["spec"]["podReplacementPolicy"] == "Failed"
            && self.pods.iter().any(|it| meta::is_deleting(it) && !meta::is_pod_finished(it))
        {
            return Ok(());
        }
        // The events of these pods lead to the next ones.
        let missing = (-surplus).min(BURST);
        if missing > 0 && self.must_wait(key) {
            return Ok(());
        }
        if !self.is_indexed() {
            for _ in 0..missing {
                self.create(None)?;
            }
            return Ok(());
        }
        for index in self.free_indexes(missing) {
            self.create(Some(index))?;
        }
        Ok(())
    }

    /// How many pods should be at work.
    fn wanted(&self, active: i64) -> i64 {
        let spec = &self.job["spec"];
        let parallelism = int(&spec["parallelism"], 1);
        let succeeded = int(&self.status["succeeded"], 0);
        let failed = indexes::parse(text(&self.status["failedIndexes"])).len() as i64;
        match spec["completions"].as_i64() {
            Some(completions) => parallelism.min((completions - succeeded - failed).max(0)),
            None if succeeded > 0 => active.min(parallelism),
            None => parallelism,
        }
    }

    /// Whether the pause after the last failure is not over.
    fn must_wait(&mut self, key: &Key) -> bool {
        let failed = self.pods.iter().filter(|it| it["status"]["phase"] == "Failed");
        let mut ends: Vec<i64> = failed.filter_map(|it| end_of(it)).collect();
        ends.sort_unstable();
        let Some(last) = ends.last() else { return false };
        let doublings = (ends.len() - 1).min(20) as u32;
        let pause = FIRST_PAUSE_MS.saturating_mul(1 << doublings).min(LONGEST_PAUSE_MS);
        let rest = last * 1000 + pause - self.now.as_millisecond();
        if rest > 0 {
            self.world.add_after(key, rest);
        }
        rest > 0
    }

    fn free_indexes(&self, count: i64) -> Vec<i64> {
        let completions = int(&self.job["spec"]["completions"], 0);
        let mut taken: BTreeSet<i64> = indexes::parse(text(&self.status["completedIndexes"]));
        taken.extend(indexes::parse(text(&self.status["failedIndexes"])));
        taken.extend(
            self.pods.iter().filter(|it| meta::is_pod_active(it)).filter_map(|it| indexes::of(it)),
        );
        (0..completions).filter(|it| !taken.contains(it)).take(count as usize).collect()
    }

    fn create(&mut self, index: Option<i64>) -> Result<(), Status> {
        let mut pod = template::pod(&self.job["spec"]["template"], Kind::Job, &self.job);
        meta::push(&mut pod["metadata"], "finalizers", TRACKING.into());
        if let Some(index) = index {
            self.set_index(&mut pod, index);
        }
        let job = Arc::clone(&self.job);
        let pod = template::create_pod(self.world, COMPONENT, Kind::Job, &job, pod)?;
        self.pods.push(pod);
        Ok(())
    }

    fn set_index(&self, pod: &mut Value, index: i64) {
        let name = format!("{}-{index}", meta::name(&self.job));
        pod["metadata"]["generateName"] = format!("{name}-").into();
        if text(&pod["spec"]["hostname"]).is_empty() {
            pod["spec"]["hostname"] = name.into();
        }
        meta::set_annotation(pod, indexes::INDEX, index.to_string());
        meta::set_label(pod, indexes::INDEX, index.to_string());
        if self.per_index_limit().is_some() {
            let failures = self
                .pods
                .iter()
                .filter(|it| it["status"]["phase"] == "Failed" && indexes::of(it) == Some(index))
                .count();
            meta::set_annotation(pod, indexes::FAILURES, failures.to_string());
        }
        let variable = json!({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef":
            {"fieldPath": format!("metadata.labels['{}']", indexes::INDEX)}}});
        for key in ["initContainers", "containers"] {
            for container in meta::list_mut(pod, &["spec", key]).into_iter().flatten() {
                if !items(&container["env"]).iter().any(|it| it["name"] == variable["name"]) {
                    meta::push(container, "env", variable.clone());
                }
            }
        }
    }

    /// Deletes all pods that are at work.
    pub(super) fn stop_all(&mut self) -> Result<(), Status> {
        let active: Vec<Arc<Value>> =
            self.pods.iter().filter(|it| meta::is_pod_active(it)).cloned().collect();
        for pod in active {
            self.stop(&pod)?;
        }
        Ok(())
    }

    fn stop(&mut self, pod: &Arc<Value>) -> Result<(), Status> {
        let job = Arc::clone(&self.job);
        template::delete_pod(self.world, COMPONENT, Kind::Job, &job, pod)?;
        for known in &mut self.pods {
            if Arc::ptr_eq(known, pod) {
                let mut marked = (**known).clone();
                marked["metadata"]["deletionTimestamp"] = "now".into();
                *known = Arc::new(marked);
            }
        }
        Ok(())
    }
}

/// The second in which a failed pod ended.
fn end_of(pod: &Value) -> Option<i64> {
    let ends = items(&pod["status"]["containerStatuses"])
        .iter()
        .filter_map(|it| meta::time(&it["state"]["terminated"]["finishedAt"]));
    let last = ends.max().or_else(|| {
        meta::condition(pod, "Ready").and_then(|it| meta::time(&it["lastTransitionTime"]))
    });
    last.map(jiff::Timestamp::as_second)
}
