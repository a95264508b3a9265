//! The resources that are served: the built-in ones and those of CRDs.

use crate::Status;
use crate::api::Resource;
use crate::store::{Store, Stored, TableId};
use crate::table::custom::Column;
use kusion_k8s_merge::Typed;

use kusion_k8s_schema::{ResourceInfo, Structural};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};

/// One resource in one version.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    /// Group, version and plural under which it is served.
    pub(crate) resource: Resource,
    /// `Deployment`.
    pub(crate) kind: Arc<str>,
    /// `DeploymentList`.
    pub(crate) list_kind: Arc<str>,
    /// Whether objects live in namespaces.
    pub(crate) namespaced: bool,
    /// What can be done with it.
    pub(crate) verbs: Vec<Arc<str>>,
    /// `status`, `scale` …
    pub(crate) subresources: Vec<Arc<str>>,
    /// Group, version and plural under which objects are stored.
    pub(crate) storage: Resource,
    /// Where they are stored; none when the resource only answers (reviews).
    pub(crate) table: Option<TableId>,
    /// What the built-in table says of it; none when it comes from a CRD.
    pub(crate) info: Option<&'static ResourceInfo>,
    /// What its CRD says of it; none when it is built in.
    pub(crate) custom: Option<Arc<Custom>>,
}

/// One version of a custom kind.
#[derive(Debug)]
pub(crate) struct Custom {
    /// As discovery shows it.
    pub(crate) info: ResourceInfo,
    /// `openAPIV3Schema`.
    pub(crate) schema: Value,
    /// The same, ready for use.
    pub(crate) structural: Structural,
    /// Printer columns.
    pub(crate) columns: Vec<Column>,
    /// Where the scale subresource looks.
    pub(crate) scale: Option<ScalePaths>,
    /// Paths of selectable fields (`.spec.color`).
    pub(crate) selectable: Vec<String>,
    /// The revision at which this version of the definition came into force: older objects may
    /// lack its defaults.
    pub(crate) since: u64,
    /// The warning about requests for this version, if it is deprecated.
    pub(crate) deprecation: Option<Box<str>>,
    /// The generation of the definition.
    pub(crate) generation: Option<i64>,
    /// The name of the definition.
    pub(crate) definition: Box<str>,
}

/// Where the scale subresource of a custom kind looks, as keys.
#[derive(Debug, Clone)]
pub(crate) struct ScalePaths {
    pub(crate) spec: Vec<String>,
    pub(crate) status: Vec<String>,
    pub(crate) selector: Vec<String>,
}

impl Served {
    /// Returns `apps/v1`, or `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        self.resource.api_version()
    }

    /// Returns the table, or the answer when the resource holds no objects.
    pub(crate) fn table(&self) -> Result<TableId, Status> {
        self.table.ok_or_else(Status::method_not_allowed)
    }

    /// Returns whether there is a subresource of a name.
    pub(crate) fn has(&self, subresource: &str) -> bool {
        self.subresources.iter().any(|it| **it == *subresource)
    }

    /// Returns the type of its objects.
    pub(crate) fn typed(&self) -> Option<Typed<'_>> {
        if let Some(custom) = &self.custom {
            return Some(Typed::new(&custom.structural.types, custom.structural.root));
        }
        Some(Typed::new(&kusion_k8s_schema::builtin().types, self.info?.ty))
    }

    /// Returns whether a verb is served on it.
    pub(crate) fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|it| **it == *verb)
    }

    /// Returns the key of an object.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }

    /// Returns whether objects are stored in the version in which they are served.
    pub(crate) fn is_storage(&self) -> bool {
        self.resource == self.storage
    }

    /// Returns whether a stored object is served as it is.
    pub(crate) fn is_plain(&self, stored: &Stored) -> bool {
        self.is_storage()
            && self.custom.as_ref().is_none_or(|custom| custom.since <= stored.revision)
    }

    /// There is no object of this name.
    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.resource.group, &self.resource.plural, name)
    }

    /// Returns whether it is a kind of Kubernetes itself and not one of a CRD.
    pub(crate) fn is_builtin(&self) -> bool {
        self.info.is_some()
    }

    /// Returns whether it is a certain resource.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        *self.resource.group == *group && *self.resource.plural == *plural
    }
}

/// All served resources.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    by_path: RwLock<FxHashMap<String, Arc<Served>>>,
}

fn path(group: &str, version: &str, plural: &str) -> String {
    format!("{group}/{version}/{plural}")
}

