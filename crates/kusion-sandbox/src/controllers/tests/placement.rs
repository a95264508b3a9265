//! Where pods go, and what happens when there is no room, or a node is lost.

use super::*;
use crate::pods::nodes::Nodes;
use crate::{Faults, PatchKind};
use std::collections::BTreeMap;

fn cluster(nodes: Nodes) -> Cluster {
    Cluster::with(ControllerOptions { nodes, ..ControllerOptions::default() })
}

fn small(count: u16) -> Nodes {
    Nodes { count, cpu: 1, ..Nodes::default() }
}

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec});
    pod["spec"]["containers"] =
        json!([{"name": "c", "image": "a", "resources": {"requests": {"cpu": "800m"}}}]);
    pod["spec"]["terminationGracePeriodSeconds"] = 0.into();
    pod
}

fn node_of(cluster: &Cluster, name: &str) -> String {
    text(&cluster.get(Kind::Pod, name).unwrap()["spec"]["nodeName"]).to_owned()
}

fn refusal(cluster: &Cluster, name: &str) -> String {
    let pod = cluster.get(Kind::Pod, name).unwrap();
    text(&meta::condition(&pod, "PodScheduled").unwrap()["message"]).to_owned()
}

#[test]
fn a_pod_waits_until_another_one_leaves() {
    let mut cluster = cluster(small(1));
    cluster.create(Kind::Pod, pod("a", &json!({})));
    cluster.create(Kind::Pod, pod("b", &json!({})));
    assert_eq!(node_of(&cluster, "a"), "sandbox-1");
    assert_eq!(
        refusal(&cluster, "b"),
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 \
         nodes are available: 1 No preemption victims found for incoming pod."
    );
    assert_eq!(
        cluster.events("Hint"),
        ["run `kusion sandbox up --nodes 2` to start a sandbox with room for this pod"]
    );
    cluster.delete(Kind::Pod, "a", Propagation::Background);
    cluster.pass(1000);
    assert_eq!(node_of(&cluster, "b"), "sandbox-1");
}

#[test]
fn preferences_decide_between_nodes_that_fit() {
    let mut cluster = cluster(Nodes { count: 3, ..Nodes::default() });
    let on = |name: &str| {
        json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 10, "preference": {"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [name]}]}}]}}})
    };
    cluster.create(Kind::Pod, pod("first", &on("sandbox-3")));
    assert_eq!(node_of(&cluster, "first"), "sandbox-3");
    let near = |key: &str| {
        let terms = json!([{"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"app": "web"}}}}]);
        json!({"affinity": {key: {"preferredDuringSchedulingIgnoredDuringExecution": terms}}})
    };
    cluster.create(Kind::Pod, pod("friend", &near("podAffinity")));
    assert_eq!(node_of(&cluster, "friend"), "sandbox-3");
    cluster.create(Kind::Pod, pod("loner", &near("podAntiAffinity")));
    assert_ne!(node_of(&cluster, "loner"), "sandbox-3");
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}}}]});
    cluster.create(Kind::Pod, pod("spread", &spread));
    let taken = [node_of(&cluster, "loner"), "sandbox-3".to_owned()];
    assert!(!taken.contains(&node_of(&cluster, "spread")));
}

#[test]
fn a_pod_of_higher_priority_takes_the_place_of_another() {
    let mut cluster = cluster(small(1));
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000});
    cluster.api.create(Kind::PriorityClass.resource(), "", class, &Write::default()).unwrap();
    cluster.create(Kind::Pod, pod("low", &json!({})));
    let modest = json!({"priorityClassName": "high", "preemptionPolicy": "Never"});
    let status = cluster.api.create(
        Kind::Pod.resource(),
        "default",
        pod("modest", &modest),
        &Write::default(),
    );
    assert!(status.is_err(), "the policy is that of the class");
    cluster.create(Kind::Pod, pod("high", &json!({"priorityClassName": "high"})));
    cluster.pass(1000);
    assert!(cluster.get(Kind::Pod, "low").is_none());
    assert_eq!(node_of(&cluster, "high"), "sandbox-1");
    let told = cluster.events("Preempted");
    assert!(told.len() == 1 && told[0].ends_with("on node sandbox-1"), "{told:?}");
}

