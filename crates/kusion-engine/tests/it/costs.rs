//! What operations cost: calls to the infrastructure, bytes in the store.

use crate::world::{World, apply, config, namespace, sealer, spec};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use kusion_engine::{Engine, Runtimes, Silent};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{
    Description, FieldPath, InfrastructureId, Phase, Resource, ResourceId, StackOwner,
};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, Target,
};
use kusion_runtime_k8s::{ClusterSource, KubernetesRuntime, Options};
use kusion_store::{Backend, Expected, Memory, PutError, StoreError, Version};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A runtime whose calls are counted by name.
struct Counted {
    inner: KubernetesRuntime,
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Counted {
    fn count(&self, call: &'static str) {
        *self.calls.lock().expect("no test panics while it counts").entry(call).or_default() += 1;
    }
}

#[async_trait]
impl Runtime for Counted {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        self.count("identity");
        self.inner.identity().await
    }

    fn describe(&self, resource: &Resource) -> Description {
        self.inner.describe(resource)
    }

    fn parallel_calls(&self) -> usize {
        self.inner.parallel_calls()
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        self.count("read");
        self.inner.read(targets).await
    }

    fn compare(&self, desired: &Resource, live: &Live) -> Comparison {
        self.inner.compare(desired, live)
    }

    fn comparable(&self, live: &Value) -> Value {
        self.inner.comparable(live)
    }

    fn secret_paths(&self, resource: &Resource, attributes: &Value) -> Vec<FieldPath> {
        self.inner.secret_paths(resource, attributes)
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        self.count("dry run");
        self.inner.dry_run(change).await
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        self.count("apply");
        self.inner.apply(change).await
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        self.count("delete");
        self.inner.delete(deletion).await
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        self.count("recover");
        self.inner.recover(pending).await
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        self.inner.watch(targets, since).await
    }
}

#[tokio::test]
async fn a_change_takes_one_list_one_dry_run_and_one_call() {
    let world = World::start();
    let objects = |value: &str| {
        let mut objects = vec![namespace("shop"), config("changes", value)];
        objects.extend((0..20).map(|place| config(&format!("c{place}"), "1")));
        objects
    };
    world.apply(&objects("1")).await.expect("it is applied");
    let source = ClusterSource::Text(world.sandbox.kubeconfig());
    let id = world.engine.store().id().await.expect("a store").unwrap_or_default();
    let owner = StackOwner::new(world.stack.key().clone(), id);
    let inner = KubernetesRuntime::connect(&source, Options::default(), &owner).await;
    let inner = inner.expect("it answers");
    let calls = Arc::default();
    let counted = Counted { inner, calls: Arc::clone(&calls) };
    let runtimes = Runtimes::default().with(RESOURCE_TYPE, Arc::new(counted));
    let store = world.engine.store().clone();
    let engine = Engine::new(store, runtimes, sealer(), Arc::new(Silent));
    let report = apply(&engine.stack(world.stack.key().clone()), &spec(&objects("2"))).await;
    assert_eq!(report.expect("it is applied").phase, Phase::Succeeded);
    let calls = calls.lock().expect("no test panics while it counts").clone();
    assert_eq!(calls, BTreeMap::from([("identity", 1), ("read", 1), ("dry run", 1), ("apply", 1)]));
}

/// A store whose writes are counted.
#[derive(Default)]
struct Measured {
    inner: Memory,
    bytes: AtomicUsize,
}

#[async_trait]
impl Backend for Measured {
    fn place(&self) -> &str {
        self.inner.place()
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        self.inner.get(key).await
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        self.inner.put(key, bytes, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(prefix).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        self.inner.delete(keys).await
    }
}

#[tokio::test]
async fn what_is_written_grows_with_the_number_of_resources() {
    let mut written = Vec::new();
    for count in [50, 200] {
        let backend = Arc::new(Measured::default());
        let world = World::start_on(Arc::clone(&backend) as _);
        let configs = (0..count).map(|place| config(&format!("c{place}"), "1"));
        let objects: Vec<_> = std::iter::once(namespace("shop")).chain(configs).collect();
        world.apply(&objects).await.expect("it is applied");
        written.push(backend.bytes.load(Ordering::Relaxed));
    }
    // Four times the resources; a whole state for each of them would be sixteen times the bytes.
    assert!(written[1] < 6 * written[0], "{written:?}");
}
