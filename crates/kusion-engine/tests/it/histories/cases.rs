//! The histories.

use super::play::{Act, play};
use super::written::{Report, pod};
use super::{Case, History};
use kusion_engine::DEFAULT_SETTLE;
use serde_json::{Value, json};
use std::time::Duration;

/// The timeout of operations.
const TIMEOUT: Duration = Duration::from_mins(5);

/// All histories.
pub(super) fn all() -> Vec<Case> {
    let groups = [starts(), crashes(), images(), rollouts(), waits(), sets(), jobs(), reports()];
    groups.into_iter().flatten().collect()
}

/// A history after `kusion apply --watch`.
fn apply(name: &'static str, history: History) -> Case {
    let (command, settle, timeout) = ("`apply --watch`", DEFAULT_SETTLE, Some(TIMEOUT));
    Case { name, history, command, is_operation: true, settle, timeout }
}

/// A history after `kusion apply --watch` with a longer settling time.
fn settle(name: &'static str, history: History) -> Case {
    let (command, settle) = ("`apply --watch --settle 30s`", Duration::from_secs(30));
    Case { command, settle, ..apply(name, history) }
}

/// A history at which a user looks later.
fn watch(name: &'static str, history: History) -> Case {
    let command = "`watch --until-ready`";
    Case { command, is_operation: false, timeout: None, ..apply(name, history) }
}

/// A deployment whose pods behave as an annotation says.
fn web(annotation: &str, value: &str) -> Value {
    let mut web = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "it", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "it"}},
            "template": {"metadata": {"labels": {"app": "it"}},
                "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}});
    if !annotation.is_empty() {
        let name = format!("sandbox.kusion.io/{annotation}");
        web["spec"]["template"]["metadata"]["annotations"] = json!({name: value});
    }
    web
}

fn plain() -> Value {
    web("", "")
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    if let Some((parent, name)) = pointer.rsplit_once('/')
        && let Some(parent) = object.pointer_mut(parent)
    {
        parent[name] = value;
    }
    object
}

fn probed(object: Value) -> Value {
    probed_after(object, 0)
}

fn probed_after(object: Value, seconds: i64) -> Value {
    let probe = json!({"httpGet": {"path": "/", "port": 80}, "initialDelaySeconds": seconds});
    with(object, "/spec/template/spec/containers/0/readinessProbe", probe)
}

fn one(object: Value) -> Value {
    with(object, "/spec/replicas", 1.into())
}

fn as_kind(kind: &str, object: Value) -> Value {
    let mut object = with(object, "/kind", kind.into());
    if kind == "StatefulSet" {
        object["spec"]["serviceName"] = "it".into();
    } else if let Some(spec) = object["spec"].as_object_mut() {
        spec.remove("replicas");
    }
    object
}

/// Applies one object at the start of the watch.
fn now(object: Value, seconds: i64) -> History {
    play(&[(0, Act::Apply(object))], seconds)
}

fn starts() -> Vec<Case> {
    let min_ready = with(plain(), "/spec/minReadySeconds", 10.into());
    let zero = with(plain(), "/spec/replicas", 0.into());
    let slow = web("ready-delay", "20s");
    vec![
        apply("pods run immediately", now(plain(), 10)),
        apply("pods with a readiness probe run immediately", now(probed(plain()), 10)),
        apply("no pods are desired", now(zero, 10)),
        apply("`minReadySeconds: 10`", now(min_ready, 20)),
        apply("containers start after 20 s", now(web("start-delay", "20s"), 40)),
        apply("containers are ready after 20 s", now(slow.clone(), 40)),
        apply("the readiness probe succeeds after 20 s", now(probed(slow), 40)),
        apply("the readiness probe never succeeds", now(probed(web("never-ready", "true")), 400)),
        watch("pods run for a minute", play(&[(-60_000, Act::Apply(plain()))], 10)),
    ]
}

