//! Owners of objects.

use crate::cluster::{Cluster, attempt, owner, state};
use kusion_model::{Owner, Place, Resource, StackKey, StackOwner};
use kusion_runtime::{Change, Comparison, Deletion, Runtime as _, RuntimeError};
use kusion_runtime_k8s::KubernetesRuntime;
use serde_json::json;

/// The same cluster for another stack.
fn other(cluster: &Cluster) -> (KubernetesRuntime, StackOwner) {
    let owner = StackOwner::new(StackKey::new("shop", "prod", Place::Main), "s1");
    (cluster.runtime.for_stack(&owner), owner)
}

fn owned_by(owner: &StackOwner) -> RuntimeError {
    RuntimeError::Owned(Box::new(Owner::Stack { owner: owner.clone() }))
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_name_their_stack() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let live = cluster.apply(&wanted).await;
    assert_eq!(live.owner, Some(Owner::Stack { owner: owner() }));
    let annotations = &live.attributes["metadata"]["annotations"];
    assert_eq!(annotations["kusion.io/owner"], "shop/dev/%/main@s1");
    let shown = cluster.runtime.comparable(&live.attributes);
    assert_eq!(shown["metadata"].get("annotations"), None, "no line in a diff");
    assert_eq!(cluster.compare(&wanted).await, Comparison::Same);
    let mut noted = wanted.clone();
    noted.attributes["metadata"]["annotations"] = json!({"a": "b"});
    cluster.apply(&noted).await;
    assert_eq!(cluster.compare(&noted).await, Comparison::Same);
    assert_eq!(cluster.compare(&wanted).await, Comparison::Differs, "one annotation is too many");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_object_of_another_stack_stays_as_it_is() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let live = cluster.apply(&wanted).await;
    let (theirs, _) = other(&cluster);
    let error = theirs.apply(Change::new(&wanted)).await.expect_err("a conflict");
    let RuntimeError::Conflict(conflicts) = error else { panic!("{error}") };
    assert_eq!(conflicts[0].manager, "kusion/shop/dev");
    assert_eq!(conflicts[0].fields, ["metadata.annotations.kusion.io/owner"]);
    let forced = Change { force: true, ..Change::new(&wanted) };
    assert_eq!(theirs.apply(forced).await, Err(owned_by(&owner())));
    let prior = state(&wanted, &live);
    let stale = kusion_runtime::Live {
        attributes: json!({"metadata": {"resourceVersion": "1"}}).into(),
        ..live.clone()
    };
    let deletion = Deletion { live: Some(&stale), ..Deletion::new(&prior, attempt()) };
    assert_eq!(theirs.delete(deletion).await, Err(owned_by(&owner())));
    assert_eq!(cluster.read_one(&wanted).await, Some(live));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forced_change_and_a_deletion_find_their_own_object_after_it_changed() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let live = cluster.apply(&wanted).await;
    let path = cluster.path("/api/v1/configmaps", "c");
    let change = json!({"data": {"a": "2"}});
    cluster.send("PATCH", &path, "application/merge-patch+json", &change).await;
    let prior = state(&wanted, &live);
    let forced = Change { force: true, prior: Some(&prior), ..Change::new(&wanted) };
    let applied = cluster.runtime.apply(forced).await.expect("an apply").live;
    assert_eq!(applied.attributes["data"], json!({"a": "1"}));
    let deletion = Deletion { live: Some(&live), ..Deletion::new(&prior, attempt()) };
    cluster.runtime.delete(deletion).await.expect("deleted");
    assert_eq!(cluster.read_one(&wanted).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_taken_over_with_all_its_fields() {
    let cluster = Cluster::start().await;
    cluster.apply(&cluster.config_map("c", json!({"a": "1", "gone": "x"}))).await;
    let (theirs, their_owner) = other(&cluster);
    let wanted = cluster.config_map("c", json!({"a": "2"}));
    let change = Change { take_over: true, ..Change::new(&wanted) };
    let dry_run = theirs.dry_run(change).await.expect("a dry run");
    assert_eq!(dry_run.after["data"]["a"], "2");
    let live = theirs.apply(change).await.expect("an apply").live;
    assert_eq!(live.attributes["data"], json!({"a": "2"}));
    assert_eq!(live.owner, Some(Owner::Stack { owner: their_owner }));
    assert_eq!(theirs.compare(&wanted, &live), Comparison::Same);
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_the_manager_of_earlier_versions_become_ours() {
    let cluster = Cluster::start().await;
    let before = cluster.config_map("c", json!({"a": "1", "gone": "x"}));
    let path = cluster.path("/api/v1/configmaps", "c");
    let target = format!("{path}?fieldManager=kusion");
    let made = cluster.send("PATCH", &target, "application/apply-patch+yaml", &before.attributes);
    assert_eq!(made.await["data"]["gone"], "x");
    let live = cluster.read_one(&before).await.expect("an object");
    let prior = state(&before, &live);
    assert_eq!(cluster.runtime.compare(&before, &live), Comparison::Unmarked);
    let wanted = cluster.config_map("c", json!({"a": "2"}));
    let change = Change { prior: Some(&prior), ..Change::new(&wanted) };
    assert_eq!(cluster.runtime.dry_run(change).await.expect("a dry run").conflicts, []);
    let live = cluster.runtime.apply(change).await.expect("an apply").live;
    assert_eq!(live.attributes["data"], json!({"a": "2"}));
    assert_eq!(cluster.compare(&wanted).await, Comparison::Same);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_object_has_no_owner() {
    let cluster = Cluster::start().await;
    let shared = |resource: Resource| {
        let mut resource = resource;
        resource.extensions.insert("kusion.io/shared".to_owned(), true.into());
        resource
    };
    let mut wanted = shared(cluster.config_map("c", json!({"a": "1"})));
    let claim = wanted.clone();
    // A stack cannot give an object to another one.
    wanted.attributes["metadata"]["annotations"] = json!({"kusion.io/owner": "a/b/%/main@c"});
    assert!(cluster.runtime.describe(&wanted).is_shared);
    let live = cluster.apply(&wanted).await;
    assert_eq!(live.owner, None);
    assert_eq!(cluster.compare(&claim).await, Comparison::Same);
}
