//! Objects that `kubectl apply` made.

use crate::cluster::Cluster;
use kusion_runtime::{Change, Comparison, Runtime as _};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn what_kubectl_applied_becomes_ours_with_all_its_fields() {
    let cluster = Cluster::start().await;
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        "data": {"a": "1", "gone": "x"}});
    let path = cluster.path("/api/v1/configmaps", "c");
    let path = path.strip_suffix("/c").expect("a collection");
    let target = format!("{path}?fieldManager=kubectl-client-side-apply");
    cluster.send("POST", &target, "application/json", &theirs).await;
    let wanted = cluster.config_map("c", json!({"a": "2"}));
    let change = Change::new(&wanted);
    let rehearsed = cluster.runtime.dry_run(change).await.expect("no conflict");
    assert_eq!(rehearsed.conflicts, []);
    assert_eq!(rehearsed.after["data"]["a"], "2");
    let live = cluster.apply(&wanted).await;
    assert_eq!(live.attributes["data"], json!({"a": "2"}), "what the stack does not want goes");
    assert_eq!(cluster.compare(&wanted).await, Comparison::Same);
}
