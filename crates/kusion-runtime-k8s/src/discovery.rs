//! Discovery: the kinds of the server and their paths.

use crate::calls::{Call, Calls, push_escaped};
use crate::key::ObjectKey;
use crate::requires;
use base_text::nearest;
use futures::stream::{self, StreamExt as _};
use kusion_runtime::RuntimeError;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// One served kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Served {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
    pub(crate) can_list: bool,
    pub(crate) can_watch: bool,
    pub(crate) can_delete: bool,
}

impl Served {
    /// Returns the path of a collection; an empty namespace means all.
    pub(crate) fn collection(&self, namespace: &str) -> String {
        let root = if self.api_version.contains('/') { "/apis/" } else { "/api/" };
        let mut path = format!("{root}{}", self.api_version);
        if self.namespaced && !namespace.is_empty() {
            path.push_str("/namespaces/");
            push_escaped(&mut path, namespace);
        }
        path.push('/');
        path.push_str(&self.plural);
        path
    }

    /// Returns the path of an object.
    pub(crate) fn object(&self, key: &ObjectKey) -> String {
        let mut path = self.collection(&key.namespace);
        path.push('/');
        push_escaped(&mut path, &key.name);
        path
    }
}

/// All served kinds, by group-version and kind.
type Kinds = HashMap<(String, String), Arc<Served>>;

/// A cache of the kinds of the server; read on first use, and again when a kind is unknown.
#[derive(Default)]
pub(crate) struct Discovery {
    kinds: Mutex<Option<Arc<Kinds>>>,
    asking: tokio::sync::Mutex<()>,
}

impl Discovery {
    /// Finds a kind; reads discovery again if the kind is unknown.
    pub(crate) async fn find(
        &self,
        calls: &Calls,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Arc<Served>>, RuntimeError> {
        let wanted = (api_version.to_owned(), kind.to_owned());
        let known = self.known();
        if let Some(kinds) = &known
            && let Some(served) = kinds.get(&wanted)
        {
            return Ok(Some(Arc::clone(served)));
        }
        let kinds = self.refresh(calls, known.as_ref()).await?;
        Ok(kinds.get(&wanted).cloned())
    }

    /// Finds a kind among those that were already read.
    pub(crate) async fn find_known(
        &self,
        calls: &Calls,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Arc<Served>>, RuntimeError> {
        let kinds = match self.known() {
            Some(kinds) => kinds,
            None => self.refresh(calls, None).await?,
        };
        Ok(kinds.get(&(api_version.to_owned(), kind.to_owned())).cloned())
    }

    /// Returns a kind; fails if it is unknown.
    pub(crate) async fn require(
        &self,
        calls: &Calls,
        api_version: &str,
        kind: &str,
    ) -> Result<Arc<Served>, RuntimeError> {
        let missing = || RuntimeError::Missing(requires::kind(api_version, kind));
        self.find(calls, api_version, kind).await?.ok_or_else(missing)
    }

    /// Returns a kind that is similar to an unknown one, with its group if that is another one.
    pub(crate) fn similar_kind(&self, kind: &str, group: &str) -> Option<String> {
        let kinds = self.known()?;
        let of = |served: &Served| {
            let group = served.api_version.split_once('/').map_or("", |(group, _)| group);
            (served.kind.clone(), group.to_owned())
        };
        let all: BTreeSet<(String, String)> = kinds.values().map(|it| of(it)).collect();
        let in_group = all.iter().filter(|it| it.1 == group).map(|it| it.0.as_str());
        if let Some(similar) = nearest(kind, in_group) {
            return Some(similar.to_owned());
        }
        // The name is right, and the group is not.
        let (kind, group) = all.iter().find(|it| it.0 == kind)?;
        Some(if group.is_empty() { format!("{kind} of v1") } else { format!("{kind}.{group}") })
    }

    /// Returns the kinds of objects that are stored in namespaces, each in one version. The kinds
    /// are read again, since new ones may exist.
    pub(crate) async fn listed_in_namespaces(
        &self,
        calls: &Calls,
    ) -> Result<Vec<Arc<Served>>, RuntimeError> {
        let mut kinds = self.listed(calls).await?;
        kinds.retain(|it| it.namespaced);
        Ok(kinds)
    }

    /// Returns the kinds of stored objects, each in one version. The kinds are read again, since
    /// new ones may exist.
    pub(crate) async fn listed(&self, calls: &Calls) -> Result<Vec<Arc<Served>>, RuntimeError> {
        let kinds = self.refresh(calls, self.known().as_ref()).await?;
        let mut by_collection: BTreeMap<(&str, &str), &Arc<Served>> = BTreeMap::new();
        for served in kinds.values().filter(|it| it.can_list && it.can_delete) {
            let group = served.api_version.split_once('/').map_or("", |(group, _)| group);
            let slot = by_collection.entry((group, &served.plural)).or_insert(served);
            if stability(&served.api_version) > stability(&slot.api_version) {
                *slot = served;
            }
        }
        Ok(by_collection.into_values().cloned().collect())
    }

    fn known(&self) -> Option<Arc<Kinds>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the kinds from the server, unless another task has done so since `old` was read.
    async fn refresh(
        &self,
        calls: &Calls,
        old: Option<&Arc<Kinds>>,
    ) -> Result<Arc<Kinds>, RuntimeError> {
        let _turn = self.asking.lock().await;
        if let Some(known) = self.known()
            && old.is_none_or(|old| !Arc::ptr_eq(old, &known))
        {
            return Ok(known);
        }
        let kinds = Arc::new(ask(calls).await?);
        *self.kinds.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&kinds));
        Ok(kinds)
    }
}

