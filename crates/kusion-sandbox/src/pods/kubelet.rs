//! The life of pods on their nodes: start, report, stop.

use super::behaviour;
use super::containers::{Containers, Happening, State};
use super::nodes;
use super::ports;
use super::refusals;
use super::status::{self, Place};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int, items, text};
use crate::controllers::record::{Source, Tone, record_at};
use crate::controllers::task::Key;
use crate::controllers::world::{KUBELET, World};
use crate::{Propagation, Status};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// How long a node takes to refuse a pod.
const REJECTION_MS: i64 = 1000;

/// How long a node may be missing before its pods are removed.
const ORPHAN_MS: i64 = 40_000;

/// The pods that run on the simulated nodes.
#[derive(Debug, Default)]
pub(crate) struct Kubelet {
    runs: FxHashMap<Arc<str>, Run>,
    rejections: FxHashMap<Arc<str>, i64>,
    /// Since when the nodes of pods are missing.
    orphans: FxHashMap<Arc<str>, i64>,
    n_addresses: u32,
}

/// One pod on its node.
#[derive(Debug)]
struct Run {
    containers: Containers,
    pod_ip: String,
    stopping: Option<i64>,
}

impl Kubelet {
    /// Forgets a pod that is gone.
    pub(crate) fn forget(&mut self, uid: &str) {
        self.runs.remove(uid);
        self.rejections.remove(uid);
        self.orphans.remove(uid);
    }

    fn next_address(&mut self) -> String {
        let number = self.n_addresses % (250 * 250);
        self.n_addresses += 1;
        format!("10.244.{}.{}", number / 250, number % 250 + 2)
    }
}

/// Takes a pod one step on.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(pod) = world.get(Kind::Pod, key.namespace(), key.name()) else { return Ok(()) };
    let Some(node) = world.get(Kind::Node, "", text(&pod["spec"]["nodeName"])) else {
        return collect_orphan(world, key, &pod);
    };
    world.kubelet.orphans.remove(meta::uid(&pod));
    if !nodes::is_simulated(&node) || crate::faults::is_lost(&node) {
        return Ok(());
    }
    if meta::is_deleting(&pod) {
        return stop(world, key, &pod, &node);
    }
    if meta::is_pod_finished(&pod) {
        return Ok(());
    }
    if expire(world, key, &pod)? {
        return Ok(());
    }
    if !world.kubelet.runs.contains_key(meta::uid(&pod))
        && ports::conflicts(world, &pod, &node, &[])
    {
        return reject(world, key, &pod);
    }
    if let Some(message) = missing_source(world, &pod) {
        world.add_after(key, 1000);
        return wait_for_source(world, &pod, &node, &message);
    }
    run(world, key, &pod, &node)
}

/// Removes a pod whose node has been missing for a while.
fn collect_orphan(world: &mut World, key: &Key, pod: &Value) -> Result<(), Status> {
    let now = world.now_ms();
    let since = *world.kubelet.orphans.entry(meta::uid(pod).into()).or_insert(now);
    let end = since + ORPHAN_MS;
    if now < end {
        world.queue.add_at(key.clone(), end);
        return Ok(());
    }
    if !meta::is_pod_finished(pod) {
        let mut status = pod["status"].clone();
        status["phase"] = "Failed".into();
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
        });
        meta::set_condition(&mut status["conditions"], condition, &world.now_text());
        world.update_status(Kind::Pod, pod, status)?;
    }
    world.delete_at(&key.place, meta::uid(pod), Propagation::Background, Some(0))
}

fn run(world: &mut World, key: &Key, pod: &Value, node: &Value) -> Result<(), Status> {
    let now = world.now_ms();
    let uid: Arc<str> = meta::uid(pod).into();
    let is_new = !world.kubelet.runs.contains_key(&uid);
    if is_new && let Some(message) = refusals::missing_pull_secrets(world, pod) {
        let source = Source { component: "kubelet", host: meta::name(node) };
        let what = ("FailedToRetrieveImagePullSecret", message.as_str());
        record_at(world, source, Kind::Pod, pod, "", Tone::Warning, what);
    }
    let mut run = match world.kubelet.runs.remove(&uid) {
        Some(run) => run,
        None => Run {
            containers: Containers {
                predecessors: predecessors(world, pod),
                ..Containers::new(pod, now)
            },
            pod_ip: if pod["spec"]["hostNetwork"] == true {
                nodes::address(node)
            } else {
                world.kubelet.next_address()
            },
            stopping: None,
        },
    };
    run.containers.refusals = refusals::of(world, pod);
    let step = run.containers.advance(pod, now);
    let host_ip = nodes::address(node);
    let place = Place { pod_ip: &run.pod_ip, host_ip: &host_ip, now: world.now() };
    let status = status::build(pod, &run.containers, &place);
    world.kubelet.runs.insert(uid, run);
    for happening in &step.happenings {
        tell(world, pod, happening);
    }
    if let Some(next) = step.next {
        world.queue.add_at(key.clone(), next);
    }
    world.update_status_as(KUBELET, Kind::Pod, pod, status)
}

