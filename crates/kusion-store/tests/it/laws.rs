//! What holds on every backend.

use crate::places::{Place, new_key, on_every_backend, root, store_key};
use crate::records::{began, closed, ended, noted, opened, random};
use bytes::Bytes;
use kusion_model::{Record, Spec, SpecOrigins, StackKey, StampedRecord};
use kusion_store::{
    Backend as _, Expected, Holder, LockWait, Memory, PutError, StackState, Store, StoreError,
    Version,
};
use std::sync::Arc;

on_every_backend!(
    what_was_written_is_read,
    one_task_of_eight_holds_a_stack,
    writes_compare_first,
    one_of_many_writers_wins_each_round,
    records_of_many_callers_keep_their_order,
    a_long_journal_reads_as_the_sum_of_its_records,
    missing_parts_are_found,
    a_stack_waits_for_its_turn,
    everyone_waits_for_a_brief_holder,
    what_happened_can_be_read_again,
);

fn me() -> Holder {
    Holder::current("test")
}

async fn what_was_written_is_read(place: Place) {
    let key = new_key();
    let store = place.open().await;
    assert_eq!(store.read(&key).await.expect("readable").seq, 0);
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.check().expect("it is ours");
    session.put_spec(1, &Spec::default(), &SpecOrigins::default()).await.expect("written");
    let last = session.append(vec![opened(1), began(1, 1, "a"), began(1, 2, "b")]).await;
    assert_eq!(last.expect("written"), 4);
    session.append(vec![ended(1, 1, "a"), noted("c", 5)]).await.expect("written");
    let state = session.state();
    assert_eq!(state.seq, 6);
    assert_eq!(state.pending.len(), 1);
    assert_eq!(store.read(&key).await.expect("readable"), state);
    session.append(vec![ended(1, 2, "b"), closed(1)]).await.expect("written");
    session.close().await.expect("closed");
    let other = place.open().await;
    let read = other.read(&key).await.expect("readable");
    assert_eq!((read.resources.len(), read.pending.len(), read.seq), (3, 0, 8));
    assert_eq!(read.next_revision(), 2);
    assert_eq!(other.spec(&key, 1).await.expect("readable"), Some(Spec::default()));
    assert_eq!(other.spec(&key, 2).await.expect("readable"), None);
    let stacks: Vec<StackKey> = other.stacks().await.expect("readable");
    assert!(stacks.contains(&key));
    let session = other.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    assert_eq!(session.state().seq, 9, "the new holder has written its name");
}

async fn everyone_waits_for_a_brief_holder(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let brief = store.lock(&key, me().briefly(), LockWait::No).await.expect("nobody has it");
    let other = place.open().await;
    let mut waiting = Box::pin(other.lock(&key, me(), LockWait::No));
    let early = futures::poll!(&mut waiting);
    assert!(early.is_pending());
    let (closed, session) = futures::join!(brief.close(), waiting);
    closed.expect("closed");
    let session = session.expect("it has waited");
    let refused = store.lock(&key, me(), LockWait::No).await;
    assert!(matches!(refused, Err(StoreError::Held { .. })), "nobody waits for others");
    session.close().await.expect("closed");
}

