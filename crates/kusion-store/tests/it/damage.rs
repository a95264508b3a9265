//! Files that are not as they were written.

use crate::places::{Place, new_key, run, say, store_key};
use crate::records::{noted, random};
use kusion_model::StackKey;
use kusion_store::{Holder, LockWait, StackState, Store, StoreError};
use std::path::Path;
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("damage::damage_to_a_store_that_was_closed_is_found", || {
        run(damage_to_a_store_that_was_closed_is_found());
    });
    suite.add("damage::damage_to_a_store_whose_process_was_cut_off_is_found", || {
        run(damage_to_a_store_whose_process_was_cut_off_is_found());
    });
    suite.add("damage::a_store_that_vanished_is_not_an_empty_one", || {
        run(a_store_that_vanished_is_not_an_empty_one());
    });
    suite.add("damage::only_the_owner_may_read", || run(only_the_owner_may_read()));
    suite.add("damage::addresses_that_are_none_are_explained", || {
        run(addresses_that_are_none_are_explained());
    });
}

/// A store in files, and what it must read as.
struct Sample {
    files: Vec<(&'static str, Vec<u8>)>,
    stacks: Vec<(StackKey, StackState)>,
}

/// Makes a store with some stacks; its process ends in order, or is cut off.
async fn sample(in_order: bool) -> Sample {
    let place = Place::in_file();
    let mut stacks = Vec::new();
    let mut rng = fastrand::Rng::with_seed(5);
    let store = place.open().await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let key = new_key();
        let session = store.lock(&key, Holder::current("test"), LockWait::No).await;
        let session = session.expect("nobody has it");
        for _ in 0..8 {
            let records = (0..4).map(|_| random(&mut rng)).collect();
            session.append(records).await.expect("written");
        }
        session.append(vec![noted("last", 10)]).await.expect("written");
        stacks.push((key, session.state()));
        sessions.push(session);
    }
    if in_order {
        for session in sessions.drain(..) {
            session.close().await.expect("closed");
        }
        store.close().await;
    }
    let names = ["state.db", "state.db-wal", "state.db.mark"];
    let read = |name| std::fs::read(place.home.join(name)).ok().map(|bytes| (name, bytes));
    let files: Vec<(&'static str, Vec<u8>)> = names.into_iter().filter_map(read).collect();
    assert_eq!(files.len(), if in_order { 2 } else { 3 }, "the files of the store");
    Sample { files, stacks }
}

/// Changes a file and says how.
fn harm(rng: &mut fastrand::Rng, bytes: &mut Vec<u8>) -> String {
    let at = rng.usize(0..bytes.len());
    let end = bytes.len().min(at + rng.usize(1..6000));
    match rng.u8(0..6) {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            let cut = bytes.len() / 4096 * 4096;
            let page = rng.usize(0..=cut / 4096) * 4096;
            bytes.truncate(page);
            format!("cut at page {page}")
        }
        2 => {
            bytes[at..end].fill(0);
            format!("zeros from {at} to {end}")
        }
        3 => {
            for byte in &mut bytes[at..end] {
                *byte = rng.u8(..);
            }
            format!("noise from {at} to {end}")
        }
        4 => {
            bytes.clear();
            "emptied".to_owned()
        }
        _ => {
            let bit = rng.u8(0..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
    }
}

/// Reads all stacks of a harmed store: as they were, or not at all.
async fn read_all(sample: &Sample, folder: &Path) -> Result<bool, StoreError> {
    let store = Store::open("", folder, store_key()).await?;
    let mut whole = Ok(true);
    for (key, state) in &sample.stacks {
        match store.read(key).await {
            Ok(found) if found == *state => {}
            Ok(_) => whole = whole.map(|_| false),
            Err(error) => whole = Err(error),
        }
    }
    store.close().await;
    whole
}

async fn harm_and_read(in_order: bool, seeds: std::ops::Range<u64>) {
    let sample = sample(in_order).await;
    let (mut whole, mut refused) = (0, 0);
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        let place = Place::in_file();
        std::fs::create_dir_all(&place.home).expect("a folder");
        // Mostly the store itself, sometimes what lies beside it.
        let victim = if rng.bool() { 0 } else { rng.usize(0..sample.files.len()) };
        let mut what = String::new();
        for (index, (name, bytes)) in sample.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if index == victim {
                what = format!("{name}: {}", harm(&mut rng, &mut bytes));
            }
            std::fs::write(place.home.join(name), bytes).expect("written");
        }
        if rng.u8(0..40) == 0 && victim < 2 {
            std::fs::remove_file(place.home.join(sample.files[victim].0)).expect("removed");
            what.push_str(", gone");
        }
        match read_all(&sample, &place.home).await {
            Ok(true) => whole += 1,
            Ok(false) => panic!("seed {seed}: {what}: read as another state"),
            Err(
                StoreError::Damaged { .. }
                | StoreError::Newer { .. }
                | StoreError::Older { .. }
                | StoreError::Backend(_),
            ) => {
                refused += 1;
            }
            Err(error) => panic!("seed {seed}: {what}: {error}"),
        }
    }
    say(&format!("damage: {refused} refused, {whole} whole"));
    assert!(refused > whole / 4 && whole > 0);
}

async fn damage_to_a_store_that_was_closed_is_found() {
    harm_and_read(true, 0..1000).await;
}

async fn damage_to_a_store_whose_process_was_cut_off_is_found() {
    harm_and_read(false, 1000..2000).await;
}

async fn a_store_that_vanished_is_not_an_empty_one() {
    let sample = sample(true).await;
    let place = Place::in_file();
    std::fs::create_dir_all(&place.home).expect("a folder");
    let (mark, bytes) = &sample.files[1];
    std::fs::write(place.home.join(mark), bytes).expect("written");
    for attempt in 0..2 {
        let error =
            Store::open("", &place.home, store_key()).await.err().expect("refused").to_string();
        assert!(error.contains("missing or empty") && error.contains(mark), "{attempt}: {error}");
    }
    std::fs::remove_file(place.home.join(mark)).expect("removed");
    place.open().await.close().await;
}

async fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::in_file();
    let store = place.open().await;
    let session = store.lock(&new_key(), Holder::current("test"), LockWait::No).await;
    let rights =
        |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(rights(&place.home), 0o700);
    for name in ["state.db", "state.db-wal", "state.db.mark"] {
        assert_eq!(rights(&place.home.join(name)), 0o600, "{name}");
    }
    drop(session);
}

async fn addresses_that_are_none_are_explained() {
    for (url, word) in [
        ("mysql://root:secret@host/db", "`postgres://"),
        ("sqlite:", "no path after"),
        ("nonsense", "`sqlite:PATH`"),
        ("s3://", "bucket"),
        ("s3://b/p?colour=red", "unknown option `colour`"),
        ("postgres://user:secret@host:port/db", "invalid"),
    ] {
        let error =
            Store::open(url, Path::new("/nowhere"), store_key()).await.err().expect("refused");
        let error = error.to_string();
        assert!(error.contains(word) && !error.contains("secret"), "{error}");
    }
}