fn crashes() -> Vec<Case> {
    let again = || {
        let mut web = one(web("run-time", "20s"));
        web["spec"]["template"]["metadata"]["annotations"]["sandbox.kusion.io/exit-code"] =
            "1".into();
        web
    };
    let beside = with(
        one(web("crash-loop.beside", "true")),
        "/spec/template/spec/containers",
        json!([{"name": "main", "image": "web:1"}, {"name": "beside", "image": "web:1"}]),
    );
    let init = |annotation: &str, command: &str| {
        let init = json!([{"name": "init", "image": "busybox", "command": ["sh", "-c", command]}]);
        with(one(web(annotation, "true")), "/spec/template/spec/initContainers", init)
    };
    let done = one(web("exit-code", "0"));
    vec![
        apply(
            "the container crashes immediately, again and again",
            now(web("crash-loop", "true"), 60),
        ),
        apply(
            "crash loop with a readiness probe",
            now(probed_after(web("crash-loop", "true"), 1), 60),
        ),
        apply("one of two containers crashes again and again", now(beside, 60)),
        apply("the container exits with code 0, again and again", now(done, 60)),
        apply("one crash after 1 s, then stable", now(one(web("crash-after", "1s")), 60)),
        apply("one crash after 20 s, then stable", now(one(web("crash-after", "20s")), 100)),
        settle("one crash after 20 s, then stable", now(one(web("crash-after", "20s")), 100)),
        apply("a crash every 20 s", now(again(), 200)),
        settle("a crash every 20 s", now(again(), 200)),
        watch(
            "a crash every 20 s, between two restarts",
            play(&[(-25_000, Act::Apply(again()))], 200),
        ),
        watch(
            "a crash every 20 s, during the back-off",
            play(&[(-75_000, Act::Apply(again()))], 200),
        ),
        apply(
            "the init container crashes again and again",
            now(init("crash-loop.init", "exit 1"), 60),
        ),
        apply("the init container fails once", now(init("", "exit 1 || exit 0"), 60)),
    ]
}

fn images() -> Vec<Case> {
    let pull = |value: &str| one(web("image-pull-error", value));
    vec![
        apply("the first pull fails", now(pull("1"), 20)),
        apply("pulls fail for 20 s", now(pull("20"), 60)),
        apply("pulls fail for 40 s", now(pull("40"), 100)),
        apply("the image does not exist", now(pull("true"), 100)),
        watch(
            "the image does not exist, an hour later",
            play(&[(-3_600_000, Act::Apply(pull("true")))], 10),
        ),
    ]
}

fn rollouts() -> Vec<Case> {
    let after = |new: Value, seconds: i64| {
        let new = with(new, "/spec/template/spec/containers/0/image", "web:2".into());
        play(&[(-60_000, Act::Apply(plain())), (0, Act::Apply(new))], seconds)
    };
    let late = with(probed(web("never-ready", "true")), "/spec/progressDeadlineSeconds", 20.into());
    let broken = one(web("image-pull-error", "true"));
    let repaired = [(-600_000, Act::Apply(broken)), (0, Act::Apply(one(plain())))];
    vec![
        apply("rollout of a good image", after(plain(), 60)),
        apply("rollout of a good image, with a probe", after(probed(plain()), 60)),
        apply(
            "rollout of an image that does not exist, beside good old pods",
            after(web("image-pull-error", "true"), 100),
        ),
        apply(
            "rollout of a crash loop, beside good old pods",
            after(web("crash-loop", "true"), 60),
        ),
        apply("rollout that reaches `progressDeadlineSeconds: 20`", after(late, 60)),
        apply("rollout that repairs an image that does not exist", play(&repaired, 60)),
    ]
}

