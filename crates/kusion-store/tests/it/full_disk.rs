//! A disk without space.

use crate::child::{Kind, Process};
use crate::places::{Place, new_key, run};
use crate::records::noted;
use kusion_store::{Holder, LockWait};
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add_with("full_disk::a_session_goes_on_when_there_is_room", Kind::check(), |()| {
        a_session_goes_on_when_there_is_room();
    });
    suite.add_with("full_disk::a_disk_that_can_only_be_read_is_read", Kind::check(), |()| {
        run(a_disk_that_can_only_be_read_is_read());
    });
    suite.add("full_disk::what_was_written_before_stays_and_the_next_run_goes_on", || {
        run(what_was_written_before_stays_and_the_next_run_goes_on());
    });
}

fn a_session_goes_on_when_there_is_room() {
    let place = Place::in_file();
    let mut process = Process::start_in(Kind::SmallDisk, &place, &new_key());
    assert_eq!(process.answer(), "held");
    let answer = process.ask("fill");
    let (written, error) = answer.split_once(' ').expect("a number and an error");
    assert!(error.contains("state.db: the disk is full"), "{answer}");
    assert_eq!(process.ask("room"), "ok");
    let written: u64 = written.parse().expect("a number");
    assert_eq!(process.ask("append more"), format!("ok {}", written + 2), "after {answer}");
    assert_eq!(process.ask("close"), "closed");
}

async fn a_disk_that_can_only_be_read_is_read() {
    let place = Place::in_file();
    let key = new_key();
    std::fs::create_dir_all(&place.home).expect("a folder");
    let mut process = Process::start_in(Kind::ReadOnly, &place, &key);
    let answer = process.answer();
    assert!(answer.starts_with("read Ok(0), ") && answer.contains("can only be read"), "{answer}");
    let store = place.open().await;
    let session = store.lock(&key, Holder::current("test"), LockWait::No).await;
    let session = session.expect("nobody has it");
    session.append(vec![noted("a", 10)]).await.expect("written");
    session.close().await.expect("closed");
    store.close().await;
    let mut process = Process::start_in(Kind::ReadOnly, &place, &key);
    let answer = process.answer();
    assert!(answer.starts_with("read Ok(1), "), "{answer}");
    assert!(answer.contains("state.db can only be read: Read-only file system"), "{answer}");
}

async fn what_was_written_before_stays_and_the_next_run_goes_on() {
    for blocks in [400, 700, 1000, 1300, 1600] {
        let place = Place::in_file();
        let key = new_key();
        place.open().await.close().await;
        let mut process = Process::start_limited(&place, &key, blocks);
        assert_eq!(process.answer(), "held");
        let answer = process.ask("fill");
        let (written, error) = answer.split_once(' ').expect("a number and an error");
        let written: usize = written.parse().expect("a number");
        assert!(written > 0 && error.contains("state.db"), "{answer}");
        process.kill();
        let store = place.open().await;
        let session = store.lock(&key, Holder::current("next"), LockWait::No).await;
        let session = session.expect("its holder is dead");
        let found = session.state().resources.len();
        assert_eq!(found, written, "with {blocks} blocks: {error}");
        session.append(vec![noted("more", 20_000)]).await.expect("written");
        session.close().await.expect("closed");
        assert_eq!(store.read(&key).await.expect("readable").resources.len(), written + 1);
    }
}
