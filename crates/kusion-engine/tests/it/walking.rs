//! How steps wait, fail, and are tried again.

#![expect(clippy::disallowed_methods, reason = "the runtime of the test is a folder")]

use crate::world::{Memo, World, config, namespace, options, spec};
use kusion_engine::{
    ApplyOptions, Confirm, Engine, EngineError, Event, Outcome, Previewed, Report, Runtimes,
};
use kusion_model::{Origins, Phase, Resource, ResourceId, ResourceType, Spec, StackKey};
use kusion_runtime_fake::{Faults, FileRuntime};
use kusion_secret::Sealer;
use kusion_store::{Memory, Store};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A deployment whose pods behave as an annotation says, and a config map that waits for it.
fn waiting(behaviour: &Value) -> Spec {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": behaviour},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    });
    let mut user = config("user", "1");
    user["metadata"]["annotations"] = json!({"depends-on": "apps/v1:Deployment:shop:web"});
    let mut spec = spec(&[namespace("shop"), deployment, user]);
    spec.resources[1].extensions.insert("kusion.io/dependents-wait".to_owned(), json!("ready"));
    spec
}

async fn applied(world: &World, spec: &Spec, timeout: Duration) -> Report {
    let agree = |_: &Previewed| Confirm::Agreed;
    let options = ApplyOptions { timeout, ..options() };
    let done = world.engine.apply(&world.key, spec, &Origins::default(), &options, &agree).await;
    done.expect("the operation ends")
}

#[tokio::test]
async fn dependents_wait_until_what_they_need_is_ready() {
    let world = World::start().await;
    let never = waiting(&json!({"sandbox.kusion.io/never-ready": "true"}));
    let report = applied(&world, &never, Duration::from_secs(2)).await;
    let outcomes: Vec<String> =
        report.steps.iter().map(|it| format!("{} {:?}", it.id, it.outcome)).collect();
    assert!(outcomes.contains(&"apps/v1:Deployment:shop:web Failed".to_owned()), "{outcomes:?}");
    assert!(outcomes.contains(&"v1:ConfigMap:shop:user Skipped".to_owned()), "{outcomes:?}");
    assert!(world.object("configmaps", "shop", "user").is_none());

    let world = World::start().await;
    let soon = waiting(&json!({"sandbox.kusion.io/ready-delay": "1s"}));
    let report = applied(&world, &soon, Duration::from_mins(1)).await;
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert!(world.object("configmaps", "shop", "user").is_some());
}

#[tokio::test]
async fn a_first_preview_knows_what_references_mean() {
    let world = World::start().await;
    let user = |text: &str| {
        let mut user = config("user", text);
        user["metadata"]["namespace"] = json!("default");
        user
    };
    let mut used = config("used", "1");
    used["metadata"]["namespace"] = json!("default");
    let text = "is $kusion_path.v1:ConfigMap:default:used.data.value";
    let previewed = world.preview(&[used, user(text)]).await.expect("the plan can be made");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str().ends_with(":user"));
    let desired = step.and_then(|it| it.desired.as_ref()).expect("it is wanted");
    assert_eq!(desired.attributes["data"]["value"], "is 1");
}

#[tokio::test]
async fn a_resource_goes_together_with_the_need_of_it() {
    let world = World::start().await;
    let mut user = config("user", "1");
    user["metadata"]["annotations"] = json!({"depends-on": "v1:ConfigMap:shop:used"});
    let before = [namespace("shop"), user, config("used", "1"), config("other", "1")];
    world.apply(&before).await.expect("it is applied");
    let after = [namespace("shop"), config("user", "1"), config("other", "1")];
    let report = world.apply(&after).await.expect("it is applied");
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert!(world.object("configmaps", "shop", "used").is_none());
    assert!(world.planned(&after).await.is_empty());
}

/// An engine over a folder, whose calls fail as told.
struct Things {
    folder: PathBuf,
    store: Store,
    events: Arc<Memo>,
}

impl Things {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("kusion-engine-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let store = Store::with_backend(Arc::new(Memory::default()));
        Self { folder, store, events: Arc::default() }
    }

    async fn apply(&self, count: usize, faults: &str) -> Result<Report, EngineError> {
        let faults: Faults = faults.parse().expect("faults");
        let runtime = FileRuntime::open(&self.folder, "shop/dev")
            .expect("a folder")
            .with_faults(faults)
            .with_parallel_calls(1);
        let runtimes = Runtimes::default().with("Fake", Arc::new(runtime));
        let sealer = Sealer::new([7; 32], "a test");
        let engine =
            Engine::new(self.store.clone(), runtimes, sealer, Arc::clone(&self.events) as _);
        let key: StackKey = engine.stack_key("shop", "dev", "").await?;
        let resources = (0..count)
            .map(|place| Resource {
                id: ResourceId::new(format!("fake:thing:t{place}")),
                resource_type: ResourceType::new("Fake"),
                attributes: json!({"plain": "1"}).into(),
                depends_on: Vec::new(),
                extensions: Map::new(),
            })
            .collect();
        let spec = Spec { resources, ..Spec::default() };
        let agree = |_: &Previewed| Confirm::Agreed;
        engine.apply(&key, &spec, &Origins::default(), &options(), &agree).await
    }

    fn made(&self) -> usize {
        let runtime = FileRuntime::open(&self.folder, "shop/dev").expect("a folder");
        runtime.folder().objects().expect("objects").len()
    }
}

impl Drop for Things {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test]
async fn a_call_that_fails_for_a_while_is_made_again() {
    let things = Things::new("retries");
    let report = things.apply(3, "apply:1:transient,apply:3:lost").await.expect("it ends");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 3));
    let events = things.events.all();
    let retried = events.iter().filter(|it| matches!(it, Event::Retried { .. })).count();
    assert_eq!(retried, 2, "{events:?}");
    assert_eq!(things.made(), 3, "what was made before its answer was lost is not made twice");
}

#[tokio::test]
async fn a_failed_operation_keeps_what_was_done_and_the_next_one_goes_on() {
    let things = Things::new("resume");
    let report = things.apply(3, "apply:2:permanent").await.expect("it ends");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Failed, 2));
    let report = things.apply(3, "").await.expect("it ends");
    assert_eq!((report.phase, report.steps.len()), (Phase::Succeeded, 1));
    assert_eq!(things.made(), 3);
}
