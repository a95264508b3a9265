//! The reconcilers at work on a cluster in memory, with a clock that tests move.

mod autoscaling;
mod placement;

use super::clock::ManualClock;
use super::kind::Kind;
use super::meta::{self, int, items, text};
use super::{ControllerOptions, Runtime};
use crate::{Api, Deletion, Propagation, Write};
use serde_json::{Value, json};
use std::sync::Arc;

fn namespace_of(kind: Kind) -> &'static str {
    if kind == Kind::Namespace { "" } else { "default" }
}

impl Runtime {
    /// Works until nothing is to be done at present.
    fn work(&mut self) {
        while self.step() {}
    }
}

/// A cluster with its reconcilers, driven by hand.
struct Cluster {
    runtime: Runtime,
    clock: Arc<ManualClock>,
    api: Api,
}

impl Cluster {
    fn new() -> Self {
        Self::with(ControllerOptions::default())
    }

    fn with(options: ControllerOptions) -> Self {
        let clock = Arc::new(ManualClock::at("2026-01-01T00:00:30Z"));
        let api = Api::new();
        let options =
            ControllerOptions { clock: clock.clone() as Arc<dyn super::Clock>, ..options };
        let mut runtime = Runtime::new(api.clone(), &options).unwrap();
        runtime.work();
        Self { runtime, clock, api }
    }

    /// Lets time pass in small steps, with all work that comes due.
    fn pass(&mut self, milliseconds: i64) {
        let mut rest = milliseconds;
        while rest > 0 {
            let step = rest.min(50);
            self.clock.advance(step);
            self.runtime.work();
            rest -= step;
        }
    }

    fn create(&mut self, kind: Kind, mut object: Value) -> Arc<Value> {
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.name().into();
        let namespace = namespace_of(kind);
        let write = Write { manager: "test", ..Write::default() };
        let made = self.api.create(kind.resource(), namespace, object, &write).unwrap();
        self.runtime.work();
        made
    }

    fn get(&self, kind: Kind, name: &str) -> Option<Arc<Value>> {
        let namespace = namespace_of(kind);
        self.api.get(kind.resource(), namespace, name).ok()
    }

    fn change(&mut self, kind: Kind, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = (*self.get(kind, name).unwrap()).clone();
        change(&mut object);
        let namespace = namespace_of(kind);
        let write = Write { manager: "test", ..Write::default() };
        self.api.update(kind.resource(), namespace, name, object, &write).unwrap();
        self.runtime.work();
    }

    fn delete(&mut self, kind: Kind, name: &str, propagation: Propagation) {
        let deletion = Deletion { propagation: Some(propagation), ..Deletion::default() };
        let namespace = namespace_of(kind);
        self.api.delete(kind.resource(), namespace, name, &deletion).unwrap();
        self.runtime.work();
    }

    fn all(&self, kind: Kind) -> Vec<Arc<Value>> {
        self.runtime.world.list(kind, "default")
    }

    fn events(&self, reason: &str) -> Vec<String> {
        let events = self.all(Kind::Event);
        let found = events.iter().filter(|it| it["reason"] == reason);
        found.map(|it| text(&it["message"]).to_owned()).collect()
    }
}

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"restartPolicy": "Always",
        "containers": [{"name": "c", "image": image}]}})
}

fn deployment(replicas: i64, image: &str) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {
        "replicas": replicas,
        "revisionHistoryLimit": 1,
        "progressDeadlineSeconds": 600,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": template(image)}})
}

#[test]
fn a_deployment_becomes_available_and_rolls() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Deployment, deployment(4, "a"));
    let deployment = cluster.get(Kind::Deployment, "web").unwrap();
    assert_eq!(deployment["status"]["availableReplicas"], 4);
    let progressing = meta::condition(&deployment, "Progressing").unwrap();
    assert_eq!(progressing["reason"], "NewReplicaSetAvailable");
    cluster.change(Kind::Deployment, "web", |it| it["spec"]["template"] = template("b"));
    let sets = cluster.all(Kind::ReplicaSet);
    let sizes: Vec<i64> = sets.iter().map(|it| int(&it["spec"]["replicas"], -1)).collect();
    assert_eq!(sizes.iter().sum::<i64>(), 4);
    assert_eq!(sets.len(), 2);
    let deployment = cluster.get(Kind::Deployment, "web").unwrap();
    assert_eq!(meta::annotation(&deployment, super::deployment::REVISION), Some("2"));
    for pod in cluster.all(Kind::Pod) {
        assert_eq!(pod["spec"]["containers"][0]["image"], "b");
    }
    cluster.change(Kind::Deployment, "web", |it| it["spec"]["template"] = template("a"));
    let deployment = cluster.get(Kind::Deployment, "web").unwrap();
    assert_eq!(meta::annotation(&deployment, super::deployment::REVISION), Some("3"));
    assert_eq!(cluster.all(Kind::ReplicaSet).len(), 2);
}

