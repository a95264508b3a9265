//! An engine with a sandbox and Terraform providers, on a store in memory.

use kusion_engine::{
    Engine, EngineError, EventSink, Goal, Previewed, Report, RunOptions, Runtimes, Stack,
    StampedEvent,
};
use kusion_k8s_schema::{ObjectId, RESOURCE_TYPE};
use kusion_model::{
    Action, Origins, Place, PlanOptions, Resource, ResourceId, ResourceType, Spec, StackKey,
};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_runtime_terraform::TerraformRuntime;
use kusion_sandbox::Sandbox;
use kusion_secret::Sealer;
use kusion_store::{Holder, Memory, Store, StoreKey};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};
use terraform_suite::{Folder, Programs, TERRAFORM};

/// Remembers events.
#[derive(Default)]
pub(crate) struct Memo(Mutex<Vec<StampedEvent>>);

impl EventSink for Memo {
    fn emit(&self, event: &StampedEvent) {
        self.0.lock().expect("no test panics while it emits").push(event.clone());
    }
}

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) folder: Folder,
    pub(crate) terraform: Arc<TerraformRuntime>,
    pub(crate) events: Arc<Memo>,
    engine: Engine,
    stack: Stack,
}

impl World {
    pub(crate) fn new(name: &str, programs: &Programs) -> Self {
        let sandbox = Sandbox::start(kusion_sandbox::Options::default()).expect("it starts");
        let source = ClusterSource::Text(sandbox.kubeconfig());
        let options =
            Options { stand_in_namespace: Some("kube-public".to_owned()), ..Options::default() };
        let kubernetes = KubernetesSource::new(source, options);
        let terraform = programs.runtime();
        let runtimes = Runtimes::default()
            .with_source(RESOURCE_TYPE, Arc::new(kubernetes))
            .with(TERRAFORM, Arc::clone(&terraform) as _);
        let sealer = Arc::new(Sealer::new([7; 32], "a test"));
        let key = StoreKey::new(sealer.fingerprint(), sealer.store_key());
        let store = Store::with_backend(Arc::new(Memory::default()), key);
        let events = Arc::new(Memo::default());
        let engine = Engine::new(store, runtimes, sealer, Arc::clone(&events) as _);
        let stack = engine.stack(StackKey::new("shop", "dev", Place::Main));
        let folder = Folder::new(name).expect("a folder");
        Self { sandbox, folder, terraform, events, engine, stack }
    }

    /// Returns a resource of a provider of the tests.
    pub(crate) fn terraform(&self, type_name: &str, name: &str, attributes: Value) -> Resource {
        terraform_suite::resource(type_name, name, self.folder.path(), attributes)
    }

    pub(crate) async fn preview(&self, resources: &[Resource]) -> Result<Previewed, EngineError> {
        let spec = Spec { resources: resources.to_vec(), ..Spec::default() };
        let origins = Origins::default();
        let goal = Goal::Apply { spec: &spec, origins: &origins };
        self.stack.preview(goal, &PlanOptions::default()).await
    }

    /// Returns what would be done, as `action id` lines; what stays is left out.
    pub(crate) async fn planned(&self, resources: &[Resource]) -> Vec<String> {
        let previewed = self.preview(resources).await.expect("a plan");
        let steps = previewed.plan.steps.iter().filter(|step| step.action != Action::Keep);
        steps.map(|step| format!("{:?} {}", step.action, step.id)).collect()
    }

    pub(crate) async fn apply(&self, resources: &[Resource]) -> Result<Report, EngineError> {
        let spec = Spec { resources: resources.to_vec(), ..Spec::default() };
        let origins = Origins::default();
        self.run(Goal::Apply { spec: &spec, origins: &origins }).await
    }

    pub(crate) async fn destroy(&self) -> Result<Report, EngineError> {
        self.run(Goal::Destroy).await
    }

    pub(crate) async fn run(&self, goal: Goal<'_>) -> Result<Report, EngineError> {
        let options = RunOptions::new(Holder::current("test"));
        let mut locked = self.stack.lock(&options).await?;
        match locked.plan(goal, &PlanOptions::default()).await {
            Ok(previewed) => locked.run(previewed).await,
            Err(error) => {
                locked.release().await?;
                Err(error)
            }
        }
    }

    /// Returns everything that was recorded and told, as text.
    pub(crate) async fn records(&self) -> String {
        let key = StackKey::new("shop", "dev", Place::Main);
        let records = self.engine.store().records(&key).await.expect("records");
        let events = self.events.0.lock().expect("no test panics while it emits");
        format!("{records:?} {events:?}")
    }

    /// Reads an object of the cluster.
    pub(crate) fn object(&self, path: &str) -> Option<Value> {
        let (code, body) = self.sandbox.api().respond("GET", path, &[], Vec::new());
        (code == 200).then(|| serde_json::from_slice(&body).ok())?
    }
}

/// Returns a resource of the cluster.
pub(crate) fn kubernetes(object: Value, depends_on: &[&Resource]) -> Resource {
    let id = ObjectId::of_object(&object).expect("an identity");
    Resource {
        id: ResourceId::new(id.resource_id()),
        resource_type: ResourceType::new(RESOURCE_TYPE),
        attributes: object.into(),
        depends_on: depends_on.iter().map(|it| it.id.clone()).collect(),
        extensions: Map::new(),
    }
}
