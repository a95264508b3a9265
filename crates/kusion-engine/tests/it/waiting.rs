//! Waves, hooks and other ways to wait.

use crate::world::{World, config, namespace, options, run, spec};
use kusion_engine::{Event, Failpoint, Failpoints, Goal, Outcome, Report, RunOptions};
use kusion_model::{Origins, Phase, PlanOptions, ResourceId, Spec, WAIT_FOR};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// A job that ends as its command says, with annotations.
fn job(name: &str, command: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "shop", "annotations": annotations},
        "spec": {
            "backoffLimit": 0,
            "template": {"spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "busybox", "command": [command]}],
            }},
        },
    })
}

fn hook(name: &str, command: &str, when: &str) -> Value {
    job(name, command, &json!({"kusion.io/hook": when}))
}

fn in_wave(mut object: Value, wave: &str) -> Value {
    object["metadata"]["annotations"]["kusion.io/wave"] = json!(wave);
    object
}

async fn applied(world: &World, spec: &Spec) -> Report {
    let options = RunOptions { ready_timeout: Duration::from_mins(1), ..options() };
    let goal = Goal::Apply { spec, origins: &Origins::default() };
    let done = run(&world.stack, goal, &PlanOptions::default(), &options).await;
    done.expect("the operation ends")
}

/// The names of the resources whose steps started, in order.
fn started(world: &World) -> Vec<String> {
    let name = |event: Event| match event {
        Event::StepStarted { id, .. } => {
            Some(id.as_str().rsplit(':').next().unwrap_or_default().to_owned())
        }
        _ => None,
    };
    world.events.all().into_iter().filter_map(name).collect()
}

fn uid(world: &World, name: &str) -> Option<String> {
    let path = format!("/apis/batch/v1/namespaces/shop/jobs/{name}");
    let object = crate::world::get(&world.sandbox, &path)?;
    object["metadata"]["uid"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn waves_start_when_lower_ones_are_ready() {
    let world = World::start();
    let slow = json!({"sandbox.kusion.io/run-time": "300ms"});
    let mut first = in_wave(job("first", "true", &json!({})), "-1");
    first["spec"]["template"]["metadata"] = json!({"annotations": slow});
    let objects = [
        namespace("shop"),
        in_wave(config("last", "1"), "5"),
        config("middle", "1"),
        first.clone(),
    ];
    let report = applied(&world, &spec(&objects)).await;
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert_eq!(started(&world), ["shop", "first", "middle", "last"]);
    let events = world.events.all();
    let is_ready = |it: &Event| {
        matches!(it, Event::Health { id, health, .. }
            if id.as_str().ends_with(":first") && health.is_ready())
    };
    let is_middle = |it: &Event| matches!(it, Event::StepStarted { id, .. } if id.as_str().ends_with(":middle"));
    let ready = events.iter().position(is_ready).expect("the job is ready");
    assert!(ready < events.iter().position(is_middle).expect("the next wave starts"));
}

#[tokio::test]
async fn a_failed_wave_keeps_the_next_one_from_starting() {
    let world = World::start();
    let objects = [
        namespace("shop"),
        in_wave(job("broken", "false", &json!({})), "-1"),
        config("never", "1"),
    ];
    let report = applied(&world, &spec(&objects)).await;
    assert_eq!(report.phase, Phase::Failed);
    let never = report.steps.iter().find(|it| it.id.as_str().ends_with(":never")).expect("a step");
    assert_eq!(never.outcome, Outcome::Skipped);
    assert_eq!(never.message, "batch/v1:Job:shop:broken failed");
    assert!(world.object("configmaps", "shop", "never").is_none());
}

#[tokio::test]
async fn a_dependency_that_must_be_ready_is_waited_for_even_if_it_does_not_change() {
    let world = World::start();
    let broken = job("broken", "false", &json!({}));
    let mut objects = vec![namespace("shop"), broken];
    let report = applied(&world, &spec(&objects)).await;
    assert_eq!(report.phase, Phase::Succeeded, "nothing waits for it");
    objects.push(config("user", "1"));
    let mut spec = spec(&objects);
    let id = ResourceId::new("batch/v1:Job:shop:broken");
    spec.resources[2].extensions.insert(WAIT_FOR.to_owned(), json!([id]));
    spec.resources[2].depends_on.push(id);
    let report = applied(&world, &spec).await;
    assert_eq!(report.phase, Phase::Failed);
    let message = &report.steps[0].message;
    assert!(message.starts_with("batch/v1:Job:shop:broken is not ready: "), "{message}");
}

#[tokio::test]
async fn hooks_run_once_for_each_spec() {
    let world = World::start();
    let objects = |value: &str| {
        spec(&[
            namespace("shop"),
            config("a", value),
            hook("before", "true", "before-apply"),
            hook("after", "true", "after-apply"),
        ])
    };
    let report = applied(&world, &objects("1")).await;
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert_eq!(started(&world), ["shop", "before", "a", "after"]);
    let first = [uid(&world, "before"), uid(&world, "after")];
    assert!(first.iter().all(Option::is_some));
    let report = applied(&world, &objects("1")).await;
    assert_eq!(report.revision, None, "nothing changes, so nothing runs: {report:?}");
    let report = applied(&world, &objects("2")).await;
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 3));
    let second = [uid(&world, "before"), uid(&world, "after")];
    assert!(second.iter().all(Option::is_some));
    assert!(first[0] != second[0] && first[1] != second[1], "they ran again");
    // A hook that changes runs, even if nothing else does.
    let mut changed = objects("2");
    let image = "/spec/template/spec/containers/0/image";
    let attributes = &mut changed.resources[2].attributes;
    *attributes.pointer_mut(image).expect("a field") = json!("busybox:2");
    let report = applied(&world, &changed).await;
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 1));
    assert_ne!(uid(&world, "before"), second[0]);
    assert_eq!(uid(&world, "after"), second[1]);
}

