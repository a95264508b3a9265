//! Measures applies and updates of a deployment that three managers share.

#![expect(clippy::disallowed_methods, reason = "this measures time")]
#![expect(clippy::print_stdout, reason = "this is what the program is for")]

use std::hint::black_box;
use std::time::Instant;

use kusion_k8s_merge::{OneVersion, Typed, Writer, apply, reset_fields, strategic_merge, update};
use serde_json::{Value, json};

fn main() {
    let builtin = kusion_k8s_schema::builtin();
    let ty = builtin.type_of("apps", "v1", "Deployment").unwrap_or_default();
    let versions = OneVersion {
        api_version: "apps/v1",
        typed: Typed::new(&builtin.types, ty),
        reset: reset_fields("apps", "Deployment", ""),
    };
    let writer = |manager| Writer {
        versions: &versions,
        api_version: "apps/v1",
        subresource: "",
        manager,
        now: "2026-01-02T03:04:05Z",
    };
    let config = deployment();
    let mut live = match apply(&writer("one"), None, &config, false) {
        Ok(applied) => applied.object,
        Err(error) => return println!("{error}"),
    };
    live["metadata"]["uid"] = json!("u");
    let mut scaled = live.clone();
    scaled["spec"]["replicas"] = json!(5);
    update(&writer("hpa"), &live, &mut scaled);
    let live = scaled;
    let fewer = {
        let mut config = config.clone();
        config["spec"]["template"]["spec"]["containers"][0]["env"] =
            json!([{"name": "B", "value": "2"}]);
        config
    };
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:2"}]}}}});
    time("apply, nothing new", || apply(&writer("one"), Some(&live), &config, true).is_ok());
    time("apply, a field dropped", || apply(&writer("one"), Some(&live), &fewer, true).is_ok());
    time("apply, created", || apply(&writer("one"), None, &config, false).is_ok());
    let mut new = live.clone();
    new["spec"]["replicas"] = json!(6);
    time("update of one field", || {
        let mut new = new.clone();
        update(&writer("two"), &live, &mut new);
        new.is_object()
    });
    time("copy of the object alone", || live.clone().is_object());
    time("strategic merge", || strategic_merge(versions.typed, &live, &patch).is_ok());
}

fn time(what: &str, mut run: impl FnMut() -> bool) {
    let rounds = 5_000_u32;
    let start = Instant::now();
    let ok = (0..rounds).filter(|_| black_box(run())).count();
    let each = start.elapsed() / rounds;
    println!("{what}: {each:?} each ({ok} ok)");
}

fn deployment() -> Value {
    let container = json!({
        "name": "app", "image": "app:1", "imagePullPolicy": "IfNotPresent",
        "args": ["--port", "8080"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 8080, "protocol": "TCP", "name": "http"}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "app", "namespace": "default", "labels": {"app": "x", "team": "y"}},
        "spec": {
            "replicas": 3, "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"app": "x"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "template": {
                "metadata": {"labels": {"app": "x", "team": "y"}},
                "spec": {
                    "containers": [container], "restartPolicy": "Always",
                    "serviceAccountName": "app", "terminationGracePeriodSeconds": 30,
                    "volumes": [{"name": "data", "emptyDir": {}}],
                },
            },
        },
    })
}
