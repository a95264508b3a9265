//! Clusters whose objects survive their process.

use kusion_sandbox::{
    Api, ControllerOptions, PatchKind, Reconcilers, Resource, Scope, Selection, Write,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("kusion-data-{}-{number}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Opens a cluster with reconcilers, which have done what they can.
fn open(folder: &Folder) -> (Api, Reconcilers) {
    let api = Api::open(&folder.0).expect("a cluster");
    let options = ControllerOptions::default();
    let mut reconcilers = Reconcilers::new(api.clone(), &options).expect("reconcilers");
    reconcilers.work(1000);
    (api, reconcilers)
}

fn create(api: &Api, resource: &Resource, object: Value) -> Arc<Value> {
    api.create(resource, "default", object, &Write::default()).expect("created")
}

/// Returns all objects by resource; heartbeats of nodes and events change by themselves.
fn all(api: &Api) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for facts in api.resources() {
        let plural = facts.resource.plural.to_string();
        if matches!(&*plural, "events" | "leases" | "nodes") {
            continue;
        }
        let (objects, _) =
            api.list(&facts.resource, Scope::All, Selection::default()).expect("a list");
        found.extend(objects.iter().map(|it| (plural.clone(), (**it).clone())));
    }
    found
}

fn services() -> Resource {
    Resource::new("", "v1", "services")
}

fn deployments() -> Resource {
    Resource::new("apps", "v1", "deployments")
}

fn things() -> Resource {
    Resource::new("x.io", "v1", "things")
}

fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"n": {"type": "integer", "maximum": 5}}}}});
    json!({"metadata": {"name": "things.x.io"}, "spec": {"group": "x.io", "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}}]}})
}

fn deployment() -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}})
}

fn pods(api: &Api) -> usize {
    let resource = Resource::new("", "v1", "pods");
    api.list(&resource, Scope::Namespace("default"), Selection::default()).expect("pods").0.len()
}

#[test]
fn a_restarted_cluster_has_the_same_objects_and_goes_on() {
    let folder = Folder::new();
    let (api, mut reconcilers) = open(&folder);
    let definitions = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    api.create(&definitions, "", definition(), &Write::default()).expect("a definition");
    create(
        &api,
        &things(),
        json!({"apiVersion": "x.io/v1", "kind": "Thing",
        "metadata": {"name": "one"}, "spec": {"n": 3}}),
    );
    let service = json!({"metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}});
    let service = create(&api, &services(), service);
    create(&api, &deployments(), deployment());
    reconcilers.work(1000);
    assert_eq!(pods(&api), 2);
    let (before, revision) = (all(&api), api.revision());
    drop((api, reconcilers));

    let api = Api::open(&folder.0).expect("a cluster");
    assert_eq!(api.revision(), revision);
    assert_eq!(all(&api), before);
    drop(api);

    let (api, mut reconcilers) = open(&folder);
    // Custom resources are served and checked.
    let large = json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "two"},
        "spec": {"n": 7}});
    let refused = api.create(&things(), "default", large, &Write::default());
    assert_eq!(refused.expect_err("too large").code, 422);
    // The address of a service is taken.
    let taken = json!({"metadata": {"name": "other"},
        "spec": {"clusterIP": service["spec"]["clusterIP"], "ports": [{"port": 80}]}});
    let refused = api.create(&services(), "default", taken, &Write::default());
    assert!(refused.expect_err("taken").message.contains("already allocated"));
    // Reconcilers know what they did.
    assert_eq!(pods(&api), 2);
    let scale = json!({"spec": {"replicas": 3}});
    api.patch(&deployments(), "default", "web", PatchKind::Merge, &scale, &Write::default())
        .expect("scaled");
    reconcilers.work(1000);
    assert_eq!(pods(&api), 3);
}

#[test]
fn many_changes_of_one_object_take_little_space() {
    let folder = Folder::new();
    let api = Api::open(&folder.0).expect("a cluster");
    let namespace = json!({"metadata": {"name": "default"}});
    let namespaces = Resource::new("", "v1", "namespaces");
    api.create(&namespaces, "", namespace, &Write::default()).expect("a namespace");
    let maps = Resource::new("", "v1", "configmaps");
    create(&api, &maps, json!({"metadata": {"name": "a"}, "data": {}}));
    for number in 0..80 {
        let text = format!("{number}{}", "x".repeat(500_000));
        let patch = json!({"data": {"text": text}});
        api.patch(&maps, "default", "a", PatchKind::Merge, &patch, &Write::default())
            .expect("patched");
    }
    let (last, revision) = (api.get(&maps, "default", "a").expect("there"), api.revision());
    drop(api);
    let length = std::fs::metadata(folder.0.join("objects.log")).expect("a file").len();
    assert!(length < 20 << 20, "{length}");
    let api = Api::open(&folder.0).expect("a cluster");
    assert_eq!(*api.get(&maps, "default", "a").expect("there"), *last);
    assert_eq!(api.revision(), revision);
}
