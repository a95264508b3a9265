//! What operations tell, and what can be told again.

use crate::things::{Things, thing};
use crate::world::{key, options, run};
use kusion_engine::{
    Event, Failpoint, Failpoints, Goal, Outcome, RunOptions, Runtimes, Stack, StampedEvent, Stop,
};
use kusion_model::{Origins, Phase, PlanOptions, Spec};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn some(count: usize) -> Spec {
    let things = (0..count).map(|n| thing(&format!("t{n}"), json!({"plain": "1"})));
    Spec { resources: things.collect(), ..Spec::default() }
}

async fn applied(stack: &Stack, count: usize) {
    let spec = some(count);
    let goal = Goal::Apply { spec: &spec, origins: &Origins::default() };
    let report = run(stack, goal, &PlanOptions::default(), &options()).await.expect("it ends");
    assert_eq!(report.phase, Phase::Succeeded);
}

#[tokio::test]
async fn two_operations_at_once_can_be_told_apart_ordered_and_replayed() {
    let things = Things::new("events");
    let runtime = things.runtime("").with_latency(Duration::from_millis(2));
    let engine = things.engine(Runtimes::default().with(crate::things::TYPE, Arc::new(runtime)));
    let (dev, prod) = (engine.stack(key("dev")), engine.stack(key("prod")));
    tokio::join!(applied(&dev, 8), applied(&prod, 8));
    let all = things.events.stamped();
    let mut operations = BTreeMap::<_, Vec<StampedEvent>>::new();
    for event in &all {
        operations.entry(event.operation_id.clone()).or_default().push(event.clone());
    }
    assert_eq!(operations.len(), 2, "one name for each operation");
    let first = all.first().map(|it| &it.stack);
    let switches = all.windows(2).filter(|it| it[0].stack != it[1].stack).count();
    assert!(switches > 2, "they ran at the same time: {first:?}");
    for events in operations.values() {
        assert!(events.iter().all(|it| it.stack == events[0].stack));
        let numbers: Vec<u64> = events.iter().map(|it| it.seq).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
        assert!(events.is_sorted_by(|a, b| a.time <= b.time));
        let stack = if events[0].stack == *dev.key() { &dev } else { &prod };
        assert_eq!(stack.replay(1).await.expect("it can be replayed"), *events);
    }
    let missing = dev.replay(2).await.expect_err("there is no such release");
    assert_eq!(missing.code(), "no-such-release");
}

#[tokio::test]
async fn an_operation_that_panics_closes_its_release() {
    let things = Things::new("panic");
    let runtimes = Runtimes::default().with(crate::things::TYPE, Arc::new(things.runtime("")));
    let failpoints = Failpoints::new(|point, id| {
        let is_second = id.is_some_and(|it| it.as_str().ends_with("t1"));
        assert!(!(point == Failpoint::Called && is_second), "on purpose");
    });
    let engine = things.engine(runtimes).with_failpoints(failpoints);
    let stack = engine.stack(key("dev"));
    let other = stack.clone();
    let panicked = tokio::spawn(async move { applied(&other, 3).await }).await;
    assert!(panicked.is_err_and(|it| it.is_panic()));
    let state = stack.state().await.expect("a state");
    let release = state.releases.last().expect("a release");
    assert_eq!(release.phase, Phase::Failed);
    assert!(release.message.contains("internal error"), "{}", release.message);
    let events = stack.replay(1).await.expect("it can be replayed");
    assert!(matches!(events.last().map(|it| &it.event), Some(Event::ReleaseClosed { .. })));
    // What it had begun is looked into by the next run.
    assert_eq!(state.pending.len(), 1);
    let report = things.with_faults("").apply_plain(3).await.expect("it goes on");
    assert_eq!(report.phase, Phase::Succeeded);
    assert_eq!(things.objects().len(), 3, "nothing was made twice");
}

#[tokio::test]
async fn an_interrupted_release_is_replayed_from_its_records() {
    let things = Things::new("interrupted");
    let runtimes = Runtimes::default().with(crate::things::TYPE, Arc::new(things.runtime("")));
    let (told, mut passed) = tokio::sync::mpsc::unbounded_channel();
    let failpoints = Failpoints::new(move |point, id| {
        if point == Failpoint::Ended && id.is_some_and(|it| it.as_str().ends_with("t1")) {
            let _ = told.send(());
        }
    });
    let stack = things.engine(runtimes).with_failpoints(failpoints).stack(key("dev"));
    let other = stack.clone();
    let running = tokio::spawn(async move { applied(&other, 60).await });
    passed.recv().await.expect("it gets there");
    running.abort();
    let _ = running.await;
    // The lock of a dropped operation is given back a moment later.
    let patient = RunOptions {
        lock: kusion_engine::LockOptions {
            wait: kusion_store::LockWait::For(Duration::from_secs(20)),
            ..options().lock
        },
        ..options()
    };
    stack.recover(&patient).await.expect("it is finished");
    let events = stack.replay(1).await.expect("it can be replayed");
    let done = events
        .iter()
        .filter(|it| matches!(&it.event, Event::StepEnded { outcome: Outcome::Done, .. }))
        .count();
    assert!(done >= 2, "{events:?}");
    let last = events.last().map(|it| &it.event);
    assert!(matches!(last, Some(Event::ReleaseClosed { phase: Phase::Interrupted, .. })));
}

#[tokio::test]
async fn who_waits_for_a_lock_can_be_stopped() {
    let things = Things::new("lock-stop");
    let stack = things.with_faults("").stack;
    let held = stack.lock(&options()).await.expect("it is free");
    let stop = Stop::default();
    let mut waiting = options();
    waiting.lock.wait = kusion_store::LockWait::For(Duration::from_mins(5));
    waiting.stop = stop.clone();
    let soon = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.ask();
    };
    let (refused, ()) = tokio::join!(stack.lock(&waiting), soon);
    assert_eq!(refused.err().map(|it| it.code()), Some("stopped"));
    held.release().await.expect("it is given back");
}
