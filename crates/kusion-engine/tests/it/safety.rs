//! Secrets, holders, calls without an ending.

use crate::world::{World, config, namespace, options, secret};
use kusion_engine::EngineError;
use kusion_store::StoreError;
use serde_json::json;

#[tokio::test]
async fn a_secret_is_in_no_record_plan_or_event() {
    let world = World::start();
    let objects = [namespace("shop"), secret("s", "canary-1")];
    let plan = world.preview(&objects).await.expect("a plan is made").plan;
    world.apply(&objects).await.expect("it is applied");
    let changed = [namespace("shop"), secret("s", "canary-2")];
    let second = world.preview(&changed).await.expect("a plan is made").plan;
    world.apply(&changed).await.expect("it is applied");
    let backend = world.engine.store().backend();
    let mut all = format!("{plan:?}{second:?}{:?}", world.events.stamped());
    for key in backend.list("").await.expect("the store can be listed") {
        let (bytes, _) = backend.get(&key).await.expect("it can be read").expect("it is there");
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    // As it is, and as the server keeps it.
    for hidden in ["canary", "Y2FuYXJ5"] {
        assert!(!all.contains(hidden), "{hidden} shows");
    }
}

#[tokio::test]
async fn a_secret_that_the_server_repeats_is_hidden() {
    let world = World::start();
    let mut config = config("a", "1");
    config["metadata"]["namespace"] = json!("default");
    config["metadata"]["labels"] = json!({"a": "canary value!"});
    let mut secret = secret("s", "canary value!");
    secret["metadata"]["namespace"] = json!("default");
    let message = world.rejections(&[secret, config]).await.join("\n");
    assert!(message.contains("***") && !message.contains("canary"), "{message}");
}

#[tokio::test]
async fn a_second_run_is_told_who_holds_the_stack() {
    let world = World::start();
    let options = options();
    let held = world
        .engine
        .store()
        .lock(world.stack.key(), options.lock.holder.clone(), options.lock.wait)
        .await
        .expect("it is free");
    let refused = world.apply(&[namespace("shop")]).await;
    let Err(EngineError::Store(StoreError::Held { holder, .. })) = refused else {
        unreachable!("the stack is held: {refused:?}")
    };
    assert_eq!(holder.pid, std::process::id());
    held.close().await.expect("it is given back");
    world.apply(&[namespace("shop")]).await.expect("it is free");
}

/// Everything that a stack leaves behind: plans, events, and the store.
async fn traces(world: &World, plans: &[kusion_model::Plan]) -> String {
    let backend = world.engine.store().backend();
    let mut all = format!("{plans:?}{:?}", world.events.stamped());
    for key in backend.list("").await.expect("the store can be listed") {
        let (bytes, _) = backend.get(&key).await.expect("it can be read").expect("it is there");
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    all
}

/// A secret, and objects that take its value by reference: as a whole, inside a text, in base64,
/// as a map, by way of another object, and a marked field.
fn spread(value: &str) -> Vec<serde_json::Value> {
    let reference = "$kusion_path.v1:Secret:shop:s.stringData.password";
    let config = |name: &str, data: serde_json::Value| {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "shop",
                "annotations": {"depends-on": "v1:Secret:shop:s"}},
            "data": data})
    };
    let mut marked = config("marked", json!({"open": "open", "hidden": format!("marked {value}")}));
    marked["metadata"]["annotations"]["kusion.io/secret-fields"] = json!("data.hidden");
    vec![
        namespace("shop"),
        secret("s", value),
        config("whole", json!({"a": reference})),
        config("part", json!({"a": format!("postgres://me:{reference}@db")})),
        config("live", json!({"a": "$kusion_path.v1:Secret:shop:s.data.password"})),
        config("map", json!("$kusion_path.v1:Secret:shop:s.stringData")),
        config("second", json!({"a": "$kusion_path.v1:ConfigMap:shop:part.data.a"})),
        marked,
    ]
}

