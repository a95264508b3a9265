//! Secrets, holders, calls without an ending.

use crate::world::{World, config, namespace, options, secret};
use kusion_engine::EngineError;
use kusion_store::StoreError;
use serde_json::json;

#[tokio::test]
async fn a_secret_is_in_no_record_plan_or_event() {
    let world = World::start().await;
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
    let world = World::start().await;
    let mut config = config("a", "1");
    config["metadata"]["namespace"] = json!("default");
    config["metadata"]["labels"] = json!({"a": "canary value!"});
    let mut secret = secret("s", "canary value!");
    secret["metadata"]["namespace"] = json!("default");
    let refused = world.preview(&[secret, config]).await.expect_err("the label is wrong");
    let message = refused.to_string();
    assert!(message.contains("***") && !message.contains("canary"), "{message}");
}

#[tokio::test]
async fn a_second_run_is_told_who_holds_the_stack() {
    let world = World::start().await;
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
