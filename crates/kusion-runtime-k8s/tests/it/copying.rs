//! Copies of a cluster in a sandbox.

use crate::cluster::{Cluster, resource};
use kusion_runtime_k8s::{ClusterSource, copy};
use kusion_sandbox::{Options, Resource, Sandbox, Scope, Selection};
use serde_json::{Value, json};

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}})
}

fn service() -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
}

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "canary"}})
}

fn definition(group: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_copied_with_definitions_and_without_secrets() {
    let source = Cluster::start().await;
    let space = &source.namespace;
    let group = format!("{space}.io");
    source.apply(&resource(definition(&group))).await;
    for object in [deployment(), service(), secret()] {
        source.apply(&source.resource(object)).await;
    }
    let thing = json!({"apiVersion": format!("{group}/v1"), "kind": "Thing",
        "metadata": {"name": "one"}, "spec": {"n": 1}});
    let thing = source.resource(thing);
    while source.try_apply(&thing).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    let target = Sandbox::start(Options::default()).expect("a sandbox");
    let from = ClusterSource::Text(source.kubeconfig.clone());
    let to = ClusterSource::Text(target.kubeconfig());
    let copied = copy(&from, &to, std::slice::from_ref(space)).await.expect("a copy");
    assert_eq!(copied.refused, []);
    assert_eq!(copied.forbidden, Vec::<String>::new());

    let api = target.api();
    let list = |group: &str, plural: &str| {
        let resource = Resource::new(group, "v1", plural);
        let found = api.list(&resource, Scope::Namespace(space), Selection::default());
        found.expect("a list").0
    };
    assert_eq!(list("apps", "deployments")[0]["spec"]["replicas"], 2);
    assert_eq!(list("", "services").len(), 1);
    assert_eq!(list(&group, "things")[0]["spec"], json!({"n": 1}));
    let secrets = list("", "secrets");
    assert_eq!(secrets[0]["data"], json!({"password": "cmVwbGFjZWQ="}));
    // Controllers of the copy make their own objects, once.
    while list("", "pods").len() < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(list("apps", "replicasets").len(), 1);

    // The same again changes nothing.
    let again = copy(&from, &to, std::slice::from_ref(space)).await.expect("a copy");
    assert_eq!(again, copied);
}
