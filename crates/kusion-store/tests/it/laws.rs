//! What holds on every backend.

use crate::places::{Place, new_key};
use crate::records::{began, closed, ended, noted, opened};
use kusion_model::{Spec, StackKey};
use kusion_store::{Holder, LockWait, StoreError};

macro_rules! on_every_backend {
    ($($law:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law(crate::places::Place::in_file()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                if let Some(place) = crate::places::Place::on_server("KUSION_TEST_POSTGRES") {
                    super::$law(place).await;
                }
            })*
        }
        mod s3 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                if let Some(place) = crate::places::Place::on_server("KUSION_TEST_S3") {
                    super::$law(place).await;
                }
            })*
        }
    };
}

on_every_backend!(what_was_written_is_read, one_task_of_eight_holds_a_stack);

fn me() -> Holder {
    Holder::current("test")
}

async fn what_was_written_is_read(place: Place) {
    let key = new_key();
    let store = place.open().await;
    assert_eq!(store.read(&key).await.expect("readable").seq, 0);
    let session = store.take(&key, me(), LockWait::No).await.expect("nobody has it");
    session.check().expect("it is ours");
    session.put_spec(1, &Spec::default()).await.expect("written");
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
    let session = other.take(&key, me(), LockWait::No).await.expect("nobody has it");
    assert_eq!(session.state().seq, 9, "the new holder has written its name");
}

async fn one_task_of_eight_holds_a_stack(place: Place) {
    let key = new_key();
    let attempts = (0..8).map(|number| {
        let (key, place) = (&key, &place);
        async move {
            let store = place.open().await;
            store.take(key, Holder::current(format!("task {number}")), LockWait::No).await
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
