//! Copies the objects of a cluster into another one, to try changes on the copy.
//!
//! What the target creates by itself is left out: objects of controllers, of the server and of
//! nodes. Values of Secrets are replaced. Only the source's lists are read; nothing there changes.

use crate::calls::{Call, Calls};
use crate::clean;
use crate::connect::{self, ClusterSource, Options};
use crate::discovery::{Discovery, Served};
use crate::pages::{self, Listed};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use http::{Method, StatusCode};
use kusion_runtime::RuntimeError;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The form of objects.
const JSON: &str = "application/json";
/// Maximum number of objects that are copied.
const MAX_OBJECTS: usize = 100_000;
/// How often objects are tried that the target refused: others that they need may come later.
const PASSES: usize = 3;
/// What the values of Secrets are replaced by: `replaced`, in base64.
const REPLACED: &str = "cmVwbGFjZWQ=";
/// The same where the value must be the credentials of a registry: `{"auths":{}}`.
const NO_REGISTRIES: &str = "eyJhdXRocyI6e319";

/// Kinds that a cluster makes by itself, or that mean its machines, and the group of each.
const SKIPPED: &[(&str, &str)] = &[
    ("", "Event"),
    ("", "Endpoints"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiregistration.k8s.io", "APIService"),
    ("apps", "ControllerRevision"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("coordination.k8s.io", "Lease"),
    ("coordination.k8s.io", "LeaseCandidate"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("metrics.k8s.io", "NodeMetrics"),
    ("metrics.k8s.io", "PodMetrics"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("resource.k8s.io", "ResourceSlice"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "CSIStorageCapacity"),
    ("storage.k8s.io", "VolumeAttachment"),
];

/// Namespaces of the cluster itself, copied only by name.
const OF_SYSTEM: &[&str] = &["kube-system", "kube-public", "kube-node-lease"];

/// The kinds that others need, first to last.
const FIRST: &[&str] =
    &["CustomResourceDefinition", "Namespace", "PriorityClass", "ServiceAccount"];

/// The result of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of objects in the target.
    pub objects: usize,
    /// Kinds that the user may not list in the source.
    pub forbidden: Vec<String>,
    /// Objects that the target refused, with its message.
    pub refused: Vec<(String, String)>,
}

/// Copies objects from one cluster to another: those of the given namespaces, or of all but those
/// of the system, and those without a namespace.
///
/// # Errors
/// One of the clusters cannot be reached, or the source has too many objects.
pub async fn copy(
    source: &ClusterSource,
    target: &ClusterSource,
    namespaces: &[String],
) -> Result<Copied, RuntimeError> {
    let source = Cluster::connect(source).await?;
    let target = Cluster::connect(target).await?;
    let mut copied = Copied::default();
    let mut objects = source.objects(namespaces, &mut copied.forbidden).await?;
    let rank = |kind: &str| FIRST.iter().position(|it| *it == kind).unwrap_or(FIRST.len());
    objects.sort_by_cached_key(|it| rank(kind(it)));
    let n_objects = objects.len();
    for _ in 0..PASSES {
        let mut refused = Vec::new();
        copied.refused.clear();
        for object in objects {
            if let Err(message) = target.create(&object).await? {
                copied.refused.push((title(&object), message));
                refused.push(object);
            }
        }
        objects = refused;
        if objects.is_empty() {
            break;
        }
    }
    copied.objects = n_objects - objects.len();
    Ok(copied)
}

/// A connection without a stack.
struct Cluster {
    calls: Calls,
    discovery: Discovery,
    parallel_calls: usize,
    /// The objects that were read.
    n_objects: AtomicUsize,
}

/// The objects of a kind.
enum Kind {
    Objects(Vec<Value>),
    /// The user may not list the kind of this plural name.
    Forbidden(String),
}

impl Cluster {
    async fn connect(source: &ClusterSource) -> Result<Self, RuntimeError> {
        let options = Options::default();
        let calls = Calls::new(connect::connect(source).await?, &options);
        let parallel_calls = options.parallel_calls;
        let (discovery, n_objects) = (Discovery::default(), AtomicUsize::new(0));
        Ok(Self { calls, discovery, parallel_calls, n_objects })
    }

    /// Reads the objects that are copied, without what their server manages.
    async fn objects(
        &self,
        namespaces: &[String],
        forbidden: &mut Vec<String>,
    ) -> Result<Vec<Value>, RuntimeError> {
        let kinds = self.discovery.listed(&self.calls).await?;
        let kinds = kinds.into_iter().filter(|it| !is_skipped(it));
        let lists: Vec<Kind> = stream::iter(kinds)
            .map(|served| self.list(served, namespaces))
            .buffered(self.parallel_calls)
            .try_collect()
            .await?;
        let mut found = Vec::new();
        for kind in lists {
            match kind {
                Kind::Objects(objects) => found.extend(objects),
                Kind::Forbidden(plural) => forbidden.push(plural),
            }
        }
        let text = |it: &Value, at: &str| it.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let uids: HashSet<String> =
            found.iter().filter_map(|it| text(it, "/metadata/uid")).collect();
        Ok(found.iter().filter(|it| !is_made_by_cluster(it, &uids)).map(portable).collect())
    }

    /// Lists the objects of a kind in some namespaces.
    async fn list(&self, served: Arc<Served>, namespaces: &[String]) -> Result<Kind, RuntimeError> {
        let everywhere = [String::new()];
        let is_narrow = served.namespaced && !namespaces.is_empty();
        let mut found = Vec::new();
        for namespace in if is_narrow { namespaces } else { &everywhere } {
            let path = served.collection(namespace);
            let Listed::Objects(objects) = pages::list(&self.calls, &path, JSON).await? else {
                return Ok(Kind::Forbidden(served.plural.clone()));
            };
            found.extend(objects);
        }
        let kept = found.into_iter().filter(|it| is_wanted(it, &served, namespaces));
        let mut kept: Vec<Value> = kept.collect();
        for object in &mut kept {
            object["apiVersion"] = served.api_version.as_str().into();
            object["kind"] = served.kind.as_str().into();
        }
        self.add(kept.len())?;
        Ok(Kind::Objects(kept))
    }

    /// Counts objects that are copied.
    fn add(&self, count: usize) -> Result<(), RuntimeError> {
        let before = self.n_objects.fetch_add(count, Ordering::Relaxed);
        if before + count <= MAX_OBJECTS {
            return Ok(());
        }
        let message = format!("the cluster has more than {MAX_OBJECTS} objects to copy");
        Err(RuntimeError::Invalid(message))
    }

    /// Creates an object; the inner error is the message of a refusal. One that exists stays.
    async fn create(&self, object: &Value) -> Result<Result<(), String>, RuntimeError> {
        let (api_version, name) = (text(object, "/apiVersion"), kind(object));
        let Some(served) = self.discovery.find(&self.calls, api_version, name).await? else {
            return Ok(Err(format!("the kind {name} of {api_version} is not known")));
        };
        let path = served.collection(text(object, "/metadata/namespace"));
        let body = object.to_string().into_bytes();
        let call = Call::with_body(Method::POST, path, JSON, body);
        let answer = self.calls.send(call).await?;
        if answer.status == StatusCode::CONFLICT {
            return Ok(Ok(()));
        }
        Ok(answer.success().map(drop).map_err(|error| error.to_string()))
    }
}

fn text<'a>(object: &'a Value, at: &str) -> &'a str {
    object.pointer(at).and_then(Value::as_str).unwrap_or_default()
}

fn kind(object: &Value) -> &str {
    text(object, "/kind")
}

/// Returns how messages name an object.
fn title(object: &Value) -> String {
    let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    format!("{} {place}{name}", kind(object))
}

fn is_skipped(served: &Served) -> bool {
    let group = served.api_version.split_once('/').map_or("", |(group, _)| group);
    SKIPPED.contains(&(group, served.kind.as_str()))
}

/// Returns whether an object is in the requested part of the cluster.
fn is_wanted(object: &Value, served: &Served, namespaces: &[String]) -> bool {
    let place = match (served.namespaced, served.kind.as_str()) {
        (true, _) => text(object, "/metadata/namespace"),
        (false, "Namespace") => text(object, "/metadata/name"),
        (false, _) => return true,
    };
    if namespaces.is_empty() {
        !OF_SYSTEM.contains(&place)
    } else {
        namespaces.iter().any(|it| it == place)
    }
}

/// Returns whether the target makes the object by itself, or it is about to go.
fn is_made_by_cluster(object: &Value, uids: &HashSet<String>) -> bool {
    let name = text(object, "/metadata/name");
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_owned = owners.into_iter().flatten().any(|it| {
        it["controller"] == true && it["uid"].as_str().is_some_and(|uid| uids.contains(uid))
    });
    let is_default = match kind(object) {
        "ConfigMap" => name == "kube-root-ca.crt",
        "ServiceAccount" => name == "default",
        "Secret" => text(object, "/type") == "kubernetes.io/service-account-token",
        "Service" => name == "kubernetes" && text(object, "/metadata/namespace") == "default",
        _ => object.pointer("/metadata/labels/kubernetes.io~1bootstrapping").is_some(),
    };
    is_owned || is_default || object.pointer("/metadata/deletionTimestamp").is_some()
}

/// Returns what a new object of this content is created from.
fn portable(object: &Value) -> Value {
    let mut copy = clean::comparable(object);
    if let Some(metadata) = copy.get_mut("metadata").and_then(Value::as_object_mut) {
        // Owners have other uids in the copy, and nobody there removes finalizers.
        metadata.remove("ownerReferences");
        metadata.remove("finalizers");
    }
    match kind(object) {
        "Secret" => redact(&mut copy),
        "Service" => forget(&mut copy, &["clusterIP", "clusterIPs", "healthCheckNodePort"]),
        "PersistentVolumeClaim" => forget(&mut copy, &["volumeName"]),
        "Pod" => forget(&mut copy, &["nodeName"]),
        "Namespace" => forget(&mut copy, &["finalizers"]),
        "Job" if copy.pointer("/spec/manualSelector") != Some(&Value::Bool(true)) => {
            forget(&mut copy, &["selector"]);
            let labels = copy.pointer_mut("/spec/template/metadata/labels");
            if let Some(labels) = labels.and_then(Value::as_object_mut) {
                labels.retain(|name, _| !name.ends_with("controller-uid"));
            }
        }
        _ => {}
    }
    copy
}

/// Removes fields of the spec that a server chose. A service without an address stays without.
fn forget(object: &mut Value, fields: &[&str]) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let is_headless = spec.get("clusterIP").is_some_and(|it| it == "None");
    spec.retain(|name, _| {
        !fields.contains(&name.as_str()) || (is_headless && name.starts_with("clusterIP"))
    });
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.remove("nodePort");
    }
}

