//! The objects in a namespace.

use crate::discovery::Served;
use crate::key::ObjectKey;
use crate::owner;
use crate::pages::{self, Listed};
use crate::runtime::KubernetesRuntime;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use kusion_model::ResourceState;
use kusion_runtime::{Content, RuntimeError};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// Requests metadata only.
const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/// Kinds that the cluster creates by itself for other objects.
const OF_CLUSTER: &[&str] = &["Event", "Lease", "Endpoints", "EndpointSlice"];
/// Objects that the cluster creates in every namespace.
const IN_EVERY_NAMESPACE: &[(&str, &str)] =
    &[("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")];

/// Lists the objects in a namespace, except those of the cluster and those that are owned by
/// others in the namespace.
pub(crate) async fn contents(
    runtime: &KubernetesRuntime,
    container: &ResourceState,
) -> Result<Vec<Content>, RuntimeError> {
    let Some(key) = ObjectKey::parse(&container.identity.key) else { return Ok(Vec::new()) };
    if key.kind != "Namespace" || key.api_version != "v1" {
        return Ok(Vec::new());
    }
    let kinds = runtime.discovery.listed_in_namespaces(&runtime.calls).await?;
    let kinds = kinds.into_iter().filter(|it| !OF_CLUSTER.contains(&it.kind.as_str()));
    let lists: Vec<Vec<Found>> = stream::iter(kinds)
        .map(|served| list(runtime, served, &key.name))
        .buffered(runtime.options.parallel_calls.max(1))
        .try_collect()
        .await?;
    let found: Vec<Found> = lists.into_iter().flatten().collect();
    let uids: HashSet<&str> = found.iter().filter_map(Found::uid).collect();
    let is_own = |it: &&Found| !it.owners.iter().any(|owner| uids.contains(owner.as_str()));
    Ok(found.iter().filter(is_own).map(|it| it.content.clone()).collect())
}

/// An object in the namespace, with the uids of its owners.
struct Found {
    content: Content,
    owners: Vec<String>,
}

impl Found {
    fn uid(&self) -> Option<&str> {
        self.content.identity.as_ref()?.uid.as_deref()
    }
}

/// Lists the objects of a kind. A kind that the user may not list is one entry without identity.
async fn list(
    runtime: &KubernetesRuntime,
    served: Arc<Served>,
    namespace: &str,
) -> Result<Vec<Found>, RuntimeError> {
    let path = served.collection(namespace);
    match pages::list::<Item>(&runtime.calls, &path, METADATA).await? {
        Listed::Objects(items) => {
            Ok(items.into_iter().filter_map(|it| it.metadata.found(&served)).collect())
        }
        Listed::Forbidden => {
            let name = format!("all {} (listing them is forbidden)", served.plural);
            let content = Content { name, identity: None, owner: None };
            Ok(vec![Found { content, owners: Vec::new() }])
        }
    }
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    uid: String,
    #[serde(default)]
    owner_references: Vec<OwnerReference>,
    #[serde(default)]
    annotations: Option<Map<String, Value>>,
    #[serde(default)]
    labels: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct OwnerReference {
    uid: String,
}

impl Metadata {
    fn found(self, served: &Served) -> Option<Found> {
        let kind = served.kind.as_str();
        if IN_EVERY_NAMESPACE.contains(&(kind, self.name.as_str())) {
            return None;
        }
        let key = ObjectKey {
            api_version: served.api_version.clone(),
            kind: kind.to_owned(),
            namespace: self.namespace,
            name: self.name,
        };
        let content = Content {
            name: format!("{kind} {}", key.name),
            identity: Some(key.identity(Some(self.uid))),
            owner: owner::of_marks(self.annotations.as_ref(), self.labels.as_ref()),
        };
        Some(Found {
            content,
            owners: self.owner_references.into_iter().map(|it| it.uid).collect(),
        })
    }
}
