//! Several processes and one stack.

use crate::child::Process;
use crate::places::{Place, new_key, on_every_backend};
use crate::records::noted;
use kusion_store::{Holder, LEASE_TIME, LockWait, StoreError};
use std::time::{Duration, Instant};

on_every_backend!(
    one_process_of_eight_holds_a_stack,
    a_dead_holder_is_followed_at_once,
    a_dead_holder_elsewhere_is_followed_when_its_lease_ends,
    a_paused_holder_writes_nothing_any_more,
);

/// How many rounds of eight processes are run; more where that is asked for.
fn rounds() -> u32 {
    std::env::var("KUSION_TEST_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(2)
}

async fn one_process_of_eight_holds_a_stack(place: Place) {
    for round in 0..rounds() {
        let key = new_key();
        let mut processes: Vec<Process> = (0..8).map(|_| Process::start(&place, &key)).collect();
        let answers: Vec<String> = processes.iter_mut().map(Process::answer).collect();
        let held = answers.iter().filter(|it| *it == "held").count();
        assert_eq!(held, 1, "round {round}: {answers:?}");
        let winner = answers.iter().position(|it| it == "held").expect("one of them");
        let name = format!("(process {}, `child`)", processes[winner].pid());
        for answer in answers.iter().filter(|it| *it != "held") {
            assert!(answer.starts_with("refused: ") && answer.contains(&name), "{answer}");
        }
        assert_eq!(processes[winner].ask("append a"), "ok 2");
        assert_eq!(processes[winner].ask("close"), "closed");
        let state = place.open().await.read(&key).await.expect("readable");
        assert_eq!((state.seq, state.resources.len()), (2, 1));
    }
}

async fn a_dead_holder_is_followed_at_once(place: Place) {
    let key = new_key();
    let mut process = Process::start(&place, &key);
    assert_eq!(process.answer(), "held");
    assert_eq!(process.ask("append a"), "ok 2");
    process.kill();
    let store = place.open().await;
    let begun = Instant::now();
    let session = store.lock(&key, Holder::current("next"), LockWait::No).await;
    let session = session.expect("its holder is dead");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(session.state().resources.len(), 1);
    session.append(vec![noted("b", 1)]).await.expect("written");
    session.close().await.expect("closed");
}

async fn a_dead_holder_elsewhere_is_followed_when_its_lease_ends(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let mut process = Process::start_elsewhere(&place, &key);
    assert_eq!(process.answer(), "held");
    let begun = Instant::now();
    let refused = store.lock(&key, Holder::current("next"), LockWait::No).await.err();
    assert!(matches!(refused, Some(StoreError::Held { .. })), "a live holder renews its lease");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    process.kill();
    let begun = Instant::now();
    let session = store.lock(&key, Holder::current("next"), LockWait::No).await;
    let session = session.expect("it is not renewed");
    let waited = begun.elapsed();
    assert!(waited >= LEASE_TIME && waited < LEASE_TIME + Duration::from_secs(4), "{waited:?}");
    session.close().await.expect("closed");
}

async fn a_paused_holder_writes_nothing_any_more(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let mut process = Process::start(&place, &key);
    assert_eq!(process.answer(), "held");
    assert_eq!(process.ask("append a"), "ok 2");
    assert_eq!(process.ask("check"), "ok");
    process.signal("STOP");
    let refused = store.lock(&key, Holder::current("next"), LockWait::No).await.err();
    assert!(matches!(refused, Some(StoreError::Held { .. })), "it may go on soon");
    let wait = LockWait::For(LEASE_TIME + Duration::from_secs(5));
    let session = store.lock(&key, Holder::current("next"), wait).await;
    let session = session.expect("the lease was not renewed");
    session.append(vec![noted("b", 1)]).await.expect("written");
    process.tell("check");
    process.tell("append c");
    process.signal("CONT");
    let (checked, written) = (process.answer(), process.answer());
    assert!(!checked.starts_with("ok"), "{checked}");
    let me = format!("(process {}, `next`)", std::process::id());
    assert!(written.contains("was locked by") && written.contains(&me), "{written}");
    session.append(vec![noted("d", 1)]).await.expect("written");
    let names: Vec<String> = session.state().resources.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["a", "b", "d"]);
    session.close().await.expect("closed");
    assert_eq!(store.read(&key).await.expect("readable").resources.len(), 3);
}