/// Orders the versions of a group: stable ones are the greatest, then the later ones.
fn stability(api_version: &str) -> (bool, bool, &str) {
    let is = |word: &str| api_version.contains(word);
    (!is("alpha") && !is("beta"), !is("alpha"), api_version)
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

async fn ask(calls: &Calls) -> Result<Kinds, RuntimeError> {
    let mut kinds = Kinds::new();
    let (core, groups) = futures::join!(one(calls, "/api"), one(calls, "/apis"));
    let mut legacy = Vec::new();
    for (document, is_core) in [(core?, true), (groups?, false)] {
        if document.kind == "APIGroupDiscoveryList" {
            document.aggregated(&mut kinds);
        } else if is_core {
            legacy.extend(document.versions.iter().map(|version| (true, version.clone())));
        } else {
            let versions = document.groups.into_iter().flat_map(|group| group.versions);
            legacy.extend(versions.map(|version| (false, version.group_version)));
        }
    }
    let answers: Vec<_> = stream::iter(legacy)
        .map(|(is_core, version)| async move {
            let root = if is_core { "/api/" } else { "/apis/" };
            (one(calls, &format!("{root}{version}")).await, version)
        })
        .buffered(16)
        .collect()
        .await;
    for (document, version) in answers {
        // A group whose API server is unavailable does not affect the others.
        if let Ok(document) = document {
            document.legacy(&version, &mut kinds);
        }
    }
    Ok(kinds)
}

async fn one(calls: &Calls, path: &str) -> Result<Document, RuntimeError> {
    let call = Call { accept: AGGREGATED, ..Call::get(path.to_owned()) };
    let answer = calls.send(call).await?.success()?;
    serde_json::from_slice(&answer.body)
        .map_err(|error| calls.lost(&format!("cannot read `{path}`: {error}")))
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<Group>,
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    groups: Vec<LegacyGroup>,
    #[serde(default)]
    resources: Vec<LegacyResource>,
}

#[derive(Deserialize)]
struct Group {
    metadata: GroupMetadata,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct GroupMetadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(rename = "resource")]
    plural: String,
    #[serde(default)]
    response_kind: Option<Kind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

#[derive(Deserialize)]
struct LegacyGroup {
    #[serde(default)]
    versions: Vec<LegacyVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyVersion {
    group_version: String,
}

#[derive(Deserialize)]
struct LegacyResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

impl Document {
    fn aggregated(self, kinds: &mut Kinds) {
        for group in self.items {
            for version in group.versions {
                let api_version = if group.metadata.name.is_empty() {
                    version.version
                } else {
                    format!("{}/{}", group.metadata.name, version.version)
                };
                for resource in version.resources {
                    let Some(kind) = resource.response_kind else { continue };
                    let namespaced = resource.scope == "Namespaced";
                    let plural = resource.plural;
                    add(kinds, &api_version, kind.kind, plural, namespaced, &resource.verbs);
                }
            }
        }
    }

    fn legacy(self, api_version: &str, kinds: &mut Kinds) {
        for resource in self.resources {
            if !resource.name.contains('/') {
                let LegacyResource { name, kind, namespaced, verbs } = resource;
                add(kinds, api_version, kind, name, namespaced, &verbs);
            }
        }
    }
}

fn add(
    kinds: &mut Kinds,
    api_version: &str,
    kind: String,
    plural: String,
    namespaced: bool,
    verbs: &[String],
) {
    let has = |verb: &str| verbs.iter().any(|it| it == verb);
    let served = Served {
        api_version: api_version.to_owned(),
        kind: kind.clone(),
        plural,
        namespaced,
        can_list: has("list"),
        can_watch: has("watch"),
        can_delete: has("delete"),
    };
    // Some kinds are served twice; the one that can be read is used.
    let slot = kinds.entry((api_version.to_owned(), kind));
    slot.and_modify(|known| {
        if !known.can_list && served.can_list {
            *known = Arc::new(served.clone());
        }
    })
    .or_insert_with(|| Arc::new(served));
}
