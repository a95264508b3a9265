//! Autoscalers that follow scripted metrics.

use super::*;

const CPU: &str = "sandbox.kusion.io/metric.cpu";

fn scaler(value: &str) -> Value {
    json!({"metadata": {"name": "web", "annotations": {CPU: value}}, "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1, "maxReplicas": 10,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": 50}}}]}})
}

fn cluster(replicas: i64) -> Cluster {
    let mut cluster = Cluster::new();
    let mut made = deployment(replicas, "a");
    made["spec"]["template"]["spec"]["containers"][0]["resources"] =
        json!({"requests": {"cpu": "100m"}});
    cluster.create(Kind::Deployment, made);
    cluster
}

fn replicas(cluster: &Cluster) -> i64 {
    int(&cluster.get(Kind::Deployment, "web").unwrap()["spec"]["replicas"], -1)
}

fn reason(cluster: &Cluster, condition: &str) -> String {
    let scaler = cluster.get(Kind::HorizontalPodAutoscaler, "web").unwrap();
    text(&meta::condition(&scaler, condition).unwrap()["reason"]).to_owned()
}

#[test]
fn a_shared_load_is_spread_over_more_pods() {
    let mut cluster = cluster(2);
    cluster.create(Kind::HorizontalPodAutoscaler, scaler("300m total"));
    cluster.pass(5000);
    assert_eq!(replicas(&cluster), 6, "300m over 50m for each pod");
    let text = "New size: 4; reason: cpu resource utilization (percentage of request) above target";
    assert_eq!(cluster.events("SuccessfulRescale")[0], text);
    assert_eq!(reason(&cluster, "ScalingActive"), "ValidMetricFound");
    assert_eq!(reason(&cluster, "ScalingLimited"), "DesiredWithinRange");
    let found = cluster.get(Kind::HorizontalPodAutoscaler, "web").unwrap();
    assert_eq!(
        found["status"]["currentMetrics"],
        json!([{"type": "Resource", "resource": {"name": "cpu",
            "current": {"averageUtilization": 50, "averageValue": "50m"}}}])
    );
    cluster.change(Kind::HorizontalPodAutoscaler, "web", |it| {
        it["metadata"]["annotations"][CPU] = "100m total".into();
    });
    cluster.pass(60_000);
    assert_eq!(replicas(&cluster), 6, "the window for scaling down is 5 minutes");
    assert_eq!(reason(&cluster, "AbleToScale"), "ScaleDownStabilized");
    cluster.pass(300_000);
    assert_eq!(replicas(&cluster), 2);
    assert!(
        cluster
            .events("SuccessfulRescale")
            .iter()
            .any(|it| { it == "New size: 2; reason: All metrics below target" })
    );
}

#[test]
fn a_metric_without_a_script_is_missing() {
    let mut cluster = cluster(2);
    let mut made = scaler("");
    made["metadata"].as_object_mut().unwrap().remove("annotations");
    cluster.create(Kind::HorizontalPodAutoscaler, made);
    cluster.pass(1000);
    assert_eq!(replicas(&cluster), 2);
    assert_eq!(reason(&cluster, "ScalingActive"), "FailedGetResourceMetric");
    assert_eq!(
        cluster.events("FailedComputeMetricsReplicas"),
        [
            "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric \
          value: failed to get cpu utilization: unable to get metrics for resource cpu: unable to \
          fetch metrics from resource metrics API: the server could not find the requested \
          resource (get pods.metrics.k8s.io)"
        ]
    );
    let found = cluster.get(Kind::HorizontalPodAutoscaler, "web").unwrap();
    assert_eq!(found["status"]["currentMetrics"], json!([{"type": ""}]));
}

#[test]
fn a_small_difference_changes_nothing() {
    let mut cluster = cluster(4);
    cluster.create(Kind::HorizontalPodAutoscaler, scaler("54%"));
    cluster.pass(3000);
    assert_eq!(replicas(&cluster), 4);
    assert!(cluster.events("SuccessfulRescale").is_empty());
}
