//! What somebody who may write a store, but has not its key, can do to it: nothing that is believed.
//!
//! `KUSION_TEST_FORGERIES` is the number of random edits, `KUSION_TEST_SEED` their seed.

mod aimed;
mod bytes;
mod sample;

use crate::places::{Place, new_key, own_stores, run, say, store_key};
use crate::records::noted;
use kusion_store::{Backend as _, Holder, LockWait, Memory, Store};
use sample::{Sample, Undo};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    own_stores(suite, "forgery", "random_edits_are_refused", |it| run(random_edits(it)));
    own_stores(suite, "forgery", "aimed_edits_are_refused", |it| run(aimed_edits(it)));
    suite.add("forgery::two_histories_are_not_mixed", || run(two_histories_are_not_mixed()));
}

/// A stack is set back and goes on in another way; then somebody mixes both ways. Both are genuine.
async fn two_histories_are_not_mixed() {
    let memory = Arc::new(Memory::default());
    let store = Store::with_backend(Arc::clone(&memory) as _, store_key());
    let key = new_key();
    let write = async |names: [&str; 3]| {
        let session = store.lock(&key, Holder::current("test"), LockWait::No).await;
        let session = session.expect("nobody has it");
        for name in names {
            session.append(vec![noted(name, 5)]).await.expect("written");
        }
        session.close().await.expect("closed");
        sample::all(&*memory, &[&key]).await
    };
    let restore = async |values: &BTreeMap<String, Vec<u8>>| {
        for name in memory.list("").await.expect("readable") {
            sample::put(&*memory, &name, None).await;
        }
        for (name, value) in values {
            sample::put(&*memory, name, Some(value.clone())).await;
        }
    };
    let start = write(["a", "b", "c"]).await;
    let one = write(["d", "e", "f"]).await;
    restore(&start).await;
    let two = write(["x", "y", "z"]).await;
    let before = store.read(&key).await.expect("readable");
    let mut tried = 0;
    for (name, value) in one.iter().filter(|it| it.0.contains("/log/") && two[it.0] != *it.1) {
        sample::put(&*memory, name, Some(value.clone())).await;
        let refused = store.read(&key).await.expect_err(name).to_string();
        assert!(refused.contains("does not continue"), "{refused}");
        sample::put(&*memory, name, Some(two[name].clone())).await;
        tried += 1;
    }
    assert_eq!(tried, 4);
    assert_eq!(store.read(&key).await.expect("readable"), before);
    // All values together are an earlier state of the stack, which cannot be told from inside.
    restore(&start).await;
    assert_eq!(store.read(&key).await.expect("readable").resources.len(), 3);
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

async fn random_edits(place: Place) {
    let sample = Sample::make(&place).await;
    let (seed, count) = (variable("KUSION_TEST_SEED", 1), variable("KUSION_TEST_FORGERIES", 60));
    let (mut refused, mut harmless) = (0, 0);
    for number in 0..count {
        let mut rng = fastrand::Rng::with_seed(seed.wrapping_mul(1_000_003) + number);
        let undo = Undo::default();
        let edit = random_edit(&sample, &mut rng, &undo).await;
        if sample.verdict(&edit.what, &edit.names, edit.may_be_harmless).await {
            refused += 1;
        } else {
            harmless += 1;
        }
        undo.run(&sample).await;
    }
    sample.is_as_before().await;
    say(&format!("{}: {refused} refused, {harmless} without effect", sample.place()));
    assert!(refused > 8 * harmless, "{refused} refused, {harmless} without effect");
}

/// An edit: what was done, and the names of the values of which one must be reported.
struct Edit {
    what: String,
    names: Vec<String>,
    /// Whether it may remove something that is kept in reserve only.
    may_be_harmless: bool,
}

async fn random_edit(sample: &Sample, rng: &mut fastrand::Rng, undo: &Undo) -> Edit {
    let names = sample.names();
    let name = rng.choice(&names).expect("values").clone();
    let bytes = sample.value(&name);
    let edit = |what: &str| Edit {
        what: format!("{what} {name}"),
        names: if name == "store" {
            vec![name.clone(), sample.root_of(&name)]
        } else {
            vec![name.clone()]
        },
        may_be_harmless: false,
    };
    let kind = rng.u8(0..9);
    let changed = match kind {
        0 => bytes::flip(rng, &bytes),
        1 => bytes[..rng.usize(0..bytes.len())].to_vec(),
        2 => [&bytes[..], &bytes[rng.usize(0..bytes.len())..]].concat(),
        3 => bytes::noise(rng, &bytes),
        4 => bytes::resum(&name, &bytes::flip(rng, &bytes)),
        5 => bytes::resum(&name, &bytes::noise(rng, &bytes)),
        6 => {
            let other = loop {
                let other = rng.choice(&names).expect("values");
                if *other != name {
                    break other.clone();
                }
            };
            let theirs = sample.value(&other);
            sample.write(&other, Some(bytes::resum(&other, &bytes)), undo).await;
            sample.write(&name, Some(bytes::resum(&name, &theirs)), undo).await;
            return Edit { names: vec![name, other], what: "swap".into(), may_be_harmless: false };
        }
        7 => sample.twin(&name),
        _ => {
            sample.write(&name, None, undo).await;
            let may_be_harmless =
                ["/snapshot/", "/events/", "/log/"].iter().any(|it| name.contains(it));
            // The gap is reported, not its end.
            let names = vec![name.clone(), sample.root_of(&name)];
            return Edit { names, may_be_harmless, ..edit("remove") };
        }
    };
    if changed == bytes {
        // Noise may be what was there before.
        sample.write(&name, Some(bytes[..bytes.len() - 1].to_vec()), undo).await;
    } else {
        sample.write(&name, Some(changed), undo).await;
    }
    edit(&format!("edit {kind}"))
}

async fn aimed_edits(place: Place) {
    let sample = Sample::make(&place).await;
    let edits = aimed::edits(&sample);
    assert!(edits.len() >= 50, "{} aimed edits", edits.len());
    for (what, writes) in &edits {
        let undo = Undo::default();
        let mut names: Vec<String> = Vec::new();
        for (name, value) in writes {
            sample.write(name, value.clone(), &undo).await;
            names.push(name.clone());
            names.push(sample.root_of(name));
        }
        sample.verdict(what, &names, false).await;
        undo.run(&sample).await;
    }
    sample.is_as_before().await;
    say(&format!("{}: {} aimed edits refused", sample.place(), edits.len()));
}
