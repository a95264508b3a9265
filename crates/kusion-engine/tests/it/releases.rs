//! What is recorded of releases, and what is not one.

use crate::world::{World, apply, config, key, namespace, options, preview, run, spec};
use kusion_engine::{Goal, Outcome};
use kusion_model::{Phase, PlanOptions};
use serde_json::json;

#[tokio::test]
async fn a_release_says_who_made_it_and_with_which_engine() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    let state = world.engine.store().read(world.stack.key()).await.expect("the state is there");
    let release = &state.releases[0];
    let head = &release.head;
    let process = format!("(process {}, `test`)", std::process::id());
    assert!(head.operator.ends_with(&process), "{}", head.operator);
    assert!(!head.engine.is_empty() && !release.started.is_empty());
    assert!(state.seq > 0);
    let cluster = state.infrastructure.values().next().expect("the cluster is recorded");
    assert_eq!(cluster.id, world.sandbox_uid(), "a state belongs to one cluster");
}

#[tokio::test]
async fn what_is_declined_or_refused_makes_no_release_and_holds_nothing() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.preview(&objects).await.expect("it is shown, and declined");
    let mut wrong = config("wrong", "1");
    wrong["metadata"]["namespace"] = json!("default");
    wrong["metadata"]["labels"] = json!({"a": "not a label!"});
    world.apply(&[wrong]).await.expect_err("the server refuses it");
    let state = world.engine.store().read(world.stack.key()).await.expect("the state is there");
    assert!(state.releases.is_empty() && state.pending.is_empty());
    // Nobody holds the stack.
    let report = world.apply(&objects).await.expect("it is applied");
    assert_eq!((report.revision, report.phase), (Some(1), Phase::Succeeded));
}

#[tokio::test]
async fn what_was_adopted_goes_with_the_stack() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    world.make_config("theirs", "1");
    let objects = spec(&[config("theirs", "1")]);
    let report = apply(&other, &objects).await.expect("it is adopted");
    assert_eq!((report.phase, report.count(Outcome::Done)), (Phase::Succeeded, 1));
    let gone = run(&other, Goal::Destroy, &PlanOptions::default(), &options()).await;
    let report = gone.expect("it goes");
    assert_eq!(report.count(Outcome::Done), 1);
    assert!(world.object("configmaps", "shop", "theirs").is_none());
}

#[tokio::test]
async fn drift_is_shown_field_by_field_and_taken_back() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    world.patch_config("a", &json!({"data": {"value": "by hand"}}));
    let told = world.preview(&objects).await.expect("the plan is shown").refusals;
    assert!(told[0].to_string().contains("`somebody` manages"), "{told:?}");
    let force = PlanOptions { force: true, ..PlanOptions::default() };
    let previewed = preview(&world.stack, &spec(&objects), &force).await;
    let previewed = previewed.expect("the plan can be made");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str().ends_with(":a"));
    let shown = serde_json::to_string(&step.expect("a step").changes).expect("JSON");
    assert!(shown.contains("by hand") && shown.contains(r#"["data","value"]"#), "{shown}");
    world.apply_with(&objects, &force, &options()).await.expect("it is taken back");
    assert_eq!(world.object("configmaps", "shop", "a").expect("it is there")["data"]["value"], "1");
}
