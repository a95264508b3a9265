//! The engine: store, runtimes, sealer and event sink.

use crate::event::EventSink;
use crate::failpoints::Failpoints;
use crate::stack::Stack;
use async_trait::async_trait;
use kusion_model::{ResourceType, StackKey, StackOwner};
use kusion_runtime::{Runtime, RuntimeError, RuntimeSource};
use kusion_secret::Sealer;
use kusion_store::Store;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::Mutex;

/// The runtimes by resource type. Each is started on first use by a stack.
#[derive(Clone, Default)]
pub struct Runtimes {
    sources: BTreeMap<ResourceType, Arc<dyn RuntimeSource>>,
    started: Arc<Mutex<Started>>,
}

/// The started runtimes, by stack and type. The id of a store is known once it exists: so a stack
/// can have two.
type Started = HashMap<(StackOwner, ResourceType), Arc<dyn Runtime>>;

/// A runtime that serves all stacks, and marks no objects.
struct Ready(Arc<dyn Runtime>);

#[async_trait]
impl RuntimeSource for Ready {
    async fn start(&self, _owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        Ok(Arc::clone(&self.0))
    }
}

impl Runtimes {
    /// Adds a runtime that serves all stacks, and marks no objects as theirs.
    #[must_use]
    pub fn with(self, resource_type: &str, runtime: Arc<dyn Runtime>) -> Self {
        self.with_source(resource_type, Arc::new(Ready(runtime)))
    }

    /// Adds a runtime that is started for each stack that uses it.
    #[must_use]
    pub fn with_source(mut self, resource_type: &str, source: Arc<dyn RuntimeSource>) -> Self {
        self.sources.insert(ResourceType::new(resource_type), source);
        self
    }

    /// Returns the runtime of a type for a stack; `None` if no runtime is registered for the type.
    pub(crate) async fn start(
        &self,
        owner: &StackOwner,
        resource_type: &ResourceType,
    ) -> Result<Option<Arc<dyn Runtime>>, RuntimeError> {
        let Some(source) = self.sources.get(resource_type) else { return Ok(None) };
        let name = (owner.clone(), resource_type.clone());
        let mut started = self.started.lock().await;
        if let Some(runtime) = started.get(&name) {
            return Ok(Some(Arc::clone(runtime)));
        }
        let runtime = source.start(owner).await?;
        started.insert(name, Arc::clone(&runtime));
        Ok(Some(runtime))
    }

    /// Ends all runtimes that were started.
    async fn close(&self) {
        let started = std::mem::take(&mut *self.started.lock().await);
        futures::future::join_all(started.values().map(|it| it.close())).await;
    }
}

/// A store, runtimes, a sealer of secrets and an event sink. Serves any number of stacks and
/// operations concurrently. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) runtimes: Runtimes,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) events: Arc<dyn EventSink>,
    pub(crate) failpoints: Failpoints,
}

impl Engine {
    /// Creates an engine from its parts.
    pub fn new(
        store: Store,
        runtimes: Runtimes,
        sealer: Arc<Sealer>,
        events: Arc<dyn EventSink>,
    ) -> Self {
        Self { store, runtimes, sealer, events, failpoints: Failpoints::default() }
    }

    /// Registers a function that is called at each fail point.
    #[must_use]
    pub fn with_failpoints(mut self, failpoints: Failpoints) -> Self {
        self.failpoints = failpoints;
        self
    }

    /// Adds the runtime of another type of resources, which is started for each stack that uses it.
    /// Clones of this engine from before do not have it.
    #[must_use]
    pub fn with_source(mut self, resource_type: &str, source: Arc<dyn RuntimeSource>) -> Self {
        self.runtimes = self.runtimes.with_source(resource_type, source);
        self
    }

    /// Ends the runtimes of this engine and of all its clones.
    pub async fn close(&self) {
        self.runtimes.close().await;
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the sealer.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Returns the handle of a stack. Nothing is opened yet.
    pub fn stack(&self, key: StackKey) -> Stack {
        Stack::new(self.clone(), key)
    }
}
