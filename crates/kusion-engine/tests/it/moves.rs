//! Resources that get another id.

use crate::things::{Running, Things, thing};
use crate::world::{World, config, lines, namespace, options, run, sealer, spec};
use kusion_engine::{EngineError, Goal, Previewed, Report, read_plans, write_plans};
use kusion_model::{MoveRule, Note, Origins, PlanOptions, Resource, ResourceId, Spec};
use serde_json::json;

fn moved(from: &str, to: &str) -> PlanOptions {
    let rule = MoveRule { from: ResourceId::new(from), to: ResourceId::new(to) };
    PlanOptions { moved: vec![rule], ..PlanOptions::default() }
}

fn secretive(name: &str, plain: &str) -> Resource {
    thing(name, json!({"plain": plain, "secrets": {"password": "hunter2"}}))
}

async fn preview(things: &Running, resources: &[Resource], plan: &PlanOptions) -> Previewed {
    let spec = Spec { resources: resources.to_vec(), ..Spec::default() };
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    things.stack.preview(goal, plan).await.expect("the plan can be made")
}

async fn apply(
    things: &Running,
    resources: &[Resource],
    plan: &PlanOptions,
) -> Result<Report, EngineError> {
    let spec = Spec { resources: resources.to_vec(), ..Spec::default() };
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    run(&things.stack, goal, plan, &options()).await
}

async fn recorded(things: &Running) -> Vec<String> {
    let state = things.stack.state().await.expect("the state can be read");
    state.resources.keys().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_moved_resource_is_neither_deleted_nor_created() {
    let things = Things::new("moved");
    let running = things.with_faults("");
    running.apply(vec![secretive("old", "1"), thing("other", json!({}))]).await.expect("applied");
    let before = things.objects();
    let after = [secretive("new", "1"), thing("other", json!({}))];
    let without = preview(&running, &after, &PlanOptions::default()).await;
    assert_eq!(lines(&without), ["Create fake:thing:new", "Delete fake:thing:old"]);
    let rule = moved("fake:thing:old", "fake:thing:new");
    let with = preview(&running, &after, &rule).await;
    assert!(lines(&with).is_empty(), "{:?}", lines(&with));
    let step = with.plan.steps.iter().find(|it| it.id.as_str() == "fake:thing:new");
    let note = Note::Moved { from: ResourceId::new("fake:thing:old") };
    assert_eq!(step.expect("a step").notes, [note]);
    assert!(with.nothing_to_do().is_none(), "the state changes");
    let report = apply(&running, &after, &rule).await.expect("it is applied");
    assert_eq!(report.revision, None, "no object changes");
    let ids = |objects: Vec<kusion_runtime_fake::Stored>| -> Vec<String> {
        objects.into_iter().map(|it| it.id).collect()
    };
    assert_eq!(ids(things.objects()), ids(before));
    assert_eq!(recorded(&running).await, ["fake:thing:new", "fake:thing:other"]);
    // The rule has no effect any more, and is not needed.
    for plan in [&rule, &PlanOptions::default()] {
        let again = preview(&running, &after, plan).await;
        assert!(again.nothing_to_do().is_some());
    }
}

#[tokio::test]
async fn a_moved_resource_can_change_and_a_saved_plan_moves_it() {
    let things = Things::new("moved-saved");
    let running = things.with_faults("");
    running.apply(vec![secretive("old", "1")]).await.expect("applied");
    let rule = moved("fake:thing:old", "fake:thing:new");
    let previewed = preview(&running, &[secretive("new", "2")], &rule).await;
    assert_eq!(lines(&previewed), ["Update fake:thing:new"]);
    let file = write_plans(&[previewed.plan], &sealer());
    let mut saved = read_plans(file.as_bytes(), &sealer()).expect("a plan");
    let mut locked = running.stack.lock(&options()).await.expect("locked");
    let plan = saved.plans.pop().expect("a plan");
    let previewed = locked.load(plan, &saved.digest, &[]).await.expect("nothing has changed");
    locked.run(previewed).await.expect("it is applied");
    assert_eq!(things.objects().len(), 1);
    assert_eq!(things.objects()[0].attributes["plain"], "2");
    assert_eq!(recorded(&running).await, ["fake:thing:new"]);
}

#[tokio::test]
async fn a_rule_for_a_resource_that_stays_has_no_effect() {
    let things = Things::new("moved-stays");
    let running = things.with_faults("");
    running.apply(vec![thing("a", json!({}))]).await.expect("applied");
    let both = [thing("a", json!({})), thing("b", json!({}))];
    let previewed = preview(&running, &both, &moved("fake:thing:a", "fake:thing:b")).await;
    assert_eq!(lines(&previewed), ["Create fake:thing:b"]);
}

#[tokio::test]
async fn secrets_of_a_renamed_resource_can_be_read() {
    let things = Things::new("renamed");
    let running = things.with_faults("");
    running.apply(vec![secretive("a", "1")]).await.expect("applied");
    let [a, b, c] = ["a", "b", "c"].map(|it| ResourceId::new(format!("fake:thing:{it}")));
    let mut locked = running.stack.lock(&options()).await.expect("locked");
    locked.rename(&a, &b).await.expect("renamed");
    // To rename it once more, its secrets are unsealed.
    locked.rename(&b, &c).await.expect("renamed");
    let error = locked.rename(&a, &b).await.expect_err("it is not there");
    assert_eq!(error.to_string(), "fake:thing:a is not in the state; did you mean fake:thing:c?");
    let error = locked.rename(&c, &c).await.expect_err("it is there");
    assert_eq!(error.to_string(), "fake:thing:c is in the state already");
    locked.release().await.expect("released");
    let state = running.stack.state().await.expect("the state");
    let text = serde_json::to_string(&state.resources).expect("JSON");
    assert!(text.contains("$sealed") && !text.contains("hunter2"), "{text}");
    assert!(
        preview(&running, &[secretive("c", "1")], &PlanOptions::default()).await.plan.is_empty()
    );
}

#[tokio::test]
async fn another_object_is_refused() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("a", "1")]).await.expect("it is applied");
    let rule = moved("v1:ConfigMap:shop:a", "v1:ConfigMap:shop:b");
    let (spec, origins) = (spec(&[namespace("shop"), config("b", "1")]), Origins::default());
    let goal = Goal::Apply { spec: &spec, origins: &origins };
    let error = world.stack.preview(goal, &rule).await.expect_err("they are two objects");
    assert!(error.to_string().contains("is another object"), "{error}");
}
