//! Everything that is needed to work on stacks: clusters, stores, the key, the view.

use crate::arguments::{Cluster, SiteArgs};
use crate::failure::Failure;
use crate::home;
use crate::view::View;
use kusion_engine::{Engine, EngineError, EventSink, Runtimes};
use kusion_generate::Stack;
use kusion_model::{ResourceType, StackKey};
use kusion_runtime_k8s::{KubernetesRuntime, Options};
use kusion_secret::{KEY_VARIABLE, Sealer};
use kusion_store::Store;
use std::path::PathBuf;
use std::sync::Arc;

/// Opens stacks; what several of them share is opened once.
pub(crate) struct Desk<'a> {
    view: Arc<View>,
    site: &'a SiteArgs,
    parallel: usize,
    home: PathBuf,
    connected: Vec<(Cluster, KubernetesRuntime)>,
    stores: Vec<(String, Store)>,
}

/// A stack at its place: the engine that works on it there.
pub(crate) struct Place {
    /// The engine.
    pub(crate) engine: Engine,
    /// The owner of the state.
    pub(crate) key: StackKey,
    /// The stack and its cluster, for people.
    pub(crate) title: String,
    /// The cluster.
    pub(crate) cluster: Cluster,
}

impl<'a> Desk<'a> {
    /// Makes a desk on which nothing is open.
    pub(crate) fn new(
        view: &Arc<View>,
        site: &'a SiteArgs,
        parallel: usize,
    ) -> Result<Self, Failure> {
        Ok(Self {
            view: Arc::clone(view),
            site,
            parallel,
            home: home::folder()?,
            connected: Vec::new(),
            stores: Vec::new(),
        })
    }

    /// Opens a stack.
    pub(crate) async fn open(&mut self, stack: &Stack) -> Result<Place, Failure> {
        let cluster = self.site.cluster.choose(stack)?;
        let runtime = self.connect(&cluster).await?;
        let place = match &cluster.sandbox {
            Some(name) => format!("sandbox `{name}`"),
            None => runtime.server().to_owned(),
        };
        let store = self.store(self.site.backend.address(stack)?).await?;
        let sealer = Sealer::open(std::env::var(KEY_VARIABLE).ok().as_deref(), &self.home)?;
        let runtimes = Runtimes::default().with(ResourceType::KUBERNETES, Arc::new(runtime));
        let events: Arc<dyn EventSink> = Arc::clone(&self.view) as Arc<dyn EventSink>;
        let engine = Engine::new(store, runtimes, sealer, events);
        let key = engine.stack_key(&stack.project.name, &stack.name, &self.site.backend.cell).await;
        let key = key.map_err(|error| match error {
            EngineError::Runtime(fault) => Failure::Cluster(fault),
            other => Failure::Engine(other),
        })?;
        let title = format!("{key} on {place}");
        Ok(Place { engine, key, title, cluster })
    }

    async fn connect(&mut self, cluster: &Cluster) -> Result<KubernetesRuntime, Failure> {
        if let Some((_, runtime)) = self.connected.iter().find(|(known, _)| known == cluster) {
            return Ok(runtime.clone());
        }
        let options = Options { parallel_calls: self.parallel, ..Options::default() };
        let runtime =
            KubernetesRuntime::connect(&cluster.source, options).await.map_err(Failure::Cluster)?;
        self.connected.push((cluster.clone(), runtime.clone()));
        Ok(runtime)
    }

    async fn store(&mut self, address: String) -> Result<Store, Failure> {
        if let Some((_, store)) = self.stores.iter().find(|(known, _)| *known == address) {
            return Ok(store.clone());
        }
        let store = Store::open(&address, &self.home).await?;
        self.stores.push((address, store.clone()));
        Ok(store)
    }
}
