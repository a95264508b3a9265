//! Dependencies of pods.

use super::{Dependencies, items, text};
use serde_json::Value;

impl<'a> Dependencies<'_, 'a> {
    /// Adds the dependencies of a pod, from its `spec`.
    pub(super) fn pod(&mut self, spec: &'a Value) {
        self.near("", "ServiceAccount", &spec["serviceAccountName"]);
        self.near("", "ServiceAccount", &spec["serviceAccount"]);
        let priority = text(&spec["priorityClassName"]);
        self.add("scheduling.k8s.io", "PriorityClass", "", priority);
        self.add("node.k8s.io", "RuntimeClass", "", text(&spec["runtimeClassName"]));
        for secret in items(&spec["imagePullSecrets"]) {
            self.near("", "Secret", &secret["name"]);
        }
        for key in ["initContainers", "containers", "ephemeralContainers"] {
            for container in items(&spec[key]) {
                self.container(container);
            }
        }
        for volume in items(&spec["volumes"]) {
            self.volume(volume);
        }
    }

    fn container(&mut self, container: &'a Value) {
        for variable in items(&container["env"]) {
            let from = &variable["valueFrom"];
            self.near("", "ConfigMap", &from["configMapKeyRef"]["name"]);
            self.near("", "Secret", &from["secretKeyRef"]["name"]);
        }
        for source in items(&container["envFrom"]) {
            self.near("", "ConfigMap", &source["configMapRef"]["name"]);
            self.near("", "Secret", &source["secretRef"]["name"]);
        }
    }

    fn volume(&mut self, volume: &'a Value) {
        self.near("", "ConfigMap", &volume["configMap"]["name"]);
        self.near("", "Secret", &volume["secret"]["secretName"]);
        self.near("", "Secret", &volume["csi"]["nodePublishSecretRef"]["name"]);
        self.near("", "PersistentVolumeClaim", &volume["persistentVolumeClaim"]["claimName"]);
        self.claim(&volume["ephemeral"]["volumeClaimTemplate"]["spec"]);
        for source in items(&volume["projected"]["sources"]) {
            self.near("", "ConfigMap", &source["configMap"]["name"]);
            self.near("", "Secret", &source["secret"]["name"]);
        }
    }
}
