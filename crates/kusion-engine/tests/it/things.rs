//! An engine over a folder, whose calls fail as told.

#![expect(clippy::disallowed_methods, reason = "the runtime of the test is a folder")]

use crate::world::{Memo, apply, key, sealer, store_on};
use kusion_engine::{Engine, EngineError, Report, Runtimes, Stack};
use kusion_model::{Resource, ResourceId, ResourceType, Spec};
use kusion_runtime_fake::{Faults, FileRuntime, Stored};
use kusion_store::{Memory, Store};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The type of the resources of a folder.
pub(crate) const TYPE: &str = "Fake";

/// A folder of objects, and a store in memory.
pub(crate) struct Things {
    folder: PathBuf,
    store: Store,
    pub(crate) events: Arc<Memo>,
}

/// An engine over the folder.
pub(crate) struct Running {
    pub(crate) stack: Stack,
}

impl Things {
    pub(crate) fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("kusion-engine-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self { folder, store: store_on(Arc::new(Memory::default())), events: Arc::default() }
    }

    /// Opens the folder as a runtime.
    pub(crate) fn runtime(&self, faults: &str) -> FileRuntime {
        let faults: Faults = faults.parse().expect("faults");
        let runtime = FileRuntime::open(&self.folder, "shop/dev").expect("a folder");
        runtime.with_faults(faults).with_parallel_calls(1)
    }

    /// Starts an engine whose calls fail as told.
    pub(crate) fn with_faults(&self, faults: &str) -> Running {
        let runtimes = Runtimes::default().with(TYPE, Arc::new(self.runtime(faults)));
        Running { stack: self.engine(runtimes).stack(key("dev")) }
    }

    /// Starts an engine with other runtimes.
    pub(crate) fn engine(&self, runtimes: Runtimes) -> Engine {
        Engine::new(self.store.clone(), runtimes, sealer(), Arc::clone(&self.events) as _)
    }

    /// Returns the objects that exist.
    pub(crate) fn objects(&self) -> Vec<Stored> {
        self.runtime("").folder().objects().expect("objects")
    }
}

impl Running {
    pub(crate) async fn apply(&self, resources: Vec<Resource>) -> Result<Report, EngineError> {
        apply(&self.stack, &Spec { resources, ..Spec::default() }).await
    }

    /// Applies so many plain resources.
    pub(crate) async fn apply_plain(&self, count: usize) -> Result<Report, EngineError> {
        self.apply((0..count).map(|n| thing(&format!("t{n}"), json!({"plain": "1"}))).collect())
            .await
    }
}

impl Drop for Things {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a resource of a folder.
pub(crate) fn thing(name: &str, attributes: Value) -> Resource {
    Resource {
        id: ResourceId::new(format!("fake:thing:{name}")),
        resource_type: ResourceType::new(TYPE),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions: Map::new(),
    }
}
