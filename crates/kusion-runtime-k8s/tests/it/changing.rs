//! Applying, comparing, rehearsing.

use crate::cluster::{Cluster, attempt, deployment, resource, state};
use kusion_model::Action;
use kusion_model::Requirement;
use kusion_runtime::{Change, Comparison, Pending, Runtime as _, RuntimeError};
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";

fn rehearsal(desired: &kusion_model::Resource) -> Change<'_> {
    Change::new(desired)
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_again_would_change_nothing() {
    let cluster = Cluster::start().await;
    let mut wanted = vec![
        cluster.resource(deployment("web", "nginx:1", 0)),
        cluster.config_map("c", json!({"a": "b"})),
        cluster.resource(json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "s", "labels": {"a/b": "c"}}})),
        cluster.resource(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80},
                {"name": "dns", "port": 80, "protocol": "UDP", "targetPort": "dns"}]}})),
        cluster.resource(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "stringData": {"a": "b"}})),
        cluster.resource(json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "i"}, "spec": {"rules": [{"host": "a.example", "http": {"paths": [
                {"path": "/", "pathType": "Prefix",
                 "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}})),
        cluster.resource(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "r"}, "rules": [
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})),
    ];
    for resource in &wanted {
        cluster.apply(resource).await;
        assert_eq!(cluster.compare(resource).await, Comparison::Same, "{}", resource.id);
    }
    wanted[0].attributes["spec"]["replicas"] = 1.into();
    assert_eq!(cluster.compare(&wanted[0]).await, Comparison::Differs);
    let data = wanted[1].attributes["data"].as_object_mut().expect("data");
    data.remove("a");
    data.insert("c".to_owned(), "d".into());
    assert_eq!(cluster.compare(&wanted[1]).await, Comparison::Differs);
    let live = cluster.apply(&wanted[1]).await;
    assert_eq!(live.attributes["data"], json!({"c": "d"}));
    wanted[4].attributes["stringData"] = json!({"c": "d"});
    let live = cluster.apply(&wanted[4]).await;
    assert_eq!(live.attributes["data"], json!({"c": "ZA=="}), "dropped keys go");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_only_look_different_are_rehearsed() {
    let cluster = Cluster::start().await;
    let mut attributes = deployment("web", "nginx:1", 0);
    let container = &mut attributes["spec"]["template"]["spec"]["containers"][0];
    container["resources"]["requests"]["cpu"] = "1000m".into();
    let wanted = cluster.resource(attributes);
    cluster.apply(&wanted).await;
    let live = cluster.read_one(&wanted).await.expect("an object");
    assert_eq!(cluster.runtime.compare(&wanted, &live), Comparison::Differs);
    let rehearsed = cluster.runtime.dry_run(rehearsal(&wanted)).await.expect("a rehearsal");
    let runtime = &cluster.runtime;
    assert_eq!(runtime.comparable(&rehearsed.after), runtime.comparable(&live.attributes));
}

#[tokio::test(flavor = "multi_thread")]
async fn list_items_of_others_stay() {
    let cluster = Cluster::start().await;
    let mut wanted = cluster.resource(deployment("web", "nginx:1", 0));
    cluster.apply(&wanted).await;
    let path = cluster.path("/apis/apps/v1/deployments", "web");
    let sidecar = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "sidecar", "image": "mesh:1"}]}}}});
    let strategic = "application/strategic-merge-patch+json";
    cluster.send("PATCH", &path, strategic, &sidecar).await;
    assert_eq!(cluster.compare(&wanted).await, Comparison::Same);
    wanted.attributes["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2".into();
    let live = cluster.apply(&wanted).await;
    let containers = live.attributes["spec"]["template"]["spec"]["containers"].as_array().cloned();
    let mut images: Vec<Value> =
        containers.expect("containers").iter().map(|it| it["image"].clone()).collect();
    images.sort_by_key(ToString::to_string);
    assert_eq!(images, ["mesh:1", "nginx:2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_others_are_taken_only_by_force() {
    let cluster = Cluster::start().await;
    let mut wanted = cluster.config_map("c", json!({"a": "1"}));
    let first = cluster.apply(&wanted).await;
    let path = cluster.path("/api/v1/configmaps", "c") + "?fieldManager=somebody";
    cluster.send("PATCH", &path, MERGE, &json!({"data": {"a": "2"}})).await;
    wanted.attributes["data"]["a"] = "3".into();
    let prior = state(&wanted, &first);
    let mut change =
        Change { prior: Some(&prior), attempt: Some(attempt()), ..Change::new(&wanted) };
    let result = cluster.runtime.apply(change).await;
    let Err(RuntimeError::Conflict(conflicts)) = result else { panic!("{result:?}") };
    // A dry run shows what would happen, and who is in the way since when.
    let shown = cluster.runtime.dry_run(change).await.expect("a dry run");
    assert_eq!(shown.after["data"]["a"], "3");
    for conflicts in [&conflicts, &shown.conflicts] {
        assert_eq!(conflicts.len(), 1);
        assert_eq!(conflicts[0].manager, "somebody");
        assert_eq!(conflicts[0].fields, ["data.a"]);
    }
    assert_eq!(shown.conflicts[0].paths[0].find(&shown.after), Some(&json!("3")));
    assert!(shown.conflicts[0].time.is_some());
    change.force = true;
    let rehearsed = cluster.runtime.dry_run(change).await.expect("a rehearsal");
    assert_eq!(rehearsed.conflicts[0].manager, "somebody");
    assert_eq!(rehearsed.after["data"]["a"], "3");
    assert_eq!(cluster.read_one(&wanted).await.expect("there").attributes["data"]["a"], "2");
    let applied = cluster.runtime.apply(change).await.expect("an apply");
    assert_eq!(applied.live.attributes["data"]["a"], "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_object_is_not_taken_silently() {
    let cluster = Cluster::start().await;
    let path = cluster.path("/api/v1/configmaps", "c");
    let path = path.strip_suffix("/c").expect("a collection");
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
        "data": {"a": "theirs"}});
    cluster.send("POST", &format!("{path}?fieldManager=them"), "application/json", &theirs).await;
    let wanted = cluster.config_map("c", json!({"a": "ours"}));
    assert_eq!(cluster.compare(&wanted).await, Comparison::Unmarked);
    let error = cluster.try_apply(&wanted).await.expect_err("a conflict");
    let RuntimeError::Conflict(conflicts) = error else { panic!("{error}") };
    assert_eq!(conflicts[0].manager, "them");
    let pending = Pending {
        attempt: attempt(),
        id: &wanted.id,
        action: Action::Create,
        desired: Some(&wanted),
        prior: None,
    };
    assert_eq!(cluster.runtime.recover(pending).await, Ok(None), "theirs is not ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn immutable_fields_are_known_or_learnt() {
    let cluster = Cluster::start().await;
    let wanted = cluster.resource(deployment("web", "nginx:1", 0));
    let live = cluster.apply(&wanted).await;
    let mut other = wanted.clone();
    other.attributes["spec"]["selector"]["matchLabels"] = json!({"app": "x"});
    other.attributes["spec"]["template"]["metadata"]["labels"] = json!({"app": "x"});
    let compared = cluster.runtime.compare(&other, &live);
    let Comparison::Immutable(fields) = compared else { panic!("{compared:?}") };
    assert_eq!(fields[0].to_string(), "spec.selector");
    let error = cluster.runtime.dry_run(rehearsal(&other)).await.expect_err("immutable");
    let RuntimeError::Immutable { fields, .. } = &error else { panic!("{error}") };
    assert_eq!(fields[0].to_string(), "spec.selector");
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {"serviceName": "db", "replicas": 0, "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "a", "image": "a"}]}}}});
    let mut set = cluster.resource(set);
    cluster.apply(&set).await;
    set.attributes["spec"]["serviceName"] = "other".into();
    let error = cluster.runtime.dry_run(rehearsal(&set)).await.expect_err("immutable");
    assert!(matches!(error, RuntimeError::Immutable { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_leaves_nothing_behind() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let rehearsed = cluster.runtime.dry_run(rehearsal(&wanted)).await.expect("a rehearsal");
    assert_eq!(rehearsed.after["data"]["a"], "1");
    assert_eq!(cluster.read_one(&wanted).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_resources_are_refused_when_rehearsed() {
    let cluster = Cluster::start().await;
    let mut wrong = cluster.resource(deployment("web", "nginx:1", 0));
    wrong.attributes["spec"]["replica"] = 1.into();
    let error = cluster.runtime.dry_run(rehearsal(&wrong)).await.expect_err("refused");
    let RuntimeError::Rejected(problems) = &error else { panic!("{error}") };
    assert_eq!(problems[0].path.to_string(), "spec.replica");
    assert_eq!(error.to_string(), "unknown field `spec.replica` (did you mean `replicas`?)");
    let nowhere = resource(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "nonsuch"}}));
    let error = cluster.runtime.dry_run(rehearsal(&nowhere)).await.expect_err("refused");
    assert_eq!(error, RuntimeError::Missing(Requirement::new("namespace", "nonsuch")));
    let unknown = cluster.resource(json!({"apiVersion": "example.com/v1", "kind": "Nonsuch",
        "metadata": {"name": "a"}}));
    let error = cluster.runtime.dry_run(rehearsal(&unknown)).await.expect_err("refused");
    assert!(matches!(error, RuntimeError::Missing(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_does_not_revive_or_touch_another_object() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let first = cluster.apply(&wanted).await;
    let prior = state(&wanted, &first);
    let path = cluster.path("/api/v1/configmaps", "c");
    cluster.send("DELETE", &path, "application/json", &json!({})).await;
    let change = Change { prior: Some(&prior), attempt: Some(attempt()), ..Change::new(&wanted) };
    let error = cluster.runtime.apply(change).await.expect_err("it is gone");
    assert!(matches!(error, RuntimeError::Moved(_)), "{error:?}");
    let second = cluster.apply(&wanted).await;
    assert_ne!(second.identity.uid, first.identity.uid);
    assert_eq!(second.identity.key, first.identity.key);
    let error = cluster.runtime.apply(change).await.expect_err("it is another");
    assert!(matches!(error, RuntimeError::Moved(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_without_an_ending_made_is_found() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("c", json!({"a": "1"}));
    let pending = Pending {
        attempt: attempt(),
        id: &wanted.id,
        action: Action::Create,
        desired: Some(&wanted),
        prior: None,
    };
    assert_eq!(cluster.runtime.recover(pending).await, Ok(None));
    let live = cluster.apply(&wanted).await;
    assert_eq!(cluster.runtime.recover(pending).await, Ok(Some(live)));
    // An account without a field of its own leaves no record of who made it.
    let bare = cluster.resource(json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "a"}}));
    cluster.apply(&bare).await;
    assert_eq!(cluster.compare(&bare).await, Comparison::Same);
    let pending = Pending { id: &bare.id, desired: Some(&bare), ..pending };
    assert!(cluster.runtime.recover(pending).await.expect("an answer").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_and_its_objects_go_in_one_run() {
    let cluster = Cluster::start().await;
    let group = format!("{}.example.com", cluster.namespace);
    let thing = cluster.resource(json!({"apiVersion": format!("{group}/v1"), "kind": "Thing",
        "metadata": {"name": "a"}, "spec": {"size": 1, "items": [{"name": "x", "n": 1}]}}));
    let error = cluster.try_apply(&thing).await.expect_err("the kind is unknown");
    assert!(matches!(error, RuntimeError::Missing(_)), "{error}");
    let items = json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"size": {"type": "integer"}, "items": items}}}});
    let definition = resource(json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}}));
    let made = cluster.apply(&definition).await;
    cluster.apply(&thing).await;
    assert_eq!(cluster.compare(&thing).await, Comparison::Same);
    let prior = state(&definition, &made);
    let deletion = kusion_runtime::Deletion::new(&prior, attempt());
    cluster.runtime.delete(deletion).await.expect("a deletion");
}
