//! How steps wait, fail, and are tried again.

use crate::things::{Things, thing};
use crate::world::{World, config, namespace, options, run, spec};
use kusion_engine::{Event, Goal, Outcome, Report, RunOptions};
use kusion_model::{Origins, Phase, PlanOptions, Spec};
use serde_json::{Value, json};
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
    let options = RunOptions { timeout, ready_timeout: timeout, ..options() };
    let goal = Goal::Apply { spec, origins: &Origins::default() };
    let done = run(&world.stack, goal, &PlanOptions::default(), &options).await;
    done.expect("the operation ends")
}

#[tokio::test]
async fn dependents_wait_until_what_they_need_is_ready() {
    let world = World::start();
    let never = waiting(&json!({"sandbox.kusion.io/never-ready": "true"}));
    let report = applied(&world, &never, Duration::from_secs(2)).await;
    let outcomes: Vec<String> =
        report.steps.iter().map(|it| format!("{} {:?}", it.id, it.outcome)).collect();
    assert!(outcomes.contains(&"apps/v1:Deployment:shop:web Failed".to_owned()), "{outcomes:?}");
    assert!(outcomes.contains(&"v1:ConfigMap:shop:user Skipped".to_owned()), "{outcomes:?}");
    assert!(world.object("configmaps", "shop", "user").is_none());

    let world = World::start();
    let soon = waiting(&json!({"sandbox.kusion.io/ready-delay": "1s"}));
    let report = applied(&world, &soon, Duration::from_mins(1)).await;
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    assert!(world.object("configmaps", "shop", "user").is_some());
}

#[tokio::test]
async fn who_waits_for_ready_is_told_why_and_can_stop() {
    let world = World::start();
    let never = waiting(&json!({"sandbox.kusion.io/never-ready": "true"}));
    let options = RunOptions { timeout: Duration::from_mins(5), ..options() };
    let goal = Goal::Apply { spec: &never, origins: &Origins::default() };
    let plan = PlanOptions::default();
    let stop = async {
        let is_seen = || {
            let health =
                |it: &Event| matches!(it, Event::Health { health, .. } if !health.is_ready());
            world.events.all().iter().any(health)
        };
        while !is_seen() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        options.stop.ask();
    };
    let (report, ()) = tokio::join!(run(&world.stack, goal, &plan, &options), stop);
    let report = report.expect("the operation ends");
    assert_eq!(report.phase, Phase::Stopped, "{report:?}");
    assert_eq!((report.count(Outcome::Done), report.count(Outcome::Skipped)), (2, 1));
}

#[tokio::test]
async fn ready_counts_when_it_lasts() {
    let things = Things::new("settle");
    let first = thing("first", json!({"dependentsWait": true, "settles": true}));
    let mut second = thing("second", json!({"plain": "1"}));
    second.depends_on.push(first.id.clone());
    let report = things.with_faults("").apply(vec![first, second]).await.expect("it ends");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 2));
    let events = things.events.all();
    let is_second =
        |it: &Event| matches!(it, Event::StepStarted { id, .. } if id.as_str().ends_with("second"));
    let start = events.iter().position(is_second).expect("the dependent is started");
    let healths = events[..start].iter().filter(|it| matches!(it, Event::Health { .. })).count();
    assert_eq!(healths, 3, "a short ready does not count: {events:?}");
}

#[tokio::test]
async fn a_first_preview_knows_what_references_mean() {
    let world = World::start();
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
    let world = World::start();
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

#[tokio::test]
async fn a_call_that_fails_for_a_while_is_made_again() {
    let things = Things::new("retries");
    let report =
        things.with_faults("apply:1:transient,apply:3:lost").apply_plain(3).await.expect("it ends");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 3));
    let events = things.events.all();
    let retried = events.iter().filter(|it| matches!(it, Event::StepRetried { .. })).count();
    assert_eq!(retried, 2, "{events:?}");
    assert_eq!(
        things.objects().len(),
        3,
        "what was made before its answer was lost is not made twice"
    );
}

#[tokio::test]
async fn a_failed_operation_keeps_what_was_done_and_the_next_one_goes_on() {
    let things = Things::new("resume");
    let report = things.with_faults("apply:2:permanent").apply_plain(3).await.expect("it ends");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Failed, 2));
    let report = things.with_faults("").apply_plain(3).await.expect("it ends");
    assert_eq!((report.phase, report.steps.len()), (Phase::Succeeded, 1));
    assert_eq!(things.objects().len(), 3);
}
