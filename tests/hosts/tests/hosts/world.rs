//! An engine with hosts, on a store in memory.

use kusion_engine::{
    Engine, EngineError, EventSink, Goal, Outcome, Previewed, Report, RunOptions, Runtimes, Stack,
    StampedEvent,
};
use kusion_model::{Action, Origins, Place, PlanOptions, Resource, Spec, StackKey};
use kusion_runtime_host::{Host, HostRuntime, HostSettings, Hosts, RESOURCE_TYPE};
use kusion_secret::Sealer;
use kusion_store::{Holder, Memory, Store, StoreKey};
use std::sync::{Arc, Mutex};

/// Remembers events.
#[derive(Default)]
pub(crate) struct Memo(Mutex<Vec<StampedEvent>>);

impl EventSink for Memo {
    fn emit(&self, event: &StampedEvent) {
        self.0.lock().expect("no test panics while it emits").push(event.clone());
    }
}

pub(crate) struct World {
    pub(crate) hosts: Arc<HostRuntime>,
    events: Arc<Memo>,
    engine: Engine,
    stack: Stack,
}

impl World {
    pub(crate) fn new(settings: HostSettings) -> Self {
        let hosts = Arc::new(HostRuntime::new(settings).expect("a runtime"));
        let runtimes = Runtimes::default().with(RESOURCE_TYPE, Arc::clone(&hosts) as _);
        let sealer = Arc::new(Sealer::new([7; 32], "a test"));
        let key = StoreKey::new(sealer.fingerprint(), sealer.store_key());
        let store = Store::with_backend(Arc::new(Memory::default()), key);
        let events = Arc::new(Memo::default());
        let engine = Engine::new(store, runtimes, sealer, Arc::clone(&events) as _);
        let stack = engine.stack(StackKey::new("shop", "dev", Place::Main));
        Self { hosts, events, engine, stack }
    }

    /// Returns an engine on this machine, as the host `here`.
    pub(crate) fn local() -> Self {
        Self::new(local_settings())
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

    /// Returns why resources are rejected.
    pub(crate) async fn rejections(&self, resources: &[Resource]) -> String {
        match self.preview(resources).await {
            Ok(it) => {
                let texts: Vec<String> = it.refusals.iter().map(ToString::to_string).collect();
                texts.join("\n")
            }
            Err(error) => error.to_string(),
        }
    }

    pub(crate) async fn apply(&self, resources: &[Resource]) -> Result<Report, EngineError> {
        let spec = Spec { resources: resources.to_vec(), ..Spec::default() };
        let origins = Origins::default();
        self.run(Goal::Apply { spec: &spec, origins: &origins }).await
    }

    /// Applies resources, all of which must succeed.
    pub(crate) async fn make(&self, resources: &[Resource]) {
        let report = self.apply(resources).await.expect("a report");
        assert_eq!(problems(&report), [""; 0]);
    }

    /// Deletes everything, which must succeed.
    pub(crate) async fn destroy(&self) {
        let report = self.run(Goal::Destroy).await.expect("a report");
        assert_eq!(problems(&report), [""; 0]);
    }

    pub(crate) async fn run(&self, goal: Goal<'_>) -> Result<Report, EngineError> {
        let mut options = RunOptions::new(Holder::current("test"));
        options.keep_going = true;
        options.attempts = 1;
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
}

/// Returns the settings of this machine, as the host `here`.
pub(crate) fn local_settings() -> HostSettings {
    let here = Host { is_local: true, ..Host::new("here") };
    host_suite::settings([here].into_iter().collect::<Hosts>())
}

/// Returns the steps that did not succeed.
pub(crate) fn problems(report: &Report) -> Vec<String> {
    let failed = report.steps.iter().filter(|it| it.outcome != Outcome::Done);
    failed.map(|it| format!("{} {:?}: {}", it.id, it.outcome, it.message)).collect()
}

/// Runs a test.
pub(crate) fn block_on(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}
