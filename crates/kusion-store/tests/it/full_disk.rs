//! A disk without space.

use crate::child::Process;
use crate::places::{Place, new_key, run};
use crate::records::noted;
use kusion_store::{Holder, LockWait};
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("full_disk::what_was_written_before_stays_and_the_next_run_goes_on", || {
        run(what_was_written_before_stays_and_the_next_run_goes_on());
    });
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
