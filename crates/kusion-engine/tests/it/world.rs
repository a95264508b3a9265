//! An embedded cluster, a store in memory, and an engine on both.

use kusion_engine::{
    Engine, EngineError, Event, EventSink, Goal, Previewed, Report, RunOptions, Runtimes, Stack,
    StampedEvent,
};
use kusion_k8s_schema::{ObjectId, RESOURCE_TYPE};
use kusion_model::{
    Action, Origins, Place, PlanOptions, Resource, ResourceId, ResourceType, Spec, StackKey,
};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_sandbox::{Deletion, PatchKind, Sandbox, Write};
use kusion_secret::Sealer;
use kusion_store::{Backend, Holder, Memory, Store, StoreKey};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Remembers events.
#[derive(Default)]
pub(crate) struct Memo(Mutex<Vec<StampedEvent>>);

impl EventSink for Memo {
    fn emit(&self, event: &StampedEvent) {
        self.0.lock().expect("no test panics while it emits").push(event.clone());
    }
}

impl Memo {
    pub(crate) fn stamped(&self) -> Vec<StampedEvent> {
        self.0.lock().expect("no test panics while it emits").clone()
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        self.stamped().into_iter().map(|it| it.event).collect()
    }
}

/// A cluster of its own for a test.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) engine: Engine,
    pub(crate) stack: Stack,
    pub(crate) events: Arc<Memo>,
}

impl World {
    pub(crate) fn start() -> Self {
        Self::start_on(Arc::new(Memory::default()))
    }

    /// Starts a cluster whose state lies in a backend of the test.
    pub(crate) fn start_on(backend: Arc<dyn Backend>) -> Self {
        Self::start_with(backend, kusion_sandbox::Options::default())
    }

    /// Starts a cluster with other options.
    pub(crate) fn start_with(backend: Arc<dyn Backend>, options: kusion_sandbox::Options) -> Self {
        let sandbox = Sandbox::start(options).expect("it starts");
        let source = ClusterSource::Text(sandbox.kubeconfig());
        let kubernetes = KubernetesSource::new(source, cluster_options());
        let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
        let events = Arc::new(Memo::default());
        let engine = Engine::new(store_on(backend), runtimes, sealer(), Arc::clone(&events) as _);
        let stack = engine.stack(key("dev"));
        Self { sandbox, engine, stack, events }
    }

    /// Returns the stack on a connection with other options.
    pub(crate) fn on(&self, cluster: KubernetesSource) -> Stack {
        let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(cluster));
        let store = self.engine.store().clone();
        let events = Arc::clone(&self.events) as _;
        Engine::new(store, runtimes, sealer(), events).stack(key("dev"))
    }

    /// Returns the stack as a process with another key for secrets sees it.
    pub(crate) fn with_sealer(&self, sealer: Sealer) -> Stack {
        let source = ClusterSource::Text(self.sandbox.kubeconfig());
        let kubernetes = KubernetesSource::new(source, cluster_options());
        let runtimes = Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes));
        let store = self.engine.store().clone();
        let events = Arc::clone(&self.events) as _;
        Engine::new(store, runtimes, Arc::new(sealer), events).stack(key("dev"))
    }

    /// Returns why the plan of objects is rejected.
    pub(crate) async fn rejections(&self, objects: &[Value]) -> Vec<String> {
        let previewed = self.preview(objects).await.expect("the plan is shown");
        previewed.refusals.iter().map(ToString::to_string).collect()
    }

    pub(crate) async fn preview(&self, objects: &[Value]) -> Result<Previewed, EngineError> {
        preview(&self.stack, &spec(objects), &PlanOptions::default()).await
    }

    /// Applies objects and returns what was done.
    pub(crate) async fn apply(&self, objects: &[Value]) -> Result<Report, EngineError> {
        self.apply_with(objects, &PlanOptions::default(), &options()).await
    }

    pub(crate) async fn apply_with(
        &self,
        objects: &[Value],
        plan: &PlanOptions,
        options: &RunOptions,
    ) -> Result<Report, EngineError> {
        let (spec, origins) = (spec(objects), Origins::default());
        run(&self.stack, Goal::Apply { spec: &spec, origins: &origins }, plan, options).await
    }

    /// Deletes everything of the stack.
    pub(crate) async fn destroy(&self) -> Result<Report, EngineError> {
        run(&self.stack, Goal::Destroy, &PlanOptions::default(), &options()).await
    }

    /// Returns what would be done, as `action id` lines; what stays is left out.
    pub(crate) async fn planned(&self, objects: &[Value]) -> Vec<String> {
        let previewed = self.preview(objects).await.expect("the plan can be made");
        lines(&previewed)
    }

    /// Changes a config map of the cluster as somebody else does.
    pub(crate) fn patch_config(&self, name: &str, patch: &Value) {
        let write = Write { manager: "somebody", ..Write::default() };
        self.sandbox
            .api()
            .patch(&configs(), "shop", name, PatchKind::Merge, patch, &write)
            .expect("it is patched");
    }

    /// Makes a config map in the cluster as somebody else does.
    pub(crate) fn make_config(&self, name: &str, value: &str) {
        let write = Write { manager: "somebody", ..Write::default() };
        let made = self.sandbox.api().create(&configs(), "shop", config(name, value), &write);
        made.expect("it is made");
    }

    /// Returns the uid of the namespace `kube-system`.
    pub(crate) fn sandbox_uid(&self) -> String {
        let found = get(&self.sandbox, "/api/v1/namespaces/kube-system").expect("it is there");
        found["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
    }

    /// Deletes a config map of the cluster as somebody else does.
    pub(crate) fn delete_config(&self, name: &str) {
        self.sandbox
            .api()
            .delete(&configs(), "shop", name, &Deletion::default())
            .expect("it is deleted");
    }

    /// Reads an object of the cluster.
    pub(crate) fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let path = format!("/api/v1/namespaces/{namespace}/{resource}/{name}");
        get(&self.sandbox, &path)
    }
}