fn waits() -> Vec<Case> {
    let quota = |pods: &str| {
        json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "quota", "namespace": "default"}, "spec": {"hard": {"pods": pods}}})
    };
    let config = || {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "config", "namespace": "default"}, "data": {"a": "1"}})
    };
    let from = json!([{"configMapRef": {"name": "config"}}]);
    let needs = || with(one(plain()), "/spec/template/spec/containers/0/envFrom", from.clone());
    let volume = json!([{"name": "v", "configMap": {"name": "config"}}]);
    let mounts = || with(one(plain()), "/spec/template/spec/volumes", volume.clone());
    let nowhere = with(one(plain()), "/spec/template/spec/nodeSelector", json!({"disk": "none"}));
    let apply_at = |at: i64, object: Value| (at, Act::Apply(object));
    vec![
        apply(
            "the quota is used up",
            play(&[apply_at(-1000, quota("0")), apply_at(0, plain())], 100),
        ),
        apply(
            "the quota is raised after 20 s",
            play(
                &[apply_at(-1000, quota("0")), apply_at(0, plain()), apply_at(20_000, quota("9"))],
                100,
            ),
        ),
        apply(
            "the operation raises the quota of pods that failed for 10 minutes",
            play(
                &[
                    apply_at(-601_000, quota("0")),
                    apply_at(-600_000, plain()),
                    apply_at(0, quota("9")),
                ],
                100,
            ),
        ),
        watch(
            "the quota was used up 10 minutes ago",
            play(&[apply_at(-601_000, quota("0")), apply_at(-600_000, plain())], 10),
        ),
        apply("the config map of a variable is missing", now(needs(), 100)),
        apply(
            "the config map of a variable is created after 20 s",
            play(&[apply_at(0, needs()), apply_at(20_000, config())], 60),
        ),
        apply(
            "the operation creates a config map that was missing for 10 minutes",
            play(&[apply_at(-600_000, needs()), apply_at(0, config())], 60),
        ),
        apply("the config map of a volume is missing", now(mounts(), 400)),
        apply(
            "the config map of a volume is created after 80 s",
            play(&[apply_at(0, mounts()), apply_at(80_000, config())], 120),
        ),
        apply("no node has the labels of the node selector", now(nowhere, 400)),
        watch(
            "the deployment is deleted after 5 s",
            play(
                &[
                    apply_at(-60_000, probed(web("never-ready", "true"))),
                    (5000, Act::Delete(plain())),
                ],
                20,
            ),
        ),
    ]
}

fn sets() -> Vec<Case> {
    let stateful = |annotation: &str, value: &str| as_kind("StatefulSet", web(annotation, value));
    let daemons = |annotation: &str, value: &str| as_kind("DaemonSet", web(annotation, value));
    vec![
        apply(
            "stateful set whose pods are ready after 5 s each",
            now(stateful("ready-delay", "5s"), 60),
        ),
        apply(
            "stateful set whose pods crash again and again",
            now(stateful("crash-loop", "true"), 60),
        ),
        apply("daemon set", now(daemons("", ""), 20)),
        apply(
            "daemon set with an image that does not exist",
            now(daemons("image-pull-error", "true"), 60),
        ),
        apply(
            "replica set with one crash after 1 s",
            now(as_replica_set(web("crash-after", "1s")), 60),
        ),
    ]
}

fn as_replica_set(object: Value) -> Value {
    with(object, "/kind", "ReplicaSet".into())
}

fn jobs() -> Vec<Case> {
    let job = |command: &str, policy: &str, annotation: &str| {
        let mut pod = json!({"metadata": {}, "spec": {"restartPolicy": policy, "containers":
            [{"name": "main", "image": "busybox", "command": ["sh", "-c", command]}]}});
        if !annotation.is_empty() {
            let name = format!("sandbox.kusion.io/{annotation}");
            pod["metadata"]["annotations"] = json!({name: "true"});
        }
        json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "it", "namespace": "default"},
            "spec": {"backoffLimit": 2, "template": pod}})
    };
    let cron = json!({"apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "it", "namespace": "default"},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template":
            job("true", "Never", "")["spec"]["template"]}}}});
    vec![
        apply("job that runs for 20 s", now(job("sleep 20", "Never", ""), 40)),
        apply(
            "job that fails once and then succeeds",
            now(job("exit 1 || exit 0", "Never", ""), 60),
        ),
        apply("job that fails with each retry", now(job("exit 1", "Never", ""), 200)),
        apply(
            "job that fails with each restart of its pod",
            now(job("exit 1", "OnFailure", ""), 200),
        ),
        apply(
            "job with an image that does not exist",
            now(job("true", "Never", "image-pull-error"), 60),
        ),
        apply("cron job", now(cron, 10)),
    ]
}

