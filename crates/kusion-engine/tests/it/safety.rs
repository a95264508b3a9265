//! Secrets, holders, calls without an ending.

use crate::world::{World, config, namespace, options, secret};
use kusion_engine::{EngineError, Event, Point, Points};
use kusion_model::Phase;
use kusion_store::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let mut all = format!("{plan:?}{second:?}{:?}", world.events.all());
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
async fn a_second_run_is_told_who_holds_the_stack() {
    let world = World::start().await;
    let options = options();
    let held = world
        .engine
        .store()
        .take(&world.key, options.lock.holder.clone(), options.lock.wait)
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

/// Ends an operation at every point it passes, then runs it again.
#[tokio::test]
async fn an_operation_that_ended_anywhere_is_finished_by_the_next() {
    let objects = [namespace("shop"), config("a", "1"), config("b", "1")];
    for last in 1.. {
        let world = World::start().await;
        let passed = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&passed);
        let points = Points::new(move |_: Point, _| {
            // A panic drops the operation as it is, without a last word.
            assert!(counter.fetch_add(1, Ordering::SeqCst) + 1 != last, "the end");
        });
        let engine = world.engine.clone().with_points(points);
        let (key, spec) = (world.key.clone(), crate::world::spec(&objects));
        let finished = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
            let agree = |_: &kusion_engine::Previewed| kusion_engine::Confirm::Agreed;
            let origins = kusion_model::Origins::default();
            let options = options();
            let work = engine.apply(&key, &spec, &origins, &options, &agree);
            runtime.block_on(work).expect("the operation works");
        })
        .join()
        .is_ok();
        let mut again = options();
        again.lock.wait = kusion_store::LockWait::For(std::time::Duration::from_secs(30));
        world.apply_with(&objects, &again).await.expect("the next run finishes");
        let state = world.engine.store().read(&world.key).await.expect("the state is whole");
        assert_eq!((state.resources.len(), state.pending.len()), (3, 0), "point {last}");
        assert!(state.releases.iter().all(|it| it.phase != Phase::Running), "point {last}");
        assert!(world.planned(&objects).await.is_empty(), "point {last}");
        if finished {
            assert!(passed.load(Ordering::SeqCst) > 8);
            let recovered = |it: &Event| matches!(it, Event::Recovered { .. });
            assert!(!world.events.all().iter().any(recovered));
            break;
        }
    }
}
