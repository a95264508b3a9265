//! A stack from its first release to its end.

use crate::world::{World, apply, config, key, namespace, options, preview, run, spec};
use kusion_engine::{DEFAULT_SETTLE, Event, Goal, Outcome, Stop, WatchEnd, WatchOptions};
use kusion_model::{HealthState, Operation, Phase, PlanOptions};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_stack_is_made_kept_changed_and_destroyed() {
    let world = World::start();
    let first = [namespace("shop"), config("a", "1"), config("b", "1")];
    let expected =
        ["Create v1:ConfigMap:shop:a", "Create v1:ConfigMap:shop:b", "Create v1:Namespace:shop"];
    assert_eq!(world.planned(&first).await, expected);
    let report = world.apply(&first).await.expect("it is applied");
    assert_eq!((report.revision, report.phase), (Some(1), Phase::Succeeded));
    assert_eq!(report.count(Outcome::Done), 3);

    assert!(world.planned(&first).await.is_empty());
    let report = world.apply(&first).await.expect("there is nothing to do");
    assert_eq!(report.revision, None, "an apply without changes makes no release");

    let second = [namespace("shop"), config("a", "2"), config("c", "1")];
    assert_eq!(
        world.planned(&second).await,
        ["Update v1:ConfigMap:shop:a", "Create v1:ConfigMap:shop:c", "Delete v1:ConfigMap:shop:b"]
    );
    world.apply(&second).await.expect("it is applied");
    assert_eq!(world.object("configmaps", "shop", "a").expect("it is there")["data"]["value"], "2");
    assert!(world.object("configmaps", "shop", "b").is_none());

    let back = Goal::Rollback { to: 1 };
    let report = run(&world.stack, back, &PlanOptions::default(), &options()).await;
    let report = report.expect("it goes back");
    assert_eq!((report.revision, report.phase), (Some(3), Phase::Succeeded));
    assert_eq!(world.object("configmaps", "shop", "a").expect("it is there")["data"]["value"], "1");
    assert!(world.object("configmaps", "shop", "b").is_some());

    let report = world.destroy().await.expect("all goes");
    assert_eq!(report.count(Outcome::Done), 3);
    let state = world.engine.store().read(world.stack.key()).await.expect("the state is there");
    assert!(state.resources.is_empty());
    let operations: Vec<Operation> = state.releases.iter().map(|it| it.head.operation).collect();
    assert_eq!(
        operations,
        [Operation::Apply, Operation::Apply, Operation::Rollback { to: 1 }, Operation::Destroy]
    );
}

#[tokio::test]
async fn what_vanished_is_made_again_and_what_exists_is_adopted() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    world.delete_config("a");
    let previewed = world.preview(&objects).await.expect("the plan can be made");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str().ends_with(":a"));
    let step = step.expect("there is a step");
    assert_eq!(format!("{:?} {:?}", step.action, step.reason), "Create Missing");
    world.apply(&objects).await.expect("it is made again");

    let other = world.engine.stack(key("other"));
    let previewed = preview(&other, &spec(&[config("a", "1")]), &PlanOptions::default()).await;
    let previewed = previewed.expect("the plan can be made");
    assert_eq!(crate::world::lines(&previewed), ["Adopt v1:ConfigMap:shop:a"]);
}

#[tokio::test]
async fn dependents_of_a_failed_step_are_skipped_and_others_go_on() {
    let world = World::start();
    let wrong = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "wrong", "namespace": "shop"},
        "spec": {"clusterIP": "192.0.2.1", "ports": [{"port": 80}]},
    });
    let mut user = config("user", "1");
    user["metadata"]["annotations"] = json!({"depends-on": "v1:Service:shop:wrong"});
    // The namespace is new, so the fault shows only when it is there: on a real cluster, no other
    // namespace is used for the dry run.
    let objects = spec(&[namespace("shop"), wrong, user, config("fine", "1")]);
    let source = ClusterSource::Text(world.sandbox.kubeconfig());
    let stack = world.on(KubernetesSource::new(source, Options::default()));
    let report = apply(&stack, &objects).await.expect("the operation ends");
    assert_eq!(report.phase, Phase::Failed);
    let outcome = |name: &str| {
        report.steps.iter().find(|it| it.id.as_str().ends_with(name)).map(|it| it.outcome)
    };
    assert_eq!(outcome(":wrong"), Some(Outcome::Failed));
    assert_eq!(outcome(":user"), Some(Outcome::Skipped));
    let state = world.engine.store().read(world.stack.key()).await.expect("the state is there");
    assert_eq!(state.releases.last().map(|it| it.phase), Some(Phase::Failed));
    assert!(state.pending.is_empty());
}

