//! Opens stacks.

use crate::backend;
use crate::error::AppError;
use kusion_engine::{Engine, EventSink, Runtimes};
use kusion_generate::Stack;
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{Place, StackKey};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options, server_of};
use kusion_secret::Sealer;
use kusion_store::{Store, StoreKey};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A cluster that was chosen for a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The way to it.
    pub source: ClusterSource,
    /// Its kubeconfig, where it is one file.
    pub kubeconfig: Option<PathBuf>,
    /// The name of the sandbox that it is.
    pub sandbox: Option<String>,
}

/// Where a stack is, as far as its user says.
#[derive(Debug, Clone)]
pub struct Site {
    /// The cluster of its Kubernetes resources.
    pub cluster: Cluster,
    /// The address of the store of its state; none takes what its files say.
    pub backend: Option<String>,
    /// Its cell; empty where a stack has none.
    pub cell: String,
    /// Its place beside the main one; none takes the main one, or the sandbox.
    pub place: Option<Place>,
}

impl Site {
    fn place(&self) -> Place {
        match (&self.place, &self.cluster.sandbox) {
            (Some(place), _) => place.clone(),
            (None, Some(name)) => Place::Sandbox(name.clone()),
            (None, None) => Place::Main,
        }
    }
}

/// Opens stacks. What several of them share is opened once; nothing is connected before it is
/// needed.
pub struct App {
    events: Arc<dyn EventSink>,
    home: PathBuf,
    sealer: Arc<Sealer>,
    /// How many calls to an infrastructure run at a time.
    parallel_calls: usize,
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
    /// Returns whose stack it is.
    pub fn key(&self) -> &StackKey {
        self.stack.key()
    }

    /// Returns the stack and where it is, for people.
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
    /// Makes an app that has nothing open. Local data, the key among it, lies below `home`;
    /// `key` is a key that was given otherwise.
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
            stores: Vec::new(),
            engines: Vec::new(),
        })
    }

    /// Returns the key.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Opens a stack: its store, and whatever else it needs when it needs it.
    pub async fn open(&mut self, stack: &Stack, site: &Site) -> Result<OpenStack, AppError> {
        let place = site.place();
        let address = backend::address(stack, site.backend.as_deref(), &place)?;
        let engine = self.engine(&address, &site.cluster).await?;
        let key = StackKey {
            project: stack.project.name.clone(),
            stack: stack.name.clone(),
            cell: site.cell.clone(),
            place,
        };
        Ok(OpenStack { stack: engine.stack(key), cluster: site.cluster.clone() })
    }

    /// Returns the engine for a store and a cluster: stacks that share both share it.
    async fn engine(&mut self, address: &str, cluster: &Cluster) -> Result<Engine, AppError> {
        let is_known = |it: &&(String, Cluster, Engine)| it.0 == address && it.1 == *cluster;
        if let Some((_, _, engine)) = self.engines.iter().find(is_known) {
            return Ok(engine.clone());
        }
        let store = self.store(address).await?;
        let options = Options { parallel_calls: self.parallel_calls, ..Options::default() };
        let kubernetes = KubernetesSource::new(cluster.source.clone(), options);
        let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
        let (sealer, events) = (Arc::clone(&self.sealer), Arc::clone(&self.events));
        let engine = Engine::new(store, runtimes, sealer, events);
        self.engines.push((address.to_owned(), cluster.clone(), engine.clone()));
        Ok(engine)
    }

    async fn store(&mut self, address: &str) -> Result<Store, AppError> {
        if let Some((_, store)) = self.stores.iter().find(|(known, _)| known == address) {
            return Ok(store.clone());
        }
        let store = Store::open(address, &self.home, store_key(&self.sealer)).await?;
        self.stores.push((address.to_owned(), store.clone()));
        Ok(store)
    }

    /// Makes the key of this app the one of a store whose own key is lost. Returns the name of
    /// the old key; none if it is the same.
    pub async fn replace_lost_key(&self, address: &str) -> Result<Option<String>, AppError> {
        Ok(Store::replace_key(address, &self.home, &store_key(&self.sealer)).await?)
    }
}

/// Returns the key by which stores authenticate what they keep.
fn store_key(sealer: &Sealer) -> StoreKey {
    StoreKey::new(sealer.fingerprint(), sealer.store_key())
}