#[test]
fn a_rollout_that_stands_still_runs_into_its_deadline() {
    let mut cluster = Cluster::new();
    let mut object = deployment(1, "a");
    object["spec"]["progressDeadlineSeconds"] = 5.into();
    object["spec"]["template"]["metadata"]["annotations"] =
        json!({"sandbox.kusion.io/never-ready": "true"});
    cluster.create(Kind::Deployment, object);
    cluster.pass(8000);
    let deployment = cluster.get(Kind::Deployment, "web").unwrap();
    let progressing = meta::condition(&deployment, "Progressing").unwrap();
    assert_eq!(progressing["reason"], "ProgressDeadlineExceeded");
}

#[test]
fn deletion_follows_the_owner_or_not() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Deployment, deployment(2, "a"));
    cluster.delete(Kind::Deployment, "web", Propagation::Background);
    assert!(cluster.all(Kind::ReplicaSet).is_empty() && cluster.all(Kind::Pod).is_empty());
    cluster.create(Kind::Deployment, deployment(2, "a"));
    cluster.delete(Kind::Deployment, "web", Propagation::Foreground);
    assert!(cluster.get(Kind::Deployment, "web").is_none());
    assert!(cluster.all(Kind::Pod).is_empty());
    cluster.create(Kind::Deployment, deployment(2, "a"));
    cluster.delete(Kind::Deployment, "web", Propagation::Orphan);
    let sets = cluster.all(Kind::ReplicaSet);
    assert_eq!(sets.len(), 1);
    assert!(meta::owners(&sets[0]).is_empty());
    assert_eq!(cluster.all(Kind::Pod).len(), 2);
    cluster.create(Kind::Deployment, deployment(2, "a"));
    assert_eq!(cluster.all(Kind::ReplicaSet).len(), 1, "the orphan is adopted");
}

#[test]
fn a_namespace_gets_its_account_and_ends_with_its_content() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Namespace, json!({"metadata": {"name": "team"}}));
    let world = &cluster.runtime.world;
    assert!(world.get(Kind::ServiceAccount, "team", "default").is_some());
    assert!(world.get(Kind::ConfigMap, "team", "kube-root-ca.crt").is_some());
    cluster.delete(Kind::Namespace, "team", Propagation::Background);
    assert!(cluster.get(Kind::Namespace, "team").is_none());
}

