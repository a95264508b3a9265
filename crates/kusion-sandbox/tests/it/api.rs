//! Objects written and read through the in-process API.

use kusion_sandbox::{
    Api, Deletion, EventKind, PatchKind, Propagation, Resource, Scope, Selection, Status, Write,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn cluster() -> Api {
    let api = Api::new();
    let namespace = json!({"metadata": {"name": "default"}});
    api.create(&namespaces(), "", namespace, &Write::default()).expect("namespace");
    api
}

fn namespaces() -> Resource {
    Resource::new("", "v1", "namespaces")
}

fn config_maps() -> Resource {
    Resource::new("", "v1", "configmaps")
}

fn create(api: &Api, name: &str, labels: &Value) -> Arc<Value> {
    let mut object = json!({"metadata": {"name": name}, "data": {"a": "1"}});
    if labels.as_object().is_some_and(|labels| !labels.is_empty()) {
        object["metadata"]["labels"] = labels.clone();
    }
    api.create(&config_maps(), "default", object, &Write::default()).expect("create")
}

#[test]
fn a_created_object_has_uid_version_and_time() {
    let api = cluster();
    let made = create(&api, "a", &json!({}));
    assert_eq!(made["apiVersion"], "v1");
    assert_eq!(made["kind"], "ConfigMap");
    assert_eq!(made["metadata"]["namespace"], "default");
    assert_eq!(made["metadata"]["uid"].as_str().map(str::len), Some(36));
    assert_eq!(made["metadata"]["resourceVersion"], "102");
    assert_eq!(*api.get(&config_maps(), "default", "a").expect("get"), *made);
}

#[test]
fn namespaces_of_the_system_are_not_deleted() {
    let api = cluster();
    for (name, dry_run) in [("default", false), ("default", true), ("kube-system", false)] {
        let deletion = Deletion { dry_run, ..Deletion::default() };
        let status = api.delete(&namespaces(), "", name, &deletion).expect_err("forbidden");
        assert_eq!((status.code, status.reason), (403, "Forbidden"));
        let why = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        assert_eq!(status.message, why);
    }
    let other = json!({"metadata": {"name": "kube-node-lease"}});
    api.create(&namespaces(), "", other, &Write::default()).expect("namespace");
    api.delete(&namespaces(), "", "kube-node-lease", &Deletion::default()).expect("deleted");
}

#[test]
fn a_name_is_taken_once() {
    let api = cluster();
    create(&api, "a", &json!({}));
    let again = json!({"metadata": {"name": "a"}});
    let status: Status =
        api.create(&config_maps(), "default", again, &Write::default()).expect_err("exists");
    assert_eq!(status.reason, "AlreadyExists");
    assert_eq!(status.message, "configmaps \"a\" already exists");
}

#[test]
fn an_update_of_an_old_version_is_a_conflict() {
    let api = cluster();
    let old = create(&api, "a", &json!({}));
    let mut new = (*old).clone();
    new["data"]["a"] = "2".into();
    let write = Write::default();
    api.update(&config_maps(), "default", "a", new.clone(), &write).expect("update");
    let status = api.update(&config_maps(), "default", "a", new, &write).expect_err("conflict");
    assert!(status.is_conflict());
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
         please apply your changes to the latest version and try again"
    );
}

#[test]
fn a_patch_that_changes_nothing_writes_nothing() {
    let api = cluster();
    create(&api, "a", &json!({}));
    let before = api.revision();
    let patch = json!({"data": {"a": "1"}});
    api.patch(&config_maps(), "default", "a", PatchKind::Merge, &patch, &Write::default())
        .expect("patch");
    assert_eq!(api.revision(), before);
}

