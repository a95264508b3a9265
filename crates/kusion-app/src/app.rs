//! Opens stacks.

use crate::cluster::{Cluster, ClusterRequest};
use crate::error::AppError;
use crate::runtimes::{RuntimeSettings, StackFiles, with_runtimes};
use crate::trust::Trust;
use crate::{backend, policies, trust};
use base_system::OsSystem;
use kusion_engine::{Engine, EventSink, Runtimes};
use kusion_generate::{RepositoryPolicies, Stack, sources};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{Place, ResourceType, StackKey};
use kusion_runtime_k8s::{KubernetesSource, Options, server_of};
use kusion_secret::Sealer;
use kusion_store::{Store, StoreKey};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The deployment target of a stack, as far as the user specifies it.
#[derive(Debug, Clone)]
pub struct Site {
    /// The cluster of its Kubernetes resources.
    pub cluster: ClusterRequest,
    /// The URL of its state store; `None` uses the setting of its files.
    pub backend: Option<String>,
    /// The URL of the state store of stacks whose files name none.
    pub default_backend: Option<String>,
    /// Its place; `None` means the main place, or the sandbox.
    pub place: Option<Place>,
    /// Whether the user trusts all settings of the repository.
    pub is_trusted: bool,
}

impl Site {
    pub(crate) fn place(&self) -> Place {
        match (&self.place, self.cluster.sandbox()) {
            (Some(place), _) => place.clone(),
            (None, Some(name)) => Place::Sandbox(name.to_owned()),
            (None, None) => Place::Main,
        }
    }
}

/// Opens stacks. Shared stores and clusters are opened once; connections are made on first use.
pub struct App {
    events: Arc<dyn EventSink>,
    home: PathBuf,
    sealer: Arc<Sealer>,
    /// The number of concurrent calls to an infrastructure.
    parallel_calls: usize,
    runtimes: RuntimeSettings,
    stores: Vec<(String, Store)>,
    engines: Vec<(String, Cluster, Engine)>,
}

/// A stack that was opened.
#[derive(Clone)]
pub struct OpenStack {
    /// The stack.
    pub stack: kusion_engine::Stack,
    /// Its cluster.
    pub cluster: Cluster,
}

impl OpenStack {
    /// Returns the key of the stack.
    pub fn key(&self) -> &StackKey {
        self.stack.key()
    }

    /// Returns the stack and its cluster, for display.
    pub fn title(&self) -> String {
        let key = self.key();
        match &self.cluster.sandbox {
            Some(name) => format!("{key} on sandbox `{name}`"),
            None => match server_of(&self.cluster.source) {
                Some(server) => format!("{key} on {server}"),
                None => key.to_string(),
            },
        }
    }
}

impl App {
    /// Creates an app without open stacks. Local data, including the key, is in `home`; `key`
    /// overrides the stored key.
    pub fn new(
        events: Arc<dyn EventSink>,
        home: &Path,
        key: Option<&str>,
        parallel_calls: usize,
    ) -> Result<Self, AppError> {
        Ok(Self {
            events,
            home: home.to_owned(),
            sealer: Arc::new(Sealer::open(key, home)?),
            parallel_calls,
            runtimes: RuntimeSettings::default(),
            stores: Vec::new(),
            engines: Vec::new(),
        })
    }

    /// Sets what the user says about runtimes.
    #[must_use]
    pub fn with_runtimes(self, runtimes: RuntimeSettings) -> Self {
        Self { runtimes, ..self }
    }

    /// Returns what the user says about runtimes.
    pub(crate) fn runtimes(&self) -> &RuntimeSettings {
        &self.runtimes
    }

    /// Returns the key.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Returns the addresses of the local stores that exist: for clusters and for sandboxes.
    pub fn local_stores(&self) -> Vec<String> {
        backend::local(&self.home)
    }

    /// Ends all runtimes and closes all stores, so that the next process finds nothing to tidy up.
    pub async fn close(&mut self) {
        for (_, _, engine) in self.engines.drain(..) {
            engine.close().await;
        }
        for (_, store) in self.stores.drain(..) {
            store.close().await;
        }
    }