impl Registry {
    /// Makes the registry of the built-in resources.
    pub(crate) fn new(store: &Store) -> Self {
        let registry = Self::default();
        for info in &kusion_k8s_schema::builtin().resources {
            registry.add(builtin(info, store));
        }
        registry
    }

    /// Serves a resource.
    pub(crate) fn add(&self, served: Served) {
        let resource = &served.resource;
        let path = path(&resource.group, &resource.version, &resource.plural);
        let mut map = self.by_path.write().unwrap_or_else(PoisonError::into_inner);
        map.insert(path, Arc::new(served));
    }

    /// Finds a resource.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Served>> {
        let map = self.by_path.read().unwrap_or_else(PoisonError::into_inner);
        map.get(&path(group, version, plural)).cloned()
    }

    /// Finds the resource of a kind; any version of the group when the named one is not served.
    pub(crate) fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Served>> {
        let mut other = None;
        for served in self.all() {
            if *served.resource.group == *group && *served.kind == *kind {
                if *served.resource.version == *version {
                    return Some(served);
                }
                other = Some(served);
            }
        }
        other
    }

    /// Returns the other versions of a kind, when there are any.
    pub(crate) fn siblings(&self, served: &Served) -> Vec<Arc<Served>> {
        if served.is_builtin()
            && !served.is("autoscaling", "horizontalpodautoscalers")
            && &*served.resource.plural != "events"
        {
            return Vec::new();
        }
        let map = self.by_path.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<_> = map
            .values()
            .filter(|it| it.table.is_some() && it.table == served.table)
            .cloned()
            .collect();
        found.sort_by(|a, b| a.resource.cmp(&b.resource));
        found
    }

    /// Returns whether a version of a group is served.
    pub(crate) fn has_version(&self, group: &str, version: &str) -> bool {
        let map = self.by_path.read().unwrap_or_else(PoisonError::into_inner);
        map.values().any(|it| *it.resource.group == *group && *it.resource.version == *version)
    }

    /// Returns the resources of CRDs, for discovery.
    pub(crate) fn custom(&self) -> Vec<ResourceInfo> {
        self.all().iter().filter_map(|it| it.custom.as_ref()).map(|it| it.info.clone()).collect()
    }

    /// Serves these versions of a custom kind and no others.
    pub(crate) fn replace_custom(&self, group: &str, plural: &str, versions: Vec<Served>) {
        let mut map = self.by_path.write().unwrap_or_else(PoisonError::into_inner);
        map.retain(|_, it| it.custom.is_none() || !it.is(group, plural));
        for served in versions {
            let resource = &served.resource;
            let path = path(&resource.group, &resource.version, &resource.plural);
            map.insert(path, Arc::new(served));
        }
    }

    /// Returns any version of a custom kind.
    pub(crate) fn any_custom(&self, group: &str, plural: &str) -> Option<Arc<Served>> {
        self.all().into_iter().find(|it| it.custom.is_some() && it.is(group, plural))
    }

    /// Returns the generation of the definition that a custom kind is served by.
    pub(crate) fn custom_generation(&self, group: &str, plural: &str) -> Option<i64> {
        self.any_custom(group, plural)?.custom.as_ref()?.generation
    }

    /// Returns all resources, sorted by group, version and plural.
    pub(crate) fn all(&self) -> Vec<Arc<Served>> {
        let map = self.by_path.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = map.values().cloned().collect();
        all.sort_by(|a, b| a.resource.cmp(&b.resource));
        all
    }
}

/// Makes the entry of a built-in resource.
fn builtin(info: &'static ResourceInfo, store: &Store) -> Served {
    let arcs =
        |list: &[Box<str>]| -> Vec<Arc<str>> { list.iter().map(|it| Arc::from(&**it)).collect() };
    let resource = Resource::new(&info.group, &info.version, &info.plural);
    let storage = if info.storage_version.is_empty() {
        resource.clone()
    } else {
        Resource::new(&info.storage_group, &info.storage_version, &info.plural)
    };
    let is_stored = info.has_verb("list") && info.has_verb("create");
    Served {
        table: is_stored.then(|| store.table(&storage)),
        kind: (*info.kind).into(),
        list_kind: format!("{}List", info.kind).into(),
        namespaced: info.namespaced,
        verbs: arcs(&info.verbs),
        subresources: info.subresources.iter().map(|sub| Arc::from(&*sub.name)).collect(),
        info: Some(info),
        custom: None,
        resource,
        storage,
    }
}
