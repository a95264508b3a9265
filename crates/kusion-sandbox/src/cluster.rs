//! The state of a cluster and how it is read; how it is written is in `write`.

use crate::Status;
use crate::api::{Api, Resource, Scope, Selection};
use crate::registry::{Registry, Served};
use crate::selector::{FieldSelector, LabelSelector};
use crate::store::{Journal, Store, Stored};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

/// Everything a cluster is.
#[derive(Debug)]
pub(crate) struct Cluster {
    own: Weak<Cluster>,
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    /// The addresses and ports that services have.
    pub(crate) services: crate::lifecycle::services::Allocator,
    /// Policies and webhooks.
    pub(crate) hooks: crate::admission::Hooks,
    /// How often all watches were cut.
    pub(crate) cuts: tokio::sync::watch::Sender<u64>,
}

impl Cluster {
    /// Makes a cluster without objects.
    pub(crate) fn new() -> Arc<Self> {
        let store = Store::default();
        let registry = Registry::new(&store);
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            store,
            registry,
            services: crate::lifecycle::services::Allocator::default(),
            hooks: crate::admission::Hooks::default(),
            cuts: tokio::sync::watch::Sender::new(0),
        })
    }

    /// Makes a cluster with the objects of a data folder; changes are written there.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn open(folder: &Path) -> io::Result<Arc<Self>> {
        let (journal, restored) = Journal::open(folder)?;
        let cluster = Self::new();
        cluster.store.restore(restored);
        let objects = |group: &str, plural: &str| {
            let resource = Resource::new(group, "v1", plural);
            let table = cluster.served(&resource).and_then(|served| served.table());
            table.map(|table| cluster.store.list(table, "", "").0).unwrap_or_default()
        };
        for definition in objects(crate::crd::GROUP, crate::crd::PLURAL) {
            cluster.definition_changed(&definition, false);
        }
        for service in objects("", "services") {
            let (namespace, name) = service.place();
            cluster.services.settle(namespace, name, Some(&service.value()));
        }
        cluster.hooks.note_change();
        cluster.store.write_to(journal);
        Ok(cluster)
    }

    /// Returns a handle to the cluster.
    pub(crate) fn api(&self) -> Api {
        Api::of(self.own.upgrade().expect("a cluster that is called is alive"))
    }

    /// Finds a served resource.
    pub(crate) fn served(&self, resource: &Resource) -> Result<Arc<Served>, Status> {
        self.registry
            .find(&resource.group, &resource.version, &resource.plural)
            .ok_or_else(Status::no_route)
    }

    /// Reads an object.
    pub(crate) fn get(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<Stored>, Status> {
        let table = served.table()?;
        self.store.get(table, &served.key(namespace, name)).ok_or_else(|| served.not_found(name))
    }

    /// Returns a stored object in the version in which it is served.
    #[expect(clippy::unnecessary_wraps, reason = "conversion between versions can fail")]
    pub(crate) fn view(&self, served: &Served, stored: &Stored) -> Result<Arc<Value>, Status> {
        let value = stored.value();
        if served.is_plain(stored) {
            return Ok(value);
        }
        Ok(Arc::new(self.to_served(served, (*value).clone())))
    }

    /// Converts from the storage version.
    #[expect(clippy::unused_self, reason = "conversions may look at other objects")]
    pub(crate) fn to_served(&self, served: &Served, mut value: Value) -> Value {
        crate::convert::from_storage(served, &mut value);
        if let Some(custom) = &served.custom {
            custom.structural.prune(&mut value);
            custom.structural.default(&mut value);
        }
        value
    }

    /// Reads the selected objects and the revision at which they were seen.
    pub(crate) fn list(
        &self,
        served: &Served,
        scope: Scope<'_>,
        selection: Selection<'_>,
    ) -> Result<(Vec<Arc<Stored>>, u64), Status> {
        let filter = Filter::new(served, selection)?;
        let prefix = prefix(served, scope);
        let (mut stored, revision) = self.store.list(served.table()?, &prefix, "");
        if !filter.is_empty() {
            stored.retain(|stored| filter.takes(stored));
        }
        Ok((stored, revision))
    }
}

/// Returns what the keys of a scope start with.
pub(crate) fn prefix(served: &Served, scope: Scope<'_>) -> String {
    match scope {
        Scope::Namespace(namespace) if served.namespaced && !namespace.is_empty() => {
            format!("{namespace}/")
        }
        _ => String::new(),
    }
}

/// Which objects a list or watch takes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    /// Parses the selectors of a request.
    pub(crate) fn new(served: &Served, selection: Selection<'_>) -> Result<Self, Status> {
        let labels = LabelSelector::parse(selection.labels)?;
        let mut fields = FieldSelector::parse(selection.fields)?;
        for path in fields.paths_mut() {
            crate::fields::check(served, path)?;
            *path = crate::convert::stored_path(served, path);
        }
        Ok(Self { labels, fields })
    }

    /// Returns whether it takes everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Returns whether it takes an object.
    pub(crate) fn takes(&self, stored: &Stored) -> bool {
        (self.labels.is_empty() || stored.with_labels(|labels| self.labels.matches(labels)))
            && self.fields.takes_stored(stored)
    }

    /// Returns the only name it can take, when there is one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.fields.exact("metadata.name")
    }
}
