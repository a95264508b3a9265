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
    cluster.runtime.watch(targets).await.expect("a watch")
}

/// Waits until a resource is said to be in a state.
async fn until(watch: &mut Watch, resource: &Resource, state: HealthState) -> Progress {
    let found = async {
        loop {
            let progress = watch.next().await.expect("no end").expect("no error");
            if progress.id == resource.id && progress.health.state == state {
                return progress;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found).await.expect("in time")
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
    let said = until(&mut watch, &web, HealthState::Ready).await;
    assert!(said.related.iter().any(|it| it.kind == "ReplicaSet" && it.owner.is_none()));
    let old: Vec<String> = said.related.iter().map(|it| it.uid.clone()).collect();
    // Another image gives another replica set, and the watch says so.
    web.attributes["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2".into();
    cluster.apply(&web).await;
    let found = async {
        loop {
            let progress = watch.next().await.expect("no end").expect("no error");
            if progress.related.iter().any(|it| !old.contains(&it.uid)) {
                return progress;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found).await.expect("in time");
    let path = cluster.path("/apis/apps/v1/deployments", "web");
    let options = json!({"propagationPolicy": "Background"});
    cluster.send("DELETE", &path, "application/json", &options).await;
    let said = until(&mut watch, &web, HealthState::Failed).await;
    assert_eq!(said.health.reason.as_deref(), Some("Gone"));
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