    /// Opens a stack: its store now, everything else on first use.
    pub async fn open(&mut self, stack: &Stack, site: &Site) -> Result<OpenStack, AppError> {
        if !site.is_trusted {
            self.check_trust(stack, site)?;
        }
        site.cluster.check_pin(stack)?;
        let cluster = site.cluster.of_stack(Some(stack));
        let place = site.place();
        let address = backend::address(stack, site, &place)?;
        let engine = self.engine(&address, &cluster).await?;
        let home = (!site.is_trusted).then_some(self.home.as_path());
        let engine = with_runtimes(engine, &self.runtimes, Some(&StackFiles { stack, home }))?;
        let key = StackKey {
            project: stack.project.name.clone(),
            stack: stack.name.clone(),
            cell: stack.cell_name().to_owned(),
            place,
        };
        let sources = sources(&OsSystem, stack);
        let found = RepositoryPolicies::of_stack(&OsSystem, stack)
            .map_err(|error| AppError::Policies(error.to_string()))?;
        let policies = policies::of_stack(stack, found, &key.place.to_string());
        let pins = stack.file.cluster.id.clone();
        let pins = pins.map(|id| (ResourceType::new(RESOURCE_TYPE), id)).into_iter().collect();
        let stack = engine.stack(key).with_sources(sources).with_pins(pins).with_policies(policies);
        Ok(OpenStack { stack, cluster })
    }

    /// Checks that the user trusts the settings of a stack that are used.
    fn check_trust(&self, stack: &Stack, site: &Site) -> Result<(), AppError> {
        let mut settings = Vec::new();
        settings.extend(trust::kubeconfig_setting(stack, &site.cluster)?);
        if site.backend.as_ref().is_none_or(String::is_empty) {
            settings.extend(trust::backend_setting(stack)?);
        }
        settings.extend(trust::hosts_setting(stack)?);
        if settings.is_empty() {
            return Ok(());
        }
        Trust::open(&OsSystem, &self.home)?.check(&OsSystem, stack, settings)
    }

    /// Returns the engine for a store and a cluster: stacks that share both share it.
    pub(crate) async fn engine(
        &mut self,
        address: &str,
        cluster: &Cluster,
    ) -> Result<Engine, AppError> {
        let is_known = |it: &&(String, Cluster, Engine)| it.0 == address && it.1 == *cluster;
        if let Some((_, _, engine)) = self.engines.iter().find(is_known) {
            return Ok(engine.clone());
        }
        let store = self.store(address).await?;
        // Of a namespace that nobody uses, in an embedded cluster.
        let stand_in = cluster.sandbox.as_ref().map(|_| "kube-public".to_owned());
        let options = Options {
            parallel_calls: self.parallel_calls,
            stand_in_namespace: stand_in,
            ..Options::default()
        };
        let kubernetes = KubernetesSource::new(cluster.source.clone(), options);
        let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
        let (sealer, events) = (Arc::clone(&self.sealer), Arc::clone(&self.events));
        let engine = Engine::new(store, runtimes, sealer, events);
        self.engines.push((address.to_owned(), cluster.clone(), engine.clone()));
        Ok(engine)
    }

    pub(crate) async fn store(&mut self, address: &str) -> Result<Store, AppError> {
        if let Some((_, store)) = self.stores.iter().find(|(known, _)| known == address) {
            return Ok(store.clone());
        }
        let store = Store::open(address, &self.home, store_key(&self.sealer)).await?;
        self.stores.push((address.to_owned(), store.clone()));
        Ok(store)
    }

    /// Replaces the lost key of a store by the key of this app. Returns the fingerprint of the old
    /// key; `None` if it is the same.
    pub async fn replace_lost_key(&self, address: &str) -> Result<Option<String>, AppError> {
        Ok(Store::replace_key(address, &self.home, &store_key(&self.sealer)).await?)
    }
}

/// Returns the key that authenticates the values of stores.
fn store_key(sealer: &Sealer) -> StoreKey {
    StoreKey::new(sealer.fingerprint(), sealer.store_key())
}
