//! How resources fare, told as it changes.

use crate::cluster::{Cluster, deployment};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use kusion_model::{HealthState, Resource};
use kusion_runtime::{Live, Progress, Runtime as _, RuntimeError};
use serde_json::json;
use std::time::Duration;

type Watch = BoxStream<'static, Result<Progress, RuntimeError>>;

async fn watch(cluster: &Cluster, targets: &[(&Resource, &Live)]) -> Watch {
    let targets =
        targets.iter().map(|(resource, live)| (resource.id.clone(), (*live).clone())).collect();
    cluster.runtime.watch(targets, None).await.expect("a watch")
}

/// Waits until a resource is said to be in a state.
async fn until(watch: &mut Watch, resource: &Resource, state: HealthState) -> Progress {
    until_told(watch, |it| it.id == resource.id && it.health.state == state).await
}

/// Waits until something is told.
async fn until_told(watch: &mut Watch, is_awaited: impl Fn(&Progress) -> bool) -> Progress {
    let mut last = None;
    let found = async {
        loop {
            let progress = watch.next().await.expect("no end").expect("no error");
            if is_awaited(&progress) {
                return progress;
            }
            last = Some(progress);
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(30), found).await.ok();
    assert!(told.is_some(), "not told in time; last was {last:#?}");
    told.expect("it was told")
}

fn stateful_set(claims: &serde_json::Value) -> serde_json::Value {
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {"serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "a", "image": "nginx"}]}},
            "volumeClaimTemplates": claims}})
}

/// A deployment without pods, which a control plane without nodes brings to its end.
#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_gets_ready_with_its_replica_sets() {
    let cluster = Cluster::start().await;
    let mut web = cluster.resource(deployment("web", "nginx:1", 0));
    let map = cluster.config_map("c", json!({"a": "1"}));
    let (live, map_live) = (cluster.apply(&web).await, cluster.apply(&map).await);
    let mut watch = watch(&cluster, &[(&web, &live), (&map, &map_live)]).await;
    let said = until(&mut watch, &map, HealthState::Ready).await;
    assert_eq!(said.related, []);
    let said = until_told(&mut watch, |it| {
        let has_set = it.related.iter().any(|it| it.kind == "ReplicaSet" && it.owner.is_none());
        it.id == web.id && it.health.state == HealthState::Ready && has_set
    });
    let said = said.await;
    let old: Vec<String> = said.related.iter().map(|it| it.uid.clone()).collect();
    // Another image gives another replica set, and the watch says so.
    web.attributes["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2".into();
    cluster.apply(&web).await;
    until_told(&mut watch, |it| it.related.iter().any(|it| !old.contains(&it.uid))).await;
    let path = cluster.path("/apis/apps/v1/deployments", "web");
    let options = json!({"propagationPolicy": "Background"});
    cluster.send("DELETE", &path, "application/json", &options).await;
    let said = until(&mut watch, &web, HealthState::Failed).await;
    assert_eq!(said.health.reason.as_deref(), Some("Missing"));
}

/// Pods run only where there are nodes.
#[tokio::test(flavor = "multi_thread")]
async fn pods_are_told_with_their_owners() {
    let cluster = Cluster::start().await;
    if !cluster.has_nodes().await {
        return;
    }
    let web = cluster.resource(deployment("web", "nginx:1", 2));
    let live = cluster.apply(&web).await;
    let mut watch = watch(&cluster, &[(&web, &live)]).await;
    let said = until(&mut watch, &web, HealthState::Ready).await;
    let set = said.related.iter().find(|it| it.kind == "ReplicaSet").expect("a replica set");
    let pods: Vec<_> = said.related.iter().filter(|it| it.kind == "Pod").collect();
    assert_eq!(pods.len(), 2);
    assert!(pods.iter().all(|pod| pod.owner.as_ref() == Some(&set.uid)));
}

/// Only a controller that waits itself shows more than that a container without a probe runs.
#[tokio::test(flavor = "multi_thread")]
async fn what_must_settle_is_told() {
    let cluster = Cluster::start().await;
    if !cluster.has_nodes().await {
        return;
    }
    let web = cluster.resource(deployment("web", "nginx:1", 1));
    let mut slow = deployment("slow", "nginx:1", 1);
    slow["spec"]["minReadySeconds"] = 1.into();
    let slow = cluster.resource(slow);
    let (live, slow_live) = (cluster.apply(&web).await, cluster.apply(&slow).await);
    let mut watch = watch(&cluster, &[(&web, &live), (&slow, &slow_live)]).await;
    let said = until(&mut watch, &slow, HealthState::Ready).await;
    assert_eq!(said.settling_since, None);
    let mut watch = self::watch(&cluster, &[(&web, &live)]).await;
    let said = until(&mut watch, &web, HealthState::Ready).await;
    assert!(said.settling_since.is_some(), "{said:?}");
}