/// Single pods, with what a kubelet reports.
fn reports() -> Vec<Case> {
    use Report::{Crashed, Failed, Ready, Unready, Unschedulable, Waits};
    let (pull, back_off) = (Waits("ErrImagePull"), Waits("ImagePullBackOff"));
    let oom = &[
        (0, Ready),
        (10, Crashed(137)),
        (10, Ready),
        (20, Crashed(137)),
        (30, Ready),
        (40, Crashed(137)),
    ];
    let flapping =
        &[(0, Ready), (2, Crashed(1)), (2, Ready), (4, Crashed(1)), (14, Ready), (16, Crashed(1))];
    let old = &[
        (-300, Ready),
        (-290, Crashed(1)),
        (-290, Ready),
        (-280, Crashed(1)),
        (-270, Ready),
        (-260, Crashed(1)),
    ];
    let repaired: Vec<(i64, Report)> = old.iter().copied().chain([(20, Ready)]).collect();
    let broken: Vec<(i64, Report)> =
        old.iter().copied().chain([(5, Ready), (12, Crashed(1))]).collect();
    vec![
        apply("pod killed out of memory every 10 s", pod(false, oom)),
        settle("pod killed out of memory every 10 s", pod(false, oom)),
        apply(
            "pod killed out of memory once",
            pod(true, &[(0, Unready), (1, Crashed(137)), (1, Unready), (5, Ready)]),
        ),
        apply("pod that is ready for 2 s between crashes", pod(false, flapping)),
        apply(
            "readiness probe that fails for 40 s and then heals",
            pod(true, &[(0, Unready), (40, Ready)]),
        ),
        apply(
            "pull errors that alternate and heal after 25 s",
            pod(true, &[(0, pull), (1, back_off), (10, pull), (11, back_off), (25, Ready)]),
        ),
        apply(
            "pull errors that alternate",
            pod(
                true,
                &[(0, pull), (1, back_off), (10, pull), (11, back_off), (28, pull), (29, back_off)],
            ),
        ),
        apply("invalid image name", pod(true, &[(0, Unready), (1, Waits("InvalidImageName"))])),
        apply(
            "image that must be present and is not",
            pod(true, &[(0, Unready), (1, Waits("ErrImageNeverPull"))]),
        ),
        apply(
            "container that cannot be created for 10 s",
            pod(true, &[(0, Waits("CreateContainerError")), (10, Ready)]),
        ),
        apply("container that cannot be created", pod(true, &[(0, Waits("CreateContainerError"))])),
        apply("evicted pod", pod(true, &[(0, Ready), (0, Failed("Evicted"))])),
        apply(
            "pod that can be scheduled after 90 s",
            pod(true, &[(0, Unschedulable), (90, Unready), (92, Ready)]),
        ),
        apply("crash loop from before the operation, repaired by it", pod(true, &repaired)),
        apply(
            "crash loop from before the operation, not repaired: a new crash",
            pod(true, &broken),
        ),
        apply("crash loop from before the operation, no restart yet", pod(true, old)),
        watch("crash loop from five minutes ago", pod(true, old)),
        watch(
            "pod that restarted an hour ago",
            pod(false, &[(-9000, Ready), (-3600, Crashed(1)), (-3600, Ready)]),
        ),
        watch(
            "pod that restarted 5 s ago, after it had run for 20 s",
            pod(false, &[(-25, Ready), (-5, Crashed(1)), (-5, Ready)]),
        ),
    ]
}