#[test]
fn lists_obey_selectors() {
    let api = cluster();
    create(&api, "a", &json!({"app": "web"}));
    create(&api, "b", &json!({"app": "db"}));
    let selection = Selection { labels: "app=web", fields: "" };
    let (found, revision) =
        api.list(&config_maps(), Scope::Namespace("default"), selection).expect("list");
    assert_eq!(found.len(), 1);
    assert_eq!(revision, 103);
    let by_name = Selection { labels: "", fields: "metadata.name=b" };
    assert_eq!(api.list(&config_maps(), Scope::All, by_name).expect("list").0.len(), 1);
}

#[test]
fn finalizers_keep_an_object_until_they_are_gone() {
    let api = cluster();
    create(&api, "a", &json!({}));
    let events = api.subscribe();
    let foreground = Deletion { propagation: Some(Propagation::Foreground), ..Deletion::default() };
    let marked = api.delete(&config_maps(), "default", "a", &foreground).expect("delete");
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(marked["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    let patch = json!({"metadata": {"finalizers": null}});
    api.patch(&config_maps(), "default", "a", PatchKind::Merge, &patch, &Write::default())
        .expect("patch");
    assert!(api.get(&config_maps(), "default", "a").expect_err("gone").is_not_found());
    assert_eq!(events.try_next().map(|event| event.kind), Some(EventKind::Modified));
    assert_eq!(events.try_next().map(|event| event.kind), Some(EventKind::Deleted));
}

#[test]
fn the_spec_counts_generations_and_the_status_does_not() {
    let api = cluster();
    let deployments = Resource::new("apps", "v1", "deployments");
    let object = json!({"metadata": {"name": "web"}, "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    }});
    let made = api.create(&deployments, "default", object, &Write::default()).expect("create");
    assert_eq!(made["metadata"]["generation"], 1);
    let status = Write { subresource: "status", ..Write::default() };
    let patch = json!({"status": {"replicas": 1}, "spec": {"replicas": 7}});
    let after = api
        .patch(&deployments, "default", "web", PatchKind::Merge, &patch, &status)
        .expect("status");
    assert_eq!(after["metadata"]["generation"], 1);
    assert_eq!(after["spec"]["replicas"], 1);
    assert_eq!(after["status"]["replicas"], 1);
    let scale = Write { subresource: "scale", ..Write::default() };
    let patch = json!({"spec": {"replicas": 3}});
    let scaled =
        api.patch(&deployments, "default", "web", PatchKind::Merge, &patch, &scale).expect("scale");
    assert_eq!(scaled["kind"], "Scale");
    let after = api.get(&deployments, "default", "web").expect("get");
    assert_eq!(after["metadata"]["generation"], 2);
    assert_eq!(after["spec"]["replicas"], 3);
}

#[test]
fn a_dry_run_stores_nothing() {
    let api = cluster();
    let write = Write { dry_run: true, ..Write::default() };
    let object = json!({"metadata": {"generateName": "a-"}});
    let made = api.create(&config_maps(), "default", object, &write).expect("create");
    assert!(made["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("a-")));
    assert_eq!(
        api.list(&config_maps(), Scope::All, Selection::default()).expect("list").0.len(),
        0
    );
}

#[test]
fn a_service_keeps_its_address_when_an_update_leaves_it_out() {
    let api = cluster();
    let services = Resource::new("", "v1", "services");
    let object = |port: u16| {
        json!({
            "metadata": {"name": "web"},
            "spec": {"type": "NodePort", "selector": {"app": "web"}, "ports": [{"port": port}]}
        })
    };
    let made = api.create(&services, "default", object(80), &Write::default()).expect("create");
    let mut wanted = object(80);
    wanted["spec"]["selector"] = json!({"app": "other"});
    let kept = api.update(&services, "default", "web", wanted, &Write::default()).expect("update");
    assert!(made["spec"]["clusterIP"].as_str().is_some_and(|address| address.starts_with("10.")));
    assert_eq!(kept["spec"]["clusterIP"], made["spec"]["clusterIP"]);
    assert_eq!(kept["spec"]["ports"], made["spec"]["ports"]);
    assert_eq!(kept["spec"]["selector"]["app"], "other");
}