async fn one_task_of_eight_holds_a_stack(place: Place) {
    let key = new_key();
    let attempts = (0..8).map(|number| {
        let (key, place) = (&key, &place);
        async move {
            let store = place.open().await;
            store.lock(key, Holder::current(format!("task {number}")), LockWait::No).await
        }
    });
    let outcomes = futures::future::join_all(attempts).await;
    let holder = outcomes.iter().find_map(|it| it.as_ref().ok());
    let name = holder.map(|it| it.with_state(|state| state.seq));
    assert_eq!(name, Some(1));
    for outcome in &outcomes {
        match outcome {
            Ok(_) => {}
            Err(StoreError::Held { holder, .. }) => assert_eq!(holder.pid, std::process::id()),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1);
}

/// Checks the laws of the backend itself.
async fn writes_compare_first(place: Place) {
    let store = place.open().await;
    let backend = store.backend();
    let root = new_key().store_path();
    let (one, two) = (format!("{root}/x/1"), format!("{root}/x/2"));
    let put = |key: &str, text: &'static str, expected| {
        let key = key.to_owned();
        async move { backend.put(&key, Bytes::from(text), expected).await }
    };
    assert!(backend.get(&one).await.expect("readable").is_none());
    let wrong = Expected::Is(Version("1".into()));
    assert!(matches!(put(&one, "a", wrong).await, Err(PutError::Conflict)));
    let first = put(&one, "a", Expected::Absent).await.expect("written");
    assert!(matches!(put(&one, "b", Expected::Absent).await, Err(PutError::Conflict)));
    let second = put(&one, "b", Expected::Is(first.clone())).await.expect("written");
    assert_ne!(first, second);
    assert!(matches!(put(&one, "c", Expected::Is(first)).await, Err(PutError::Conflict)));
    let (bytes, version) = backend.get(&one).await.expect("readable").expect("there");
    assert_eq!((bytes.as_ref(), version), (b"b".as_slice(), second));
    put(&two, "", Expected::Absent).await.expect("written");
    put(&format!("{root}/xy"), "", Expected::Absent).await.expect("written");
    let keys = backend.list(&format!("{root}/x/")).await.expect("readable");
    assert_eq!(keys, [one.clone(), two.clone()]);
    backend.delete(&[one.clone(), format!("{root}/none")]).await.expect("removed");
    assert_eq!(backend.list(&format!("{root}/x/")).await.expect("readable"), [two]);
    put(&one, "d", Expected::Absent).await.expect("written");
}

/// Lets tasks with connections of their own write the same version, many times.
async fn one_of_many_writers_wins_each_round(place: Place) {
    let key = format!("{}/x", new_key().store_path());
    let stores = futures::future::join_all((0..8).map(|_| place.open())).await;
    let mut expected = Expected::Absent;
    for round in 0..10 {
        let writes = stores.iter().enumerate().map(|(number, store)| {
            let bytes = Bytes::from(format!("{round} {number}"));
            store.backend().put(&key, bytes, expected.clone())
        });
        let mut won = None;
        for outcome in futures::future::join_all(writes).await {
            match outcome {
                Ok(version) => assert!(won.replace(version).is_none(), "two wrote in {round}"),
                Err(PutError::Conflict) => {}
                Err(PutError::Failed(error)) => panic!("{error}"),
            }
        }
        expected = Expected::Is(won.expect("one writes"));
    }
}

async fn records_of_many_callers_keep_their_order(place: Place) {
    const CALLERS: usize = 40;
    const CALLS: usize = 10;
    let key = new_key();
    let store = place.open().await;
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    let callers = (0..CALLERS).map(|caller| {
        let session = &session;
        async move {
            let mut last = 0;
            for call in 0..CALLS {
                let name = format!("{caller}-{call}");
                let records = vec![noted(&name, 5), noted("latest", call)];
                let seq = session.append(records).await.expect("written");
                assert!(seq > last);
                last = seq;
            }
        }
    });
    futures::future::join_all(callers).await;
    let state = session.state();
    assert_eq!(state.seq as usize, 1 + CALLERS * CALLS * 2);
    assert_eq!(state.resources.len(), CALLERS * CALLS + 1);
    assert_eq!(store.read(&key).await.expect("readable"), state);
    let segments = store.backend().list(&format!("{}/log/", root(&key))).await;
    let n_segments = segments.expect("readable").len();
    assert!(n_segments < CALLERS * CALLS / 2, "{n_segments} segments: calls share them");
}

/// Writes random records in several sessions, with snapshots in between.
async fn a_long_journal_reads_as_the_sum_of_its_records(place: Place) {
    let key = new_key();
    let mut all = Vec::new();
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..4 {
        let store = place.open().await;
        let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
        let mut own = vec![Record::Locked { holder: me().to_string() }];
        for _ in 0..12 {
            let records: Vec<Record> = (0..rng.usize(1..9)).map(|_| random(&mut rng)).collect();
            own.extend(records.iter().cloned());
            session.append(records).await.expect("written");
        }
        all.extend(own.into_iter().map(|record| {
            let (operation_id, time) = (session.operation().clone(), String::new());
            StampedRecord { operation_id, time, record }
        }));
        assert_eq!(timeless(session.state()), StackState::fold(all.iter().cloned()));
        session.close().await.expect("closed");
    }
    let store = place.open().await;
    let read = store.read(&key).await.expect("readable");
    assert!(read.releases.iter().all(|it| it.started.parse::<jiff::Timestamp>().is_ok()));
    assert_eq!(timeless(read), StackState::fold(all));
    let snapshots = store.backend().list(&format!("{}/snapshot/", root(&key))).await;
    let n_snapshots = snapshots.expect("readable").len();
    assert!((1..=2).contains(&n_snapshots), "{n_snapshots} snapshots");
}

