//! The resources that are served: the built-in ones and those of CRDs.

use crate::Status;
use crate::api::Resource;
use crate::store::{Store, TableId};
use rustc_hash::FxHashMap;
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
    /// `deployment`.
    pub(crate) singular: Arc<str>,
    /// `deploy`.
    pub(crate) short_names: Vec<Arc<str>>,
    /// `all`.
    pub(crate) categories: Vec<Arc<str>>,
    /// Whether objects live in namespaces.
    pub(crate) namespaced: bool,
    /// `status`, `scale` …
    pub(crate) subresources: Vec<Arc<str>>,
    /// Group, version and plural under which objects are stored.
    pub(crate) storage: Resource,
    /// Where they are stored; none when the resource only answers (reviews).
    pub(crate) table: Option<TableId>,
    /// Whether it comes from a CRD.
    pub(crate) custom: bool,
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

    /// Returns the key of an object.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }

    /// Returns whether objects are stored as they are served.
    pub(crate) fn is_storage(&self) -> bool {
        self.resource == self.storage
    }

    /// There is no object of this name.
    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.resource.group, &self.resource.plural, name)
    }

    /// Returns whether it is a kind of Kubernetes itself and not one of a CRD.
    pub(crate) fn is_builtin(&self) -> bool {
        !self.custom
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
        for line in include_str!("registry_seed.txt").lines() {
            if let Some(served) = seed(line, store) {
                registry.add(served);
            }
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

    /// Returns all resources, sorted by group, version and plural.
    pub(crate) fn all(&self) -> Vec<Arc<Served>> {
        let map = self.by_path.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = map.values().cloned().collect();
        all.sort_by(|a, b| a.resource.cmp(&b.resource));
        all
    }
}

fn seed(line: &str, store: &Store) -> Option<Served> {
    let words: Vec<&str> = line.split(' ').collect();
    let [group, version, plural, kind, scope, singular, short, categories, subresources, stored] =
        words[..]
    else {
        return None;
    };
    let list = |text: &str| -> Vec<Arc<str>> {
        text.split(',').filter(|it| *it != "-").map(Arc::from).collect()
    };
    let group = if group == "-" { "" } else { group };
    let resource = Resource::new(group, version, plural);
    let storage = match (group, plural) {
        ("events.k8s.io", _) => Resource::new("", "v1", plural),
        ("autoscaling", _) => Resource::new(group, "v2", plural),
        _ => resource.clone(),
    };
    let table = (stored == "l").then(|| store.table(&storage));
    Some(Served {
        resource,
        kind: kind.into(),
        list_kind: format!("{kind}List").into(),
        singular: singular.into(),
        short_names: list(short),
        categories: list(categories),
        namespaced: scope == "n",
        subresources: list(subresources),
        storage,
        table,
        custom: false,
    })
}