/// A quota that is raised soon enough makes nothing fail.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_heals_is_not_told_as_one() {
    let cluster = Cluster::start().await;
    if !cluster.has_nodes().await {
        return;
    }
    let quota = |pods: &str| {
        cluster.resource(json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "some"}, "spec": {"hard": {"pods": pods}}}))
    };
    cluster.apply(&quota("0")).await;
    let web = cluster.resource(deployment("web", "nginx:1", 1));
    let live = cluster.apply(&web).await;
    let mut watch = watch(&cluster, &[(&web, &live)]).await;
    let said = until_told(&mut watch, |it| it.health.reason.as_deref() == Some("FailedCreate"));
    assert_eq!(said.await.health.state, HealthState::Progressing);
    cluster.apply(&quota("9")).await;
    let is_over =
        |it: &Progress| matches!(it.health.state, HealthState::Ready | HealthState::Failed);
    let said = until_told(&mut watch, is_over).await;
    assert_eq!(said.health.state, HealthState::Ready, "{said:?}");
}

/// No condition says why a stateful set makes no pod; only an event does.
#[tokio::test(flavor = "multi_thread")]
async fn events_say_why_an_object_is_not_ready() {
    let cluster = Cluster::start().await;
    let quota = cluster.resource(json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}));
    cluster.apply(&quota).await;
    let set = cluster.resource(stateful_set(&json!([])));
    let live = cluster.apply(&set).await;
    let mut watch = watch(&cluster, &[(&set, &live)]).await;
    let said = until_told(&mut watch, |it| it.health.reason.as_deref() == Some("FailedCreate"));
    let said = said.await;
    assert_eq!(said.health.state, HealthState::Progressing);
    assert!(said.health.message.contains("exceeded quota: none"), "{}", said.health.message);
    assert_eq!(said.health.warnings[0].reason, "FailedCreate");
    assert!(said.health.warnings[0].since.is_some());
}

/// The warnings about a pod explain what it belongs to, as long as they are not over.
#[tokio::test(flavor = "multi_thread")]
async fn warnings_about_pods_explain_their_owners() {
    let cluster = Cluster::start().await;
    // The nodes of a real control plane without machines mount nothing.
    if !cluster.is_sandbox() {
        return;
    }
    let mut web = deployment("web", "nginx:1", 1);
    web["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "v", "secret": {"secretName": "absent"}}]);
    let web = cluster.resource(web);
    let live = cluster.apply(&web).await;
    let mut watch = watch(&cluster, &[(&web, &live)]).await;
    let said = until_told(&mut watch, |it| it.health.reason.as_deref() == Some("FailedMount"));
    let said = said.await;
    let pod = said.related.iter().find(|it| it.kind == "Pod").expect("a pod");
    assert_eq!(pod.health.reason.as_deref(), Some("FailedMount"));
    assert!(pod.health.warnings[0].message.contains("absent"), "{:?}", pod.health);
    let words = format!("pod `{}`: ", pod.name);
    assert!(said.health.message.contains(&words), "{}", said.health.message);
    let secret = cluster.resource(json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "absent"}}));
    cluster.apply(&secret).await;
    let said = until(&mut watch, &web, HealthState::Ready).await;
    assert!(said.health.warnings.is_empty() && said.health.reason.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_and_revisions_belong_to_stateful_sets() {
    let cluster = Cluster::start().await;
    let claims = json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}}]);
    let set = cluster.resource(stateful_set(&claims));
    let stranger = cluster.resource(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-x"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}));
    cluster.apply(&stranger).await;
    let live = cluster.apply(&set).await;
    let mut watch = watch(&cluster, &[(&set, &live)]).await;
    let said = until_told(&mut watch, |it| {
        let has = |kind: &str| it.related.iter().any(|it| it.kind == kind);
        has("ControllerRevision") && has("PersistentVolumeClaim") && has("Pod")
    });
    let said = said.await;
    let claims: Vec<&str> = said
        .related
        .iter()
        .filter(|it| it.kind == "PersistentVolumeClaim")
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(claims, ["data-db-0"]);
    assert!(said.related.iter().all(|it| it.owner.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_watch_ends_its_connections() {
    let cluster = Cluster::start().await;
    let web = cluster.resource(deployment("web", "nginx:1", 0));
    let live = cluster.apply(&web).await;
    for _ in 0..20 {
        let mut watch = watch(&cluster, &[(&web, &live)]).await;
        until(&mut watch, &web, HealthState::Ready).await;
    }
}