#[test]
fn pods_are_spread_over_zones() {
    let mut cluster = cluster(Nodes { count: 4, zones: 3, ..Nodes::default() });
    let rule = json!({"topologySpreadConstraints": [{"maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}}]});
    for name in ["a", "b", "c", "d", "e"] {
        cluster.create(Kind::Pod, pod(name, &rule));
    }
    let mut zones: BTreeMap<String, usize> = BTreeMap::new();
    for name in ["a", "b", "c", "d", "e"] {
        let (node, write) = (node_of(&cluster, name), "topology.kubernetes.io/zone");
        let node = cluster.api.get(Kind::Node.resource(), "", &node).unwrap();
        *zones.entry(meta::label(&node, write).unwrap().to_owned()).or_default() += 1;
    }
    let mut counts: Vec<usize> = zones.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 2]);
}

#[test]
fn pods_stay_near_and_apart_as_they_ask() {
    let mut cluster = cluster(Nodes { count: 2, ..Nodes::default() });
    let term = json!([{"labelSelector": {"matchLabels": {"app": "web"}},
        "topologyKey": "kubernetes.io/hostname"}]);
    let near = json!({"affinity": {"podAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": term}}});
    let apart = json!({"affinity": {"podAntiAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": term}}});
    cluster.create(Kind::Pod, pod("a", &near));
    cluster.create(Kind::Pod, pod("b", &near));
    cluster.create(Kind::Pod, pod("c", &near));
    let first = node_of(&cluster, "a");
    assert!(!first.is_empty(), "the first of a group has nobody to go to");
    assert_eq!([node_of(&cluster, "b"), node_of(&cluster, "c")], [first.clone(), first.clone()]);
    cluster.create(Kind::Pod, pod("d", &apart));
    assert!(![first, String::new()].contains(&node_of(&cluster, "d")));
    cluster.create(Kind::Pod, pod("e", &apart));
    assert_eq!(node_of(&cluster, "e"), "");
}

#[test]
fn claims_for_devices_are_made_from_templates() {
    let mut cluster = Cluster::new();
    let claim = json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]});
    cluster.create(Kind::Pod, pod("a", &claim));
    assert_eq!(cluster.events("FailedResourceClaimCreation").len(), 1);
    cluster.create(
        Kind::ResourceClaimTemplate,
        json!({"metadata": {"name": "t"}, "spec": {"spec": {"devices": {"requests": [
            {"name": "x", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}}),
    );
    cluster.pass(1000);
    let made = cluster.all(Kind::ResourceClaim);
    assert_eq!(made.len(), 1);
    let pod = cluster.get(Kind::Pod, "a").unwrap();
    assert_eq!(
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"],
        meta::name(&made[0])
    );
    assert!(refusal(&cluster, "a").contains("device class gpu.example.com does not exist"));
}

/// A class, and two devices of different size on the second node.
fn with_devices() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.create(
        Kind::DeviceClass,
        json!({"metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}}),
    );
    let device = |name: &str, memory: &str| {
        json!({"name": name, "attributes": {"board": {"string": "b1"}},
            "capacity": {"memory": {"value": memory}}})
    };
    cluster.create(
        Kind::ResourceSlice,
        json!({"metadata": {"name": "s"}, "spec": {
            "driver": "gpu.example.com", "nodeName": "sandbox-2",
            "pool": {"name": "sandbox-2", "generation": 1, "resourceSliceCount": 1},
            "devices": [device("small", "16Gi"), device("large", "40Gi")]}}),
    );
    cluster
}

fn claim_template(cluster: &mut Cluster, name: &str, devices: &Value) {
    let object = json!({"metadata": {"name": name}, "spec": {"spec": {"devices": devices}}});
    cluster.create(Kind::ResourceClaimTemplate, object);
}

fn claims_of(template: &str) -> Value {
    json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}]})
}