/// Takes the times out of a state; all else is known beforehand.
fn timeless(mut state: StackState) -> StackState {
    for release in &mut state.releases {
        release.started.clear();
        release.ended.as_mut().map(String::clear);
        if let Some(seen) = &mut release.health {
            seen.time.clear();
        }
    }
    state
}

/// Writes what happened in a release, and reads it and the records one by one.
async fn what_happened_can_be_read_again(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.append(vec![opened(1), began(1, 1, "a")]).await.expect("written");
    session.append(vec![ended(1, 1, "a"), closed(1)]).await.expect("written");
    session.put_events(1, &["one", "two"]).await.expect("written");
    session.put_events(1, &["one", "two", "three"]).await.expect("replaced");
    let other = place.open().await;
    let events: Option<Vec<String>> = other.events(&key, 1).await.expect("readable");
    assert_eq!(events.expect("there"), ["one", "two", "three"]);
    assert_eq!(other.events::<String>(&key, 2).await.expect("readable"), None);
    let records = other.records(&key).await.expect("readable");
    let numbers: Vec<u64> = records.iter().map(|it| it.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(records.iter().all(|it| it.stack == key && it.operation_id == *session.operation()));
    assert!(records.is_sorted_by(|a, b| a.time <= b.time));
    session.close().await.expect("closed");
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    assert!(records.iter().all(|it| it.operation_id < *session.operation()), "names sort by time");
}

/// Removes parts of a journal: the rest reads as the whole, or is refused.
async fn missing_parts_are_found(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let mut rng = fastrand::Rng::with_seed(12);
    for _ in 0..3 {
        let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
        for _ in 0..9 {
            let records = (0..5).map(|_| random(&mut rng)).collect();
            session.append(records).await.expect("written");
        }
        session.close().await.expect("closed");
    }
    let whole = store.read(&key).await.expect("readable");
    let root = format!("{}/", root(&key));
    let mut values = Vec::new();
    let (meta, _) = store.backend().get("store").await.expect("readable").expect("there");
    for name in store.backend().list(&root).await.expect("readable") {
        let (bytes, _) = store.backend().get(&name).await.expect("readable").expect("there");
        values.push((name, bytes));
    }
    let (mut refused, mut read) = (0, 0);
    for case in 0..200 {
        let copy = Memory::default();
        copy.put("store", meta.clone(), Expected::Absent).await.expect("written");
        let first = rng.usize(0..values.len());
        let last = if case % 2 == 0 { first } else { rng.usize(first..values.len()) };
        for (index, (name, bytes)) in values.iter().enumerate() {
            if !(first..=last).contains(&index) || name.ends_with("/lease") {
                copy.put(name, bytes.clone(), Expected::Absent).await.expect("written");
            }
        }
        match Store::with_backend(Arc::new(copy), store_key()).read(&key).await {
            Ok(state) => {
                assert_eq!(state, whole, "without {first} to {last}");
                read += 1;
            }
            Err(StoreError::Damaged { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 50 && read > 5, "{refused} refused, {read} read");
}

async fn a_stack_waits_for_its_turn(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    let soon = LockWait::For(std::time::Duration::from_millis(300));
    let refused = store.lock(&key, me(), soon).await.err();
    assert!(matches!(refused, Some(StoreError::Held { .. })));
    let later = LockWait::For(std::time::Duration::from_secs(20));
    let close = async {
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        session.close().await.expect("closed");
    };
    let (taken, ()) = tokio::join!(store.lock(&key, me(), later), close);
    let session = taken.expect("free by now");
    drop(session);
    let session = store.lock(&key, me(), later).await.expect("given back when dropped");
    session.close().await.expect("closed");
}
