//! What operations work with.

use crate::error::EngineError;
use crate::event::{Event, EventSink};
use crate::points::Points;
use kusion_model::{ResourceId, ResourceType};
use kusion_runtime::Runtime;
use kusion_secret::Sealer;
use kusion_store::Store;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The runtimes by the type of their resources.
#[derive(Clone, Default)]
pub struct Runtimes(BTreeMap<ResourceType, Arc<dyn Runtime>>);

impl Runtimes {
    /// Adds a runtime.
    #[must_use]
    pub fn with(mut self, resource_type: &str, runtime: Arc<dyn Runtime>) -> Self {
        self.0.insert(ResourceType::new(resource_type), runtime);
        self
    }

    /// Finds the runtime that answers for a resource.
    pub(crate) fn find(
        &self,
        id: &ResourceId,
        resource_type: &ResourceType,
    ) -> Result<&Arc<dyn Runtime>, EngineError> {
        self.0.get(resource_type).ok_or_else(|| EngineError::NoRuntime {
            id: id.clone(),
            resource_type: resource_type.clone(),
        })
    }

    /// Returns all runtimes with their types.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ResourceType, &Arc<dyn Runtime>)> {
        self.0.iter()
    }
}

/// A store, runtimes, a sealer of secrets and somebody who listens.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) runtimes: Runtimes,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) events: Arc<dyn EventSink>,
    pub(crate) points: Points,
}

impl Engine {
    /// Joins the parts.
    pub fn new(
        store: Store,
        runtimes: Runtimes,
        sealer: Sealer,
        events: Arc<dyn EventSink>,
    ) -> Self {
        Self { store, runtimes, sealer: Arc::new(sealer), events, points: Points::default() }
    }

    /// Has somebody told about the points that operations pass.
    #[must_use]
    pub fn with_points(mut self, points: Points) -> Self {
        self.points = points;
        self
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn emit(&self, event: &Event) {
        self.events.emit(event);
    }
}