/// Replaces the values of a Secret; its keys stay.
fn redact(secret: &mut Value) {
    let data: Map<String, Value> = secret
        .get("data")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, _)| {
            let value = if key == ".dockerconfigjson" { NO_REGISTRIES } else { REPLACED };
            (key.clone(), json!(value))
        })
        .collect();
    secret["data"] = data.into();
    let Some(metadata) = secret.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    // Tools keep values there, too.
    metadata.remove("annotations");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_replaced() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "a", "uid": "1", "annotations": {"x": "canary"}},
            "data": {"password": "Y2FuYXJ5", ".dockerconfigjson": "Y2FuYXJ5"}});
        let copy = portable(&secret);
        assert_eq!(copy["data"], json!({"password": REPLACED, ".dockerconfigjson": NO_REGISTRIES}));
        assert!(!copy.to_string().contains("canary") && !copy.to_string().contains("Y2FuYXJ5"));
        assert_eq!(copy["metadata"], json!({"name": "a"}));
    }

    #[test]
    fn fields_that_a_server_chose_are_left_out() {
        let service = |address: &str| {
            json!({"kind": "Service", "metadata": {"name": "a", "finalizers": ["x"]},
                "spec": {"clusterIP": address, "clusterIPs": [address], "type": "NodePort",
                    "ports": [{"port": 80, "nodePort": 30080}]}, "status": {}})
        };
        assert_eq!(
            portable(&service("10.0.0.1")),
            json!({"kind": "Service", "metadata": {"name": "a"},
                "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
        );
        assert_eq!(portable(&service("None"))["spec"]["clusterIP"], "None");
        let job = json!({"kind": "Job", "metadata": {"name": "a"}, "spec": {
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}},
            "template": {"metadata": {"labels": {"controller-uid": "1", "app": "x"}}}}});
        assert_eq!(
            portable(&job)["spec"],
            json!({"template": {"metadata": {"labels": {"app": "x"}}}})
        );
    }

    #[test]
    fn objects_of_controllers_and_of_the_cluster_are_left_out() {
        let uids = HashSet::from(["set".to_owned()]);
        let is_made = |object: Value| is_made_by_cluster(&object, &uids);
        let owned = |uid: &str| {
            json!({"kind": "Pod", "metadata": {"name": "a",
                "ownerReferences": [{"controller": true, "uid": uid}]}})
        };
        assert!(is_made(owned("set")));
        assert!(!is_made(owned("gone")), "its owner is not copied");
        assert!(is_made(json!({"kind": "ServiceAccount", "metadata": {"name": "default"}})));
        assert!(!is_made(json!({"kind": "ServiceAccount", "metadata": {"name": "web"}})));
        assert!(is_made(json!({"kind": "ClusterRole", "metadata": {"name": "admin",
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}})));
        assert!(is_made(json!({"kind": "ConfigMap", "metadata": {"name": "a",
            "deletionTimestamp": "2026-01-01T00:00:00Z"}})));
    }
}
