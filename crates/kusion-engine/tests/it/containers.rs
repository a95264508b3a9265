//! Deletions of objects that contain others.

use crate::things::{Things, thing};
use crate::world::{World, config, key, namespace, options, preview, run, spec};
use kusion_engine::{EngineError, Goal, Stack};
use kusion_model::{Guards, Origins, PlanOptions, Spec};
use serde_json::json;

/// Destroys a stack; returns what was refused.
async fn refusals(stack: &Stack, options_of_plan: &PlanOptions) -> Vec<String> {
    match run(stack, Goal::Destroy, options_of_plan, &options()).await {
        Err(EngineError::Guarded(refusals)) => refusals.iter().map(ToString::to_string).collect(),
        Ok(_) => Vec::new(),
        Err(error) => unreachable!("only guards may refuse: {error}"),
    }
}

#[tokio::test]
async fn a_namespace_with_objects_of_others_stays() {
    let world = World::start();
    world.apply(&[namespace("shop"), config("ours", "1")]).await.expect("it is applied");
    let other = world.engine.stack(key("other"));
    let specs = spec(&[config("theirs", "2")]);
    let goal = Goal::Apply { spec: &specs, origins: &Origins::default() };
    run(&other, goal, &PlanOptions::default(), &options()).await.expect("it is applied");
    let refused = refusals(&world.stack, &PlanOptions::default()).await;
    assert_eq!(
        refused,
        ["v1:Namespace:shop would be deleted with 1 object that is not part of this stack: \
          ConfigMap theirs"]
    );
    assert!(world.object("configmaps", "shop", "ours").is_some(), "nothing was deleted");

    // Without the other's object the rest is the stack's own, or the cluster's.
    run(&other, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    assert!(refusals(&world.stack, &PlanOptions::default()).await.is_empty());
    assert!(world.object("namespaces", "", "shop").is_none());
}

#[tokio::test]
async fn a_namespace_with_objects_of_others_is_deleted_on_request() {
    let world = World::start();
    world.apply(&[namespace("shop")]).await.expect("it is applied");
    world.make_config("theirs", "2");
    let name = || vec!["v1:Namespace:shop".to_owned()];
    // The author of a stack cannot allow it, only the user.
    let guards = Guards { allowed_by_stack: name(), ..Guards::default() };
    let by_stack = PlanOptions { guards, ..PlanOptions::default() };
    assert_eq!(refusals(&world.stack, &by_stack).await.len(), 1);
    let guards = Guards { allowed: name(), ..Guards::default() };
    assert!(
        refusals(&world.stack, &PlanOptions { guards, ..PlanOptions::default() }).await.is_empty()
    );
}

#[tokio::test]
async fn every_runtime_says_what_its_containers_hold() {
    let things = Things::new("containers");
    let room = thing("room", json!({"container": true, "provides": ["room"]}));
    let ours = thing("ours", json!({"requires": ["room"]}));
    let running = things.with_faults("");
    running.apply(vec![room, ours.clone()]).await.expect("it is applied");
    let other = running.stack.engine().stack(key("other"));
    let theirs =
        Spec { resources: vec![thing("theirs", json!({"requires": ["room"]}))], ..Spec::default() };
    crate::world::apply(&other, &theirs).await.expect("it is applied");

    // A preview says it, too.
    let without = Spec { resources: vec![ours], ..Spec::default() };
    let previewed =
        preview(&running.stack, &without, &PlanOptions::default()).await.expect("a plan");
    let refused: Vec<String> = previewed.refusals.iter().map(ToString::to_string).collect();
    assert_eq!(
        refused,
        ["fake:thing:room would be deleted with 1 object that is not part of this stack: \
          File fake:thing:theirs"]
    );
    run(&other, Goal::Destroy, &PlanOptions::default(), &options()).await.expect("it is gone");
    assert!(refusals(&running.stack, &PlanOptions::default()).await.is_empty());
}