#[tokio::test]
async fn a_wish_to_stop_leaves_a_tidy_state() {
    let world = World::start();
    let mut options = options();
    options.stop = Stop::default();
    options.stop.ask();
    let done = world.apply_with(&[namespace("shop")], &PlanOptions::default(), &options).await;
    let report = done.expect("the operation ends");
    assert_eq!((report.phase, report.count(Outcome::Skipped)), (Phase::Stopped, 1));
    assert!(world.object("configmaps", "shop", "a").is_none());
}

/// A deployment whose pods behave as annotations say.
fn deployment(annotations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": annotations},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    })
}

fn watch_options(since: Option<String>) -> WatchOptions {
    WatchOptions {
        timeout: Some(Duration::from_mins(1)),
        forever: false,
        settle: DEFAULT_SETTLE,
        since,
        stop: Stop::default(),
    }
}

/// Returns the states of the deployment that were reported, each change once.
fn states(world: &World) -> Vec<HealthState> {
    let state = |event: Event| match event {
        Event::Health { id, health, .. } if id.as_str().ends_with(":web") => Some(health.state),
        _ => None,
    };
    let mut states: Vec<HealthState> = world.events.all().into_iter().filter_map(state).collect();
    states.dedup();
    states
}

#[tokio::test]
async fn watching_ends_when_everything_is_ready() {
    let world = World::start();
    let objects = [namespace("shop"), deployment(&json!({}))];
    let report = world.apply(&objects).await.expect("it is applied");
    let options = watch_options(report.started);
    let end = world.stack.watch_objects(report.live, &options).await.expect("it is watched");
    assert_eq!(end, WatchEnd::Ready);
    // It is ready when it is stable, and stays so.
    assert_eq!(states(&world), [HealthState::Progressing, HealthState::Ready]);
    let status = world.stack.status().await.expect("the stack has a status");
    assert!(
        status.values().all(|it| it.health.as_ref().is_some_and(kusion_model::Health::is_ready))
    );
}

#[tokio::test]
async fn a_crash_loop_is_never_ready() {
    let world = World::start();
    let loops = deployment(&json!({"sandbox.kusion.io/crash-loop": "true"}));
    let report = world.apply(&[namespace("shop"), loops]).await.expect("it is applied");
    let options = watch_options(report.started);
    let end = world.stack.watch_objects(report.live, &options).await.expect("it is watched");
    let WatchEnd::Failed(findings) = end else { panic!("{end:?}") };
    assert!(findings[0].message.starts_with("CrashLoopBackOff: "), "{findings:?}");
    assert_eq!(states(&world), [HealthState::Progressing, HealthState::Failed]);
    let status = world.stack.status().await.expect("the stack has a status");
    let states: Vec<Option<HealthState>> =
        status.values().map(|it| it.health.as_ref().map(|it| it.state)).collect();
    assert!(states.contains(&Some(HealthState::Failed)), "{states:?}");
}

#[tokio::test]
async fn watching_nothing_or_what_is_missing_is_not_ready() {
    let world = World::start();
    let nothing = world.stack.watch(&watch_options(None)).await;
    assert_eq!(nothing.map_err(|it| it.code()), Err("no-resources"));
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    world.delete_config("a");
    let end = world.stack.watch(&watch_options(None)).await.expect("it is watched");
    let WatchEnd::Failed(findings) = end else { panic!("{end:?}") };
    assert_eq!(findings[0].to_string(), "v1:ConfigMap:shop:a: Missing: deleted outside this stack");
}
