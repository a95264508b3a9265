//! Deletions.

use crate::cluster::{Cluster, attempt, deployment, resource, state};
use kusion_runtime::{Deletion, Runtime as _, RuntimeError};
use kusion_runtime_k8s::Options;
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_ends_when_the_object_is_gone() {
    let cluster = Cluster::start().await;
    for wanted in [
        cluster.config_map("c", json!({"a": "1"})),
        cluster.resource(deployment("web", "nginx:1", 2)),
        cluster.resource(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80}]}})),
    ] {
        let live = cluster.apply(&wanted).await;
        let prior = state(&wanted, &live);
        let deletion = Deletion::new(&prior, attempt());
        cluster.runtime.delete(deletion).await.expect("a deletion");
        assert_eq!(cluster.read_one(&wanted).await, None, "{}", wanted.id);
        cluster.runtime.delete(deletion).await.expect("nothing is left to delete");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_object_with_the_name_stays() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let first = cluster.apply(&wanted).await;
    let prior = state(&wanted, &first);
    let path = cluster.path("/api/v1/configmaps", "c");
    cluster.send("DELETE", &path, "application/json", &json!({})).await;
    let second = cluster.apply(&wanted).await;
    let deletion = Deletion::new(&prior, attempt());
    cluster.runtime.delete(deletion).await.expect("nothing to delete");
    assert_eq!(cluster.read_one(&wanted).await, Some(second));
}

#[tokio::test(flavor = "multi_thread")]
async fn finalizers_are_awaited_and_named() {
    let options = Options { delete_timeout: Duration::from_millis(700), ..Options::default() };
    let cluster = Cluster::with(options).await;
    let wanted = cluster.resource(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c", "finalizers": ["example.com/hold"]}}));
    let live = cluster.apply(&wanted).await;
    let prior = state(&wanted, &live);
    let deletion = Deletion::new(&prior, attempt());
    let error = cluster.runtime.delete(deletion).await.expect_err("held");
    assert!(error.is_transient(), "{error}");
    assert!(error.to_string().contains("`example.com/hold`"), "{error}");
    let path = cluster.path("/api/v1/configmaps", "c");
    let release = json!({"metadata": {"finalizers": null}});
    let later = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cluster.send("PATCH", &path, "application/merge-patch+json", &release).await;
    };
    let (deleted, ()) = futures::join!(cluster.runtime.delete(deletion), later);
    assert_eq!(deleted, Ok::<(), RuntimeError>(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_gone_with_all_that_is_in_it() {
    let cluster = Cluster::start().await;
    let name = format!("{}-b", cluster.namespace);
    let wanted =
        resource(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    let live = cluster.apply(&wanted).await;
    let inside = resource(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": name}}));
    cluster.apply(&inside).await;
    let prior = state(&wanted, &live);
    cluster.runtime.delete(Deletion::new(&prior, attempt())).await.expect("gone");
    assert_eq!(cluster.read_one(&wanted).await, None);
    assert_eq!(cluster.read_one(&inside).await, None);
}