#[tokio::test]
async fn a_secret_that_references_spread_stays_secret() {
    let world = World::start();
    let first = spread("canary-one-1");
    let mut plans = vec![world.preview(&first).await.expect("a plan is made").plan];
    world.apply(&first).await.expect("it is applied");
    let part = world.object("configmaps", "shop", "second").expect("it is there");
    assert_eq!(part["data"]["a"], "postgres://me:canary-one-1@db", "the server has it");
    let live = world.object("configmaps", "shop", "live").expect("it is there");
    assert_eq!(live["data"]["a"], "Y2FuYXJ5LW9uZS0x");
    assert!(world.planned(&first).await.is_empty(), "nothing to do");

    // A change shows neither the old nor the new value.
    let second = spread("canary-two-2");
    let plan = world.preview(&second).await.expect("a plan is made").plan;
    let shown = format!("{:?}", plan.steps.iter().map(|it| &it.changes).collect::<Vec<_>>());
    assert!(shown.contains("Secret { hash"), "{shown}");
    plans.push(plan);
    world.apply(&second).await.expect("it is applied");
    let goal = kusion_engine::Goal::Rollback { to: 1 };
    let plan_options = kusion_model::PlanOptions::default();
    crate::world::run(&world.stack, goal, &plan_options, &options()).await.expect("rolled back");
    let map = world.object("configmaps", "shop", "map").expect("it is there");
    assert_eq!(map["data"]["password"], "canary-one-1");
    let all = traces(&world, &plans).await;
    for hidden in ["canary", "Y2FuYXJ5"] {
        assert!(!all.contains(hidden), "{hidden} shows");
    }
    assert!(all.contains("open"), "other fields of a marked object are shown");
}

#[tokio::test]
async fn old_secrets_and_short_ones_are_hidden_in_messages() {
    let world = World::start();
    let first = [namespace("shop"), secret("s", "canary old"), secret("t", "x!")];
    world.apply(&first).await.expect("it is applied");
    // The server quotes the label, which has the old value.
    let mut wrong = secret("s", "canary new");
    wrong["metadata"]["labels"] = json!({"a": "canary old"});
    let mut short = secret("t", "y!");
    short["metadata"]["labels"] = json!({"a": "y!"});
    let message = world.rejections(&[namespace("shop"), wrong, short]).await.join("\n");
    assert!(message.contains("***") && message.contains("withheld"), "{message}");
    assert!(!message.contains("canary") && !message.contains("y!"), "{message}");
}

#[tokio::test]
async fn a_lost_key_and_an_interrupted_call_lock_nobody_out() {
    let world = World::start();
    let objects = [namespace("shop"), secret("s", "canary value")];
    world.apply(&objects).await.expect("it is applied");
    let id = kusion_model::ResourceId::new("v1:Secret:shop:s");
    let state = world.stack.state().await.expect("a state");
    let options = options();
    let session = world
        .engine
        .store()
        .lock(world.stack.key(), options.lock.holder.clone(), options.lock.wait)
        .await
        .expect("it is free");
    let began = kusion_model::Record::StepBegan {
        attempt: kusion_model::AttemptId { revision: 1, step: 9 },
        id: id.clone(),
        action: kusion_model::Action::Update,
        desired: Some(Box::new(state.resources[&id].resource.clone())),
        replace_order: kusion_model::ReplaceOrder::default(),
    };
    session.append(vec![began]).await.expect("written");
    session.close().await.expect("closed");

    // The same store and cluster, but the key of the secrets is another one.
    let other = world.with_sealer(kusion_secret::Sealer::new([9; 32], "a test"));
    let previewed = crate::world::preview(
        &other,
        &crate::world::spec(&objects),
        &kusion_model::PlanOptions::default(),
    )
    .await;
    let lines = crate::world::lines(&previewed.expect("a plan is made"));
    assert!(lines.is_empty(), "the live object is as desired: {lines:?}");
    let done = crate::world::apply(&other, &crate::world::spec(&objects)).await;
    done.expect("it is applied");
    let unreadable = world.events.all().into_iter().find_map(|event| match event {
        kusion_engine::Event::Warning { id, warning, .. } => Some((id, warning)),
        _ => None,
    });
    let (named, warning) = unreadable.expect("it is named");
    assert_eq!((named, warning.reason.as_str()), (id, "SecretUnreadable"));
    let goal = kusion_engine::Goal::Destroy;
    let destroyed =
        crate::world::run(&other, goal, &kusion_model::PlanOptions::default(), &options).await;
    destroyed.expect("everything is deleted");
    assert!(world.object("secrets", "shop", "s").is_none());
}