/// The key of a stack of the tests.
pub(crate) fn key(stack: &str) -> StackKey {
    StackKey::new("shop", stack, Place::Main)
}

pub(crate) fn sealer() -> Arc<Sealer> {
    Arc::new(Sealer::new([7; 32], "a test"))
}

/// Makes a store of a backend.
pub(crate) fn store_on(backend: Arc<dyn Backend>) -> Store {
    let sealer = sealer();
    Store::with_backend(backend, StoreKey::new(sealer.fingerprint(), sealer.store_key()))
}

/// Says what applying a Spec would do.
pub(crate) async fn preview(
    stack: &Stack,
    spec: &Spec,
    options: &PlanOptions,
) -> Result<Previewed, EngineError> {
    let origins = Origins::default();
    stack.preview(Goal::Apply { spec, origins: &origins }, options).await
}

/// Reaches a goal without a question.
pub(crate) async fn run(
    stack: &Stack,
    goal: Goal<'_>,
    plan: &PlanOptions,
    options: &RunOptions,
) -> Result<Report, EngineError> {
    let mut locked = stack.lock(options).await?;
    match locked.plan(goal, plan).await {
        Ok(previewed) => locked.run(previewed).await,
        Err(error) => {
            locked.release().await?;
            Err(error)
        }
    }
}

/// Applies a Spec in the usual way.
pub(crate) async fn apply(stack: &Stack, spec: &Spec) -> Result<Report, EngineError> {
    let origins = Origins::default();
    let goal = Goal::Apply { spec, origins: &origins };
    run(stack, goal, &PlanOptions::default(), &options()).await
}

fn configs() -> kusion_sandbox::Resource {
    kusion_sandbox::Resource::new("", "v1", "configmaps")
}

/// Asks the cluster without the engine.
pub(crate) fn get(sandbox: &Sandbox, path: &str) -> Option<Value> {
    let (code, body) = sandbox.api().respond("GET", path, &[], Vec::new());
    (code == 200).then(|| serde_json::from_slice(&body).ok())?
}

pub(crate) fn lines(previewed: &Previewed) -> Vec<String> {
    previewed
        .plan
        .steps
        .iter()
        .filter(|step| step.action != Action::Keep)
        .map(|step| format!("{:?} {}", step.action, step.id))
        .collect()
}

pub(crate) fn options() -> RunOptions {
    RunOptions::new(Holder::current("test"))
}

/// Makes a Spec of plain objects; all but namespaces depend on theirs.
pub(crate) fn spec(objects: &[Value]) -> Spec {
    let resources = objects
        .iter()
        .map(|object| {
            let id = ObjectId::of_object(object).expect("the object has an identity");
            let namespace =
                id.namespace.as_ref().map(|it| ResourceId::new(format!("v1:Namespace:{it}")));
            let is_wanted = |wanted: &ResourceId| {
                objects.iter().any(|it| {
                    let id = ObjectId::of_object(it);
                    id.is_some_and(|it| it.resource_id() == wanted.as_str())
                })
            };
            let mut depends_on: Vec<ResourceId> = namespace.into_iter().filter(is_wanted).collect();
            if let Some(more) = object.pointer("/metadata/annotations/depends-on") {
                depends_on.extend(more.as_str().map(ResourceId::from));
            }
            Resource {
                id: ResourceId::new(id.resource_id()),
                resource_type: ResourceType::new(RESOURCE_TYPE),
                attributes: object.clone().into(),
                depends_on,
                extensions: Map::new(),
            }
        })
        .collect();
    Spec { resources, ..Spec::default() }
}

/// The options of connections to the cluster of a test, which is a sandbox.
pub(crate) fn cluster_options() -> Options {
    Options { stand_in_namespace: Some("kube-public".to_owned()), ..Options::default() }
}

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

pub(crate) fn config(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop"}, "data": {"value": value},
    })
}

pub(crate) fn secret(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "namespace": "shop"}, "stringData": {"password": value},
    })
}
