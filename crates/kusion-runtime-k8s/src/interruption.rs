//! What is unavailable while an object is replaced.

use kusion_runtime::Live;
use serde_json::Value;

/// Returns what is unavailable between the deletion of an object and the moment when its
/// replacement works.
pub(crate) fn interruption(live: &Live) -> String {
    let object = &*live.attributes;
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "Deployment" | "StatefulSet" | "ReplicaSet" | "DaemonSet" | "ReplicationController" => {
            let pods = match number(object, kind) {
                None => "its pods are".to_owned(),
                Some(1) => "its 1 pod is".to_owned(),
                Some(count) => format!("its {count} pods are"),
            };
            format!("{pods} deleted, and unavailable until new ones are ready")
        }
        "Pod" => "the pod is deleted, and unavailable until the new one is ready".to_owned(),
        "Job" => "its pods are deleted, and its work starts again".to_owned(),
        "Service" => "connections to it are lost, and its address may change".to_owned(),
        "Ingress" | "Gateway" | "HTTPRoute" => "its traffic is not routed".to_owned(),
        "ConfigMap" | "Secret" | "ServiceAccount" => {
            "pods that use it cannot start, and running pods may read nothing".to_owned()
        }
        "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => {
            "the permissions that it grants are missing".to_owned()
        }
        "PersistentVolumeClaim" | "PersistentVolume" => "its data may be deleted".to_owned(),
        "CustomResourceDefinition" => "all objects of its kind are deleted".to_owned(),
        "Namespace" => "everything in it is deleted".to_owned(),
        _ => "it does not exist".to_owned(),
    }
}

/// Returns the number of pods of a workload.
fn number(object: &Value, kind: &str) -> Option<u64> {
    let pointer = match kind {
        "DaemonSet" => "/status/currentNumberScheduled",
        _ => "/spec/replicas",
    };
    object.pointer(pointer)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::Identity;
    use serde_json::json;

    #[test]
    fn pods_of_workloads_are_counted() {
        let text = |object: Value| interruption(&Live::new(Identity::new("a", None), object));
        let web = json!({"kind": "Deployment", "spec": {"replicas": 3}});
        let expected = "its 3 pods are deleted, and unavailable until new ones are ready";
        assert_eq!(text(web), expected);
        assert!(text(json!({"kind": "DaemonSet"})).starts_with("its pods are"));
        assert_eq!(text(json!({"kind": "Widget"})), "it does not exist");
    }
}