#[test]
fn a_job_runs_to_its_end() {
    let mut cluster = Cluster::new();
    let job = json!({"metadata": {"name": "work"}, "spec": {"parallelism": 2, "completions": 3,
        "backoffLimit": 6, "template": {"metadata": {}, "spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "busybox", "command": ["true"]}]}}}});
    cluster.create(Kind::Job, job);
    cluster.pass(1000);
    let job = cluster.get(Kind::Job, "work").unwrap();
    assert!(meta::is_true(&job, "Complete"), "{}", job["status"]);
    assert_eq!(job["status"]["succeeded"], 3);
    let pods = cluster.all(Kind::Pod);
    assert_eq!(pods.len(), 3);
    assert!(pods.iter().all(|it| items(&it["metadata"]["finalizers"]).is_empty()));
}

#[test]
fn a_job_that_fails_stops_at_its_limit() {
    let mut cluster = Cluster::new();
    let job = json!({"metadata": {"name": "work"}, "spec": {"parallelism": 1, "completions": 1,
        "backoffLimit": 1, "template": {"metadata": {}, "spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "busybox", "command": ["false"]}]}}}});
    cluster.create(Kind::Job, job);
    cluster.pass(10_000);
    let job = cluster.get(Kind::Job, "work").unwrap();
    let failed = meta::condition(&job, "Failed").unwrap();
    assert_eq!(failed["reason"], "BackoffLimitExceeded");
    assert_eq!(cluster.all(Kind::Pod).len(), 2);
}

#[test]
fn a_cron_job_starts_jobs_on_time() {
    let mut cluster = Cluster::new();
    let job = json!({"spec": {"parallelism": 1, "completions": 1, "template": {"metadata": {},
        "spec": {"restartPolicy": "Never", "containers":
            [{"name": "c", "image": "busybox", "command": ["sleep", "300"]}]}}}});
    let mut cron = json!({"metadata": {"name": "tick"}, "spec": {"schedule": "*/1 * * * *",
        "concurrencyPolicy": "Forbid"}});
    cron["spec"]["jobTemplate"] = job;
    // The server stamps real time; the schedule counts from the clock of the test.
    cluster.create(Kind::CronJob, cron);
    cluster.change(Kind::CronJob, "tick", |_| {});
    let real = jiff::Timestamp::now().as_millisecond();
    let start = "2026-01-01T00:00:30Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    if real > start {
        cluster.clock.advance(real - start);
    }
    cluster.pass(130_000);
    assert_eq!(cluster.all(Kind::Job).len(), 1);
    assert!(!cluster.events("JobAlreadyActive").is_empty());
}

#[test]
fn a_service_knows_its_pods() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Deployment, deployment(2, "a"));
    cluster.create(
        Kind::Service,
        json!({"metadata": {"name": "web"}, "spec": {"type": "ClusterIP", "selector": {"app": "web"},
            "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}}),
    );
    let endpoints = cluster.get(Kind::Endpoints, "web").unwrap();
    assert_eq!(items(&endpoints["subsets"][0]["addresses"]).len(), 2);
    let slices: Vec<_> = cluster
        .all(Kind::EndpointSlice)
        .into_iter()
        .filter(|it| meta::label(it, "kubernetes.io/service-name") == Some("web"))
        .collect();
    assert_eq!(slices.len(), 1);
    assert_eq!(items(&slices[0]["endpoints"]).len(), 2);
}

#[test]
fn a_stateful_set_counts_up_and_down() {
    let mut cluster = Cluster::new();
    let set = json!({"metadata": {"name": "db"}, "spec": {"replicas": 3, "serviceName": "db",
        "podManagementPolicy": "OrderedReady", "selector": {"matchLabels": {"app": "web"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": "1Gi"}}}}],
        "template": template("a")}});
    cluster.create(Kind::StatefulSet, set);
    let names: Vec<String> =
        cluster.all(Kind::Pod).iter().map(|it| meta::name(it).to_owned()).collect();
    assert_eq!(names, ["db-0", "db-1", "db-2"]);
    let claims = cluster.all(Kind::PersistentVolumeClaim);
    assert!(claims.len() == 3 && claims.iter().all(|it| it["status"]["phase"] == "Bound"));
    cluster.change(Kind::StatefulSet, "db", |it| it["spec"]["replicas"] = 1.into());
    assert_eq!(cluster.all(Kind::Pod).len(), 1);
    cluster.change(Kind::StatefulSet, "db", |it| it["spec"]["template"] = template("b"));
    let pods = cluster.all(Kind::Pod);
    assert_eq!(pods[0]["spec"]["containers"][0]["image"], "b");
    let set = cluster.get(Kind::StatefulSet, "db").unwrap();
    assert_eq!(set["status"]["currentRevision"], set["status"]["updateRevision"]);
}

#[test]
fn claims_go_with_the_pods_that_a_set_no_longer_wants() {
    let mut cluster = Cluster::new();
    let set = json!({"metadata": {"name": "db"}, "spec": {"replicas": 2, "serviceName": "db",
        "podManagementPolicy": "OrderedReady", "selector": {"matchLabels": {"app": "web"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": "1Gi"}}}}],
        "template": template("a")}});
    cluster.create(Kind::StatefulSet, set.clone());
    cluster.change(Kind::StatefulSet, "db", |it| it["spec"]["replicas"] = 1.into());
    cluster.pass(2_000);
    let claims = cluster.all(Kind::PersistentVolumeClaim);
    let names: Vec<&str> = claims.iter().map(|it| meta::name(it)).collect();
    assert_eq!(names, ["data-db-0"]);
    // Revisions that one set leaves behind belong to the next of its kind.
    let before = meta::name(&cluster.all(Kind::ControllerRevision)[0]).to_owned();
    cluster.delete(Kind::StatefulSet, "db", Propagation::Orphan);
    cluster.pass(2_000);
    cluster.create(Kind::StatefulSet, set);
    let revisions = cluster.all(Kind::ControllerRevision);
    let names: Vec<&str> = revisions.iter().map(|it| meta::name(it)).collect();
    assert_eq!(names, [before]);
    assert!(meta::controller(&revisions[0]).is_some());
}

#[test]
fn a_daemon_set_covers_all_nodes() {
    let mut cluster = Cluster::new();
    let set = json!({"metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}}, "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "template": template("a")}});
    cluster.create(Kind::DaemonSet, set);
    let status = cluster.get(Kind::DaemonSet, "agent").unwrap()["status"].clone();
    assert_eq!(
        (status["desiredNumberScheduled"].as_i64(), status["numberReady"].as_i64()),
        (Some(2), Some(2))
    );
    cluster.change(Kind::DaemonSet, "agent", |it| it["spec"]["template"] = template("b"));
    let pods = cluster.all(Kind::Pod);
    assert!(pods.len() == 2 && pods.iter().all(|it| it["spec"]["containers"][0]["image"] == "b"));
}

#[test]
fn a_quota_stops_a_replica_set() {
    let mut cluster = Cluster::new();
    cluster.create(
        Kind::ResourceQuota,
        json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}),
    );
    cluster.create(
        Kind::ReplicaSet,
        json!({"metadata": {"name": "web"}, "spec": {"replicas": 3,
            "selector": {"matchLabels": {"app": "web"}}, "template": template("a")}}),
    );
    let set = cluster.get(Kind::ReplicaSet, "web").unwrap();
    let failure = meta::condition(&set, "ReplicaFailure").unwrap();
    assert!(
        text(&failure["message"])
            .contains("exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
        "{failure}"
    );
    assert_eq!(cluster.get(Kind::ResourceQuota, "q").unwrap()["status"]["used"]["pods"], "2");
}

#[test]
fn a_stateful_set_mounts_its_claims() {
    let mut cluster = Cluster::new();
    let mut pod = template("a");
    pod["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "data", "mountPath": "/data"}]);
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    let set = json!({"metadata": {"name": "db"}, "spec": {"replicas": 1, "serviceName": "db",
        "selector": {"matchLabels": {"app": "web"}}, "volumeClaimTemplates": [claim],
        "template": pod}});
    cluster.create(Kind::StatefulSet, set.clone());
    assert_eq!(cluster.all(Kind::Pod)[0]["status"]["phase"], "Running");
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut set = set.clone();
        set["metadata"]["name"] = "other".into();
        change(&mut set);
        let made =
            cluster.api.create(Kind::StatefulSet.resource(), "default", set, &Write::default());
        made.expect_err("it is refused").message
    };
    let message =
        refused(&|set| set["spec"]["volumeClaimTemplates"][0]["metadata"]["name"] = "x".into());
    assert!(message.contains("volumeMounts[0].name: Not found: \"data\""), "{message}");
    let message =
        refused(&|set| set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"] = json!({}));
    assert!(
        message.contains("spec.volumeClaimTemplates[0].spec.resources[storage]: Required"),
        "{message}"
    );
}

#[test]
fn volumes_go_with_their_claims() {
    let mut cluster = Cluster::new();
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    cluster.create(Kind::PersistentVolumeClaim, claim);
    let volume =
        cluster.get(Kind::PersistentVolumeClaim, "data").unwrap()["spec"]["volumeName"].clone();
    let find = |cluster: &Cluster| {
        cluster.api.get(Kind::PersistentVolume.resource(), "", text(&volume)).ok()
    };
    assert_eq!(find(&cluster).unwrap()["status"]["phase"], "Bound");
    cluster.delete(Kind::PersistentVolumeClaim, "data", Propagation::Background);
    cluster.pass(1_000);
    assert_eq!(find(&cluster), None);
}

#[test]
fn pods_of_a_missing_node_are_collected() {
    let mut cluster = Cluster::new();
    let mut pod = template("a");
    pod["metadata"]["name"] = "lost".into();
    pod["spec"]["nodeName"] = "nowhere".into();
    cluster.create(Kind::Pod, pod);
    cluster.pass(39_000);
    assert_eq!(cluster.all(Kind::Pod).len(), 1);
    cluster.pass(2_000);
    assert_eq!(cluster.all(Kind::Pod).len(), 0);
}

#[test]
fn containers_that_lack_something_are_not_created() {
    let mut cluster = Cluster::new();
    let mut pod = template("a");
    pod["metadata"]["name"] = "p".into();
    pod["spec"]["imagePullSecrets"] = json!([{"name": "none"}]);
    pod["spec"]["containers"][0]["envFrom"] = json!([{"secretRef": {"name": "s"}},
        {"configMapRef": {"name": "absent", "optional": true}}]);
    pod["spec"]["containers"][0]["env"] = json!([{"name": "A",
        "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]);
    cluster.create(Kind::Pod, pod);
    let waiting = |cluster: &Cluster| {
        let pod = cluster.get(Kind::Pod, "p").unwrap();
        let waiting = &pod["status"]["containerStatuses"][0]["state"]["waiting"];
        assert_eq!(waiting["reason"], "CreateContainerConfigError");
        assert_eq!(pod["status"]["phase"], "Pending");
        text(&waiting["message"]).to_owned()
    };
    assert_eq!(waiting(&cluster), "secret \"s\" not found");
    assert_eq!(cluster.events("FailedToRetrieveImagePullSecret").len(), 1);
    cluster.create(Kind::Secret, json!({"metadata": {"name": "s"}}));
    cluster.pass(1_000);
    assert_eq!(waiting(&cluster), "configmap \"c\" not found");
    cluster.create(Kind::ConfigMap, json!({"metadata": {"name": "c"}}));
    cluster.pass(1_000);
    assert_eq!(waiting(&cluster), "couldn't find key k in ConfigMap default/c");
    cluster.change(Kind::ConfigMap, "c", |it| it["data"] = json!({"k": "1"}));
    cluster.pass(1_000);
    assert_eq!(cluster.get(Kind::Pod, "p").unwrap()["status"]["phase"], "Running");
    let mut root = template("a");
    root["metadata"]["name"] = "root".into();
    root["spec"]["securityContext"] = json!({"runAsNonRoot": true, "runAsUser": 0});
    cluster.create(Kind::Pod, root);
    let pod = cluster.get(Kind::Pod, "root").unwrap();
    let message = text(&pod["status"]["containerStatuses"][0]["state"]["waiting"]["message"]);
    assert!(message.starts_with("container's runAsUser breaks non-root policy"), "{message}");
}

#[test]
fn aggregated_roles_follow_the_roles_that_they_select() {
    let cluster = &mut Cluster::new();
    let api = cluster.api.clone();
    let resource = Kind::ClusterRole.resource();
    let role = |name: &str, more: Value| {
        let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}});
        role.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        role
    };
    let rules = || {
        let found = api.get(resource, "", "sum").unwrap();
        items(&found["rules"]).iter().map(|it| text(&it["verbs"][0]).to_owned()).collect::<Vec<_>>()
    };
    let selector =
        json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "sum"}}]}});
    api.create(resource, "", role("sum", selector), &Write::default()).unwrap();
    let mut part = role(
        "part",
        json!({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}),
    );
    part["metadata"]["labels"] = json!({"to": "sum"});
    api.create(resource, "", part, &Write::default()).unwrap();
    cluster.runtime.work();
    assert_eq!(rules(), ["get"]);
    api.delete(resource, "", "part", &Deletion::default()).unwrap();
    cluster.runtime.work();
    assert!(rules().is_empty());
}

#[test]
fn a_job_must_select_its_own_pods() {
    let cluster = Cluster::new();
    let make = |selector: Value| {
        let mut pod = template("a");
        pod["spec"]["restartPolicy"] = "Never".into();
        let job = json!({"metadata": {"name": "j"}, "spec": {"manualSelector": true,
            "selector": selector, "template": pod}});
        cluster.api.create(Kind::Job.resource(), "default", job, &Write::default())
    };
    // Else it would make pods without end, and find none of them.
    for selector in [Value::Null, json!({"matchLabels": {"b": "c"}})] {
        let status = make(selector).expect_err("it is refused");
        assert!(status.message.contains("`selector` does not match template `labels`"), "{status}");
    }
    assert!(make(json!({"matchLabels": {"app": "web"}})).is_ok());
}