#[tokio::test]
async fn a_failed_hook_stops_the_apply_and_runs_again() {
    let world = World::start();
    let objects = |command: &str| {
        spec(&[namespace("shop"), config("a", "1"), hook("before", command, "before-apply")])
    };
    for _ in 0..2 {
        let before = uid(&world, "before");
        let report = applied(&world, &objects("false")).await;
        assert_eq!(report.phase, Phase::Failed, "{report:?}");
        assert!(world.object("configmaps", "shop", "a").is_none());
        assert_ne!(uid(&world, "before"), before, "it ran");
    }
    let report = applied(&world, &objects("true")).await;
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert!(world.object("configmaps", "shop", "a").is_some());
}

#[tokio::test]
async fn a_hook_of_a_killed_apply_is_not_run_again() {
    let world = World::start();
    let objects =
        spec(&[namespace("shop"), config("a", "1"), hook("before", "true", "before-apply")]);
    let ended = Arc::new(Notify::new());
    let signal = Arc::clone(&ended);
    let failpoints = Failpoints::new(move |point, id| {
        let is_hook = id.is_some_and(|it| it.as_str().ends_with(":before"));
        if point == Failpoint::Ended && is_hook {
            signal.notify_one();
        }
    });
    let killed = world.engine.clone().with_failpoints(failpoints).stack(world.stack.key().clone());
    let goal = Goal::Apply { spec: &objects, origins: &Origins::default() };
    let (plan, options) = (PlanOptions::default(), options());
    tokio::select! {
        done = run(&killed, goal, &plan, &options) => panic!("it was not stopped: {done:?}"),
        () = ended.notified() => {}
    }
    let first = uid(&world, "before").expect("the hook was created");
    assert!(world.object("configmaps", "shop", "a").is_none());
    let patient = RunOptions {
        lock: kusion_engine::LockOptions {
            wait: kusion_store::LockWait::For(Duration::from_secs(30)),
            ..options.lock.clone()
        },
        ..options
    };
    let report = run(&world.stack, goal, &plan, &patient).await.expect("it is applied");
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert_eq!(uid(&world, "before"), Some(first), "the next apply waits for the same job");
    assert!(world.object("configmaps", "shop", "a").is_some());
}