/// How many pods of the same controller (and the same index) have failed.
fn predecessors(world: &World, pod: &Value) -> i64 {
    let Some(owner) = meta::controller(pod) else { return 0 };
    if owner["kind"] != "Job" {
        return 0;
    }
    let index = meta::annotation(pod, "batch.kubernetes.io/job-completion-index");
    let siblings = world.cache.children(text(&owner["uid"]), Kind::Pod);
    let failed = siblings.iter().filter(|it| {
        it["status"]["phase"] == "Failed"
            && meta::annotation(it, "batch.kubernetes.io/job-completion-index") == index
    });
    failed.count() as i64
}

/// Ends a pod whose time (`activeDeadlineSeconds`) is over; says whether it did.
fn expire(world: &mut World, key: &Key, pod: &Value) -> Result<bool, Status> {
    let Some(limit) = pod["spec"]["activeDeadlineSeconds"].as_i64() else { return Ok(false) };
    let Some(start) = meta::time(&pod["status"]["startTime"]) else { return Ok(false) };
    let rest = start.as_second() + limit - world.now().as_second();
    if rest > 0 {
        world.add_after(key, rest * 1000);
        return Ok(false);
    }
    let mut status = stopped_status(world, pod, 137);
    status["phase"] = "Failed".into();
    status["reason"] = "DeadlineExceeded".into();
    status["message"] = "Pod was active on the node longer than the specified deadline".into();
    world.update_status_as(KUBELET, Kind::Pod, pod, status)?;
    Ok(true)
}

/// Refuses a pod whose host ports are taken, after a while: its controller will make another.
fn reject(world: &mut World, key: &Key, pod: &Value) -> Result<(), Status> {
    let now = world.now_ms();
    let uid: Arc<str> = meta::uid(pod).into();
    let since = *world.kubelet.rejections.entry(uid).or_insert(now);
    if now < since + REJECTION_MS {
        world.queue.add_at(key.clone(), since + REJECTION_MS);
        return Ok(());
    }
    let mut status = pod["status"].clone();
    status["phase"] = "Failed".into();
    status["reason"] = "NodePorts".into();
    status["message"] = ports::REJECTION.into();
    status["startTime"] = world.now_text().into();
    world.update_status_as(KUBELET, Kind::Pod, pod, status)
}

/// A volume that cannot be mounted: a `ConfigMap` or Secret that is missing and not optional.
fn missing_source(world: &World, pod: &Value) -> Option<String> {
    let namespace = meta::namespace(pod);
    let absent = |kind: Kind, reference: &Value, key: &str| {
        let name = text(&reference[key]);
        let missing = !name.is_empty()
            && reference["optional"] != true
            && !world.cache.has(kind, namespace, name);
        missing.then(|| {
            let plural = kind.name().to_lowercase();
            (name.to_owned(), plural)
        })
    };
    for volume in items(&pod["spec"]["volumes"]) {
        let found = absent(Kind::ConfigMap, &volume["configMap"], "name")
            .or_else(|| absent(Kind::Secret, &volume["secret"], "secretName"));
        if let Some((name, plural)) = found {
            return Some(format!(
                "MountVolume.SetUp failed for volume \"{}\" : {plural} \"{name}\" not found",
                text(&volume["name"])
            ));
        }
    }
    None
}

fn wait_for_source(
    world: &mut World,
    pod: &Value,
    node: &Value,
    message: &str,
) -> Result<(), Status> {
    let host_ip = nodes::address(node);
    let containers = Containers::new(pod, i64::MAX);
    let place = Place { pod_ip: "", host_ip: &host_ip, now: world.now() };
    let status = status::build(pod, &containers, &place);
    let source = Source { component: "kubelet", host: meta::name(node) };
    if status != pod["status"] {
        record_at(world, source, Kind::Pod, pod, "", Tone::Warning, ("FailedMount", message));
    }
    world.update_status_as(KUBELET, Kind::Pod, pod, status)
}

