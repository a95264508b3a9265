//! Dependencies that follow from the fields of Kubernetes objects, and from the paths of files on
//! hosts.
//!
//! Only to resources of the same Spec. `docs/spec.md` lists them.

mod hosts;
mod pods;

use crate::scope::split;
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::Resource;
use rustc_hash::FxHashMap;
use serde_json::Value;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Group, kind, namespace and name.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The objects of a Spec, to be found by what names them.
struct Objects<'a> {
    places: FxHashMap<Key<'a>, usize>,
    /// Definitions, by group and kind of the objects that they define.
    definitions: FxHashMap<(&'a str, &'a str), usize>,
}

/// The dependencies of one object.
struct Dependencies<'o, 'a> {
    objects: &'o Objects<'a>,
    /// The namespace of the object.
    namespace: &'a str,
    /// Indexes of its dependencies.
    found: Vec<usize>,
}

/// Returns dependencies as pairs of indexes: the dependent first. May contain duplicates.
pub(crate) fn infer(resources: &[Resource]) -> Vec<(usize, usize)> {
    let mut objects = Objects { places: FxHashMap::default(), definitions: FxHashMap::default() };
    for (place, resource) in kubernetes(resources) {
        let object = &resource.attributes;
        let (group, kind) = kind_of(object);
        let metadata = &object["metadata"];
        objects
            .places
            .insert((group, kind, text(&metadata["namespace"]), text(&metadata["name"])), place);
        if kind == "CustomResourceDefinition" {
            let spec = &object["spec"];
            let defined = (text(&spec["group"]), text(&spec["names"]["kind"]));
            objects.definitions.insert(defined, place);
        }
    }
    let mut edges = hosts::infer(resources);
    for (place, resource) in kubernetes(resources) {
        let object = &resource.attributes;
        let namespace = text(&object["metadata"]["namespace"]);
        let mut needs = Dependencies { objects: &objects, namespace, found: Vec::new() };
        needs.object(object);
        edges.extend(needs.found.into_iter().filter(|to| *to != place).map(|to| (place, to)));
    }
    edges
}

fn kubernetes(resources: &[Resource]) -> impl Iterator<Item = (usize, &Resource)> {
    let is_object = |it: &&Resource| it.resource_type.as_str() == RESOURCE_TYPE;
    resources.iter().enumerate().filter(move |(_, resource)| is_object(resource))
}

fn kind_of(object: &Value) -> (&str, &str) {
    (split(text(&object["apiVersion"])).0, text(&object["kind"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

impl<'a> Dependencies<'_, 'a> {
    fn object(&mut self, object: &'a Value) {
        let (group, kind) = kind_of(object);
        if let Some(place) = self.objects.definitions.get(&(group, kind)) {
            self.found.push(*place);
        }
        if !self.namespace.is_empty() {
            self.add("", "Namespace", "", self.namespace);
        }
        let spec = &object["spec"];
        match (group, kind) {
            ("", "Pod") => self.pod(spec),
            ("", "PodTemplate") => self.pod(&object["template"]["spec"]),
            ("apps" | "extensions" | "batch" | "", "Deployment" | "ReplicaSet" | "DaemonSet")
            | ("batch", "Job")
            | ("", "ReplicationController") => self.pod(&spec["template"]["spec"]),
            ("apps", "StatefulSet") => {
                self.pod(&spec["template"]["spec"]);
                self.near("", "Service", &spec["serviceName"]);
                for claim in items(&spec["volumeClaimTemplates"]) {
                    self.claim(&claim["spec"]);
                }
            }
            ("batch", "CronJob") => self.pod(&spec["jobTemplate"]["spec"]["template"]["spec"]),
            ("", "PersistentVolumeClaim") => self.claim(spec),
            ("", "PersistentVolume") => self.storage_class(spec),
            ("", "ServiceAccount") => {
                for secret in items(&object["secrets"]).chain(items(&object["imagePullSecrets"])) {
                    self.near("", "Secret", &secret["name"]);
                }
            }
            ("", "Secret") => {
                let annotations = &object["metadata"]["annotations"];
                let account = &annotations["kubernetes.io/service-account.name"];
                self.near("", "ServiceAccount", account);
            }
            (RBAC, "RoleBinding" | "ClusterRoleBinding") => self.binding(object),
            ("networking.k8s.io" | "extensions", "Ingress") => self.ingress(spec),
            ("autoscaling", "HorizontalPodAutoscaler") => {
                let target = &spec["scaleTargetRef"];
                let (group, kind) = kind_of(target);
                self.near(group, kind, &target["name"]);
            }
            (
                "admissionregistration.k8s.io",
                "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
            ) => {
                for webhook in items(&object["webhooks"]) {
                    self.service(&webhook["clientConfig"]["service"]);
                }
            }
            ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => {
                let policy = text(&spec["policyName"]);
                self.add(group, "ValidatingAdmissionPolicy", "", policy);
            }
            ("apiregistration.k8s.io", "APIService") => self.service(&spec["service"]),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                self.service(&spec["conversion"]["webhook"]["clientConfig"]["service"]);
            }
            _ => {}
        }
    }

    fn binding(&mut self, object: &'a Value) {
        let role = &object["roleRef"];
        let name = text(&role["name"]);
        match text(&role["kind"]) {
            "ClusterRole" => self.add(RBAC, "ClusterRole", "", name),
            kind => self.add(RBAC, kind, self.namespace, name),
        }
        for subject in items(&object["subjects"]).filter(|it| it["kind"] == "ServiceAccount") {
            let namespace = subject["namespace"].as_str().unwrap_or(self.namespace);
            self.add("", "ServiceAccount", namespace, text(&subject["name"]));
        }
    }

    fn ingress(&mut self, spec: &'a Value) {
        let class = text(&spec["ingressClassName"]);
        self.add("networking.k8s.io", "IngressClass", "", class);
        for tls in items(&spec["tls"]) {
            self.near("", "Secret", &tls["secretName"]);
        }
        let rules = items(&spec["rules"]).flat_map(|rule| items(&rule["http"]["paths"]));
        let backends = rules.map(|path| &path["backend"]);
        for backend in backends.chain([&spec["defaultBackend"], &spec["backend"]]) {
            self.near("", "Service", &backend["service"]["name"]);
            self.near("", "Service", &backend["serviceName"]);
        }
    }

    fn service(&mut self, service: &'a Value) {
        self.add("", "Service", text(&service["namespace"]), text(&service["name"]));
    }

    fn claim(&mut self, spec: &'a Value) {
        self.storage_class(spec);
        self.add("", "PersistentVolume", "", text(&spec["volumeName"]));
    }

    fn storage_class(&mut self, spec: &'a Value) {
        self.add("storage.k8s.io", "StorageClass", "", text(&spec["storageClassName"]));
    }

    /// Adds a dependency on an object of the same namespace.
    fn near(&mut self, group: &'a str, kind: &'a str, name: &'a Value) {
        self.add(group, kind, self.namespace, text(name));
    }

    /// Adds a dependency on an object, if it is in the Spec.
    fn add(&mut self, group: &'a str, kind: &'a str, namespace: &'a str, name: &'a str) {
        if name.is_empty() {
            return;
        }
        self.found.extend(self.objects.places.get(&(group, kind, namespace, name)));
    }
}