#[test]
fn devices_are_given_with_the_node_and_freed_with_the_pod() {
    let mut cluster = with_devices();
    let large = "device.capacity['gpu.example.com'].memory.compareTo(quantity('20Gi')) >= 0";
    let devices = json!({"requests": [{"name": "x", "exactly": {"deviceClassName": "gpu",
        "selectors": [{"cel": {"expression": large}}]}}]});
    claim_template(&mut cluster, "t", &devices);
    cluster.create(Kind::Pod, pod("a", &claims_of("t")));
    cluster.pass(1000);
    assert_eq!(cluster.get(Kind::Pod, "a").unwrap()["spec"]["nodeName"], "sandbox-2");
    let claim = cluster.all(Kind::ResourceClaim).remove(0);
    let result = json!({"request": "x", "driver": "gpu.example.com", "pool": "sandbox-2",
        "device": "large"});
    assert_eq!(claim["status"]["allocation"]["devices"]["results"], json!([result]));
    assert_eq!(claim["status"]["reservedFor"][0]["name"], "a");
    assert!(meta::has_finalizer(&claim, "resource.kubernetes.io/delete-protection"));

    cluster.create(Kind::Pod, pod("b", &claims_of("t")));
    cluster.pass(1000);
    assert_eq!(
        refusal(&cluster, "b"),
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, \
         preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
    cluster.delete(Kind::Pod, "a", Propagation::Background);
    cluster.pass(60_000);
    assert_eq!(cluster.get(Kind::Pod, "b").unwrap()["spec"]["nodeName"], "sandbox-2");
    let claims = cluster.all(Kind::ResourceClaim);
    assert_eq!(claims.len(), 1, "the claim of the pod that has ended is deleted");
    assert_eq!(claims[0]["status"]["reservedFor"][0]["name"], "b");
}

#[test]
fn all_requests_and_constraints_of_a_claim_are_met_or_none() {
    let mut cluster = with_devices();
    let request = |name: &str, count: i64| json!({"name": name, "exactly": {"deviceClassName": "gpu", "count": count}});
    claim_template(&mut cluster, "three", &json!({"requests": [request("x", 3)]}));
    cluster.create(Kind::Pod, pod("three", &claims_of("three")));
    let other = json!({"requests": [request("x", 1), request("y", 1)],
        "constraints": [{"distinctAttribute": "gpu.example.com/board"}]});
    claim_template(&mut cluster, "other", &other);
    cluster.create(Kind::Pod, pod("other", &claims_of("other")));
    cluster.pass(1000);
    for name in ["three", "other"] {
        assert!(refusal(&cluster, name).contains("2 cannot allocate all claims"), "{name}");
    }
    let first = json!({"requests": [
        {"name": "x", "firstAvailable": [
            {"name": "many", "deviceClassName": "gpu", "count": 3},
            {"name": "two", "deviceClassName": "gpu", "count": 2}]}],
        "constraints": [{"matchAttribute": "gpu.example.com/board"}]});
    claim_template(&mut cluster, "first", &first);
    cluster.create(Kind::Pod, pod("first", &claims_of("first")));
    cluster.pass(1000);
    let claims = cluster.all(Kind::ResourceClaim);
    let met = claims.iter().find(|it| !it["status"]["allocation"].is_null()).unwrap();
    let results = items(&met["status"]["allocation"]["devices"]["results"]);
    let shown: Vec<String> = results
        .iter()
        .map(|it| format!("{}={}", text(&it["request"]), text(&it["device"])))
        .collect();
    assert_eq!(shown, ["x/two=small", "x/two=large"]);
}

#[test]
fn the_pods_of_a_lost_node_go_elsewhere() {
    let mut cluster = Cluster::new();
    cluster.create(Kind::Deployment, deployment(2, "a"));
    let faults = Faults::new(cluster.api.clone());
    faults.lose_node("sandbox-1", true).unwrap();
    cluster.runtime.work();
    assert_eq!(faults.lost_nodes().unwrap(), ["sandbox-1"]);
    let node = cluster.api.get(Kind::Node.resource(), "", "sandbox-1").unwrap();
    assert_eq!(meta::condition(&node, "Ready").unwrap()["status"], "Unknown");
    let ready = |cluster: &Cluster| {
        int(&cluster.get(Kind::Deployment, "web").unwrap()["status"]["readyReplicas"], 0)
    };
    assert_eq!(ready(&cluster), 1);
    cluster.pass(301_000);
    assert_eq!(ready(&cluster), 2);
    let stuck: Vec<bool> = cluster
        .all(Kind::Pod)
        .iter()
        .filter(|it| it["spec"]["nodeName"] == "sandbox-1")
        .map(|it| meta::is_deleting(it))
        .collect();
    assert_eq!(stuck, [true], "nobody confirms that the pod has stopped");
    faults.clear().unwrap();
    cluster.pass(31_000);
    let node = cluster.api.get(Kind::Node.resource(), "", "sandbox-1").unwrap();
    assert!(meta::is_true(&node, "Ready") && node["spec"].get("taints").is_none(), "{node}");
    assert_eq!(cluster.all(Kind::Pod).len(), 2);
}

#[test]
fn a_full_quota_lets_no_more_pods_in() {
    let mut cluster = Cluster::new();
    let faults = Faults::new(cluster.api.clone());
    faults.fill_quota("default").unwrap();
    cluster.pass(100);
    cluster.create(Kind::Deployment, deployment(1, "a"));
    cluster.pass(1000);
    assert!(cluster.all(Kind::Pod).is_empty());
    let told = cluster.events("FailedCreate");
    assert!(told[0].contains("exceeded quota: sandbox-full"), "{told:?}");
    faults.clear().unwrap();
    cluster.pass(60_000);
    assert_eq!(cluster.all(Kind::Pod).len(), 1);
}

#[test]
fn attempts_that_fail_alike_are_one_event() {
    let mut cluster = Cluster::new();
    let mut set = json!({"metadata": {"name": "web"}, "spec": {"replicas": 1,
        "selector": {"matchLabels": {"app": "web"}}, "template": template("a")}});
    set["spec"]["template"]["spec"]["serviceAccountName"] = "missing".into();
    cluster.create(Kind::ReplicaSet, set);
    cluster.pass(20_000);
    assert_eq!(
        cluster.events("FailedCreate"),
        ["Error creating: pods \"web-\" is forbidden: error looking up service account \
          default/missing: serviceaccount \"missing\" not found"]
    );
}

#[test]
fn a_token_secret_follows_its_account() {
    let mut cluster = Cluster::new();
    let secret = |name: &str| {
        json!({"metadata": {"name": name, "annotations": {
            "kubernetes.io/service-account.name": "robot"}},
            "type": "kubernetes.io/service-account-token"})
    };
    cluster.create(Kind::Secret, secret("early"));
    assert!(cluster.get(Kind::Secret, "early").is_none());
    cluster.create(Kind::ServiceAccount, json!({"metadata": {"name": "robot"}}));
    cluster.create(Kind::Secret, secret("token"));
    let filled = cluster.get(Kind::Secret, "token").unwrap();
    assert!(["ca.crt", "namespace", "token"].iter().all(|it| filled["data"][it].is_string()));
    cluster.delete(Kind::ServiceAccount, "robot", Propagation::Background);
    assert!(cluster.get(Kind::Secret, "token").is_none());
}

#[test]
fn a_node_is_lost_by_an_annotation() {
    let mut cluster = Cluster::new();
    let patch = json!({"metadata": {"annotations": {"sandbox.kusion.io/lost": "true"}}});
    let node = Kind::Node.resource();
    let write = Write::default();
    cluster.api.patch(node, "", "sandbox-2", PatchKind::Merge, &patch, &write).unwrap();
    cluster.runtime.work();
    cluster.create(
        Kind::Pod,
        pod("a", &json!({"nodeSelector": {"kubernetes.io/hostname": "sandbox-2"}})),
    );
    assert!(
        refusal(&cluster, "a")
            .contains("1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }"),
        "{}",
        refusal(&cluster, "a")
    );
}