/// Stops a pod that is being deleted, then lets it go.
fn stop(world: &mut World, key: &Key, pod: &Value, node: &Value) -> Result<(), Status> {
    let now = world.now_ms();
    let grace = int(&pod["metadata"]["deletionGracePeriodSeconds"], 30).saturating_mul(1000);
    let uid: Arc<str> = meta::uid(pod).into();
    let names: Vec<String> =
        items(&pod["spec"]["containers"]).iter().map(|it| text(&it["name"]).to_owned()).collect();
    let slowest = items(&pod["spec"]["containers"])
        .iter()
        .map(|it| behaviour::script(pod, it, false, 0).stop_time_ms)
        .max()
        .unwrap_or(0);
    let running = world.kubelet.runs.get(&uid).is_some_and(|it| {
        it.containers.list.iter().any(|it| matches!(it.state, State::Running { .. }))
    });
    let stopping = world.kubelet.runs.get(&uid).and_then(|it| it.stopping);
    if running && stopping.is_none() {
        let source = Source { component: "kubelet", host: meta::name(node) };
        for name in names {
            let path = format!("spec.containers{{{name}}}");
            let message = format!("Stopping container {name}");
            record_at(world, source, Kind::Pod, pod, &path, Tone::Normal, ("Killing", &message));
        }
        let end = now + slowest.min(grace);
        if let Some(run) = world.kubelet.runs.get_mut(&uid) {
            run.stopping = Some(end);
        }
    }
    let end = world.kubelet.runs.get(&uid).and_then(|it| it.stopping).unwrap_or(now);
    if end > now {
        world.queue.add_at(key.clone(), end);
        return Ok(());
    }
    if !meta::is_pod_finished(pod) {
        let code = if slowest > grace { 137 } else { 0 };
        let status = stopped_status(world, pod, code);
        match world.update_status_as(KUBELET, Kind::Pod, pod, status) {
            Err(failure) if failure.code == 404 => return Ok(()),
            Err(failure) => return Err(failure),
            Ok(()) => {}
        }
    }
    world.delete_at(&key.place, meta::uid(pod), Propagation::Background, Some(0))
}

/// The status of a pod all of whose containers were stopped.
fn stopped_status(world: &mut World, pod: &Value, code: i64) -> Value {
    let now = world.now_ms();
    let uid: Arc<str> = meta::uid(pod).into();
    let Some(run) = world.kubelet.runs.get_mut(&uid) else {
        let mut status = pod["status"].clone();
        if status.is_object() {
            status["phase"] = "Failed".into();
        } else {
            status = json!({"phase": "Failed"});
        }
        return status;
    };
    run.containers.stop(now, code);
    let host_ip = text(&pod["status"]["hostIP"]).to_owned();
    let pod_ip = run.pod_ip.clone();
    let containers = run.containers.clone();
    let place = Place { pod_ip: &pod_ip, host_ip: &host_ip, now: world.now() };
    let mut status = status::build(pod, &containers, &place);
    let all_ended = containers
        .list
        .iter()
        .filter(|it| !it.is_init)
        .all(|it| matches!(it.state, State::Ended { code: 0, .. }));
    status["phase"] = if all_ended { "Succeeded" } else { "Failed" }.into();
    status
}

/// Tells what happened to a container.
fn tell(world: &mut World, pod: &Value, happening: &Happening) {
    let (Happening::Started(name)
    | Happening::PullFailed(name)
    | Happening::BackedOff(name)
    | Happening::Refused(name, _)) = happening;
    let source = Source { component: "kubelet", host: text(&pod["spec"]["nodeName"]) };
    let (field, image) = find_image(pod, name);
    let path = format!("{field}{{{name}}}");
    let mut say = |tone: Tone, reason: &str, message: &str| {
        record_at(world, source, Kind::Pod, pod, &path, tone, (reason, message));
    };
    match happening {
        Happening::Started(_) => {
            let message = format!(
                "Container image \"{image}\" already present on machine and can be accessed by the pod"
            );
            say(Tone::Normal, "Pulled", &message);
            say(Tone::Normal, "Created", "Container created");
            say(Tone::Normal, "Started", "Container started");
        }
        Happening::PullFailed(_) => {
            say(Tone::Normal, "Pulling", &format!("Pulling image \"{image}\""));
            say(
                Tone::Warning,
                "Failed",
                &format!("Failed to pull image \"{image}\": the sandbox was told to fail"),
            );
            say(Tone::Warning, "Failed", "Error: ErrImagePull");
            say(Tone::Normal, "BackOff", &format!("Back-off pulling image \"{image}\""));
            say(Tone::Warning, "Failed", "Error: ImagePullBackOff");
        }
        Happening::Refused(_, why) => {
            let message = format!(
                "Container image \"{image}\" already present on machine and can be accessed by the pod"
            );
            say(Tone::Normal, "Pulled", &message);
            say(Tone::Warning, "Failed", &format!("Error: {why}"));
        }
        Happening::BackedOff(_) => {
            let message = format!(
                "Back-off restarting failed container {name} in pod {}_{}({})",
                meta::name(pod),
                meta::namespace(pod),
                meta::uid(pod)
            );
            say(Tone::Warning, "BackOff", &message);
        }
    }
}

fn find_image(pod: &Value, name: &str) -> (&'static str, String) {
    for (key, field) in
        [("containers", "spec.containers"), ("initContainers", "spec.initContainers")]
    {
        if let Some(found) = items(&pod["spec"][key]).iter().find(|it| it["name"] == name) {
            return (field, text(&found["image"]).to_owned());
        }
    }
    ("spec.containers", String::new())
}
