//! What somebody who may write a store, but has not its key, can do to it: nothing that is believed.
//!
//! `KUSION_TEST_FORGERIES` is the number of random edits, `KUSION_TEST_SEED` their seed.

mod aimed;
mod bytes;
mod sample;

use crate::places::{Place, own_stores, run, say};
use sample::{Sample, Undo};
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    own_stores(suite, "forgery", "random_edits_are_refused", |it| run(random_edits(it)));
    own_stores(suite, "forgery", "aimed_edits_are_refused", |it| run(aimed_edits(it)));
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
        let mut undo = Undo::default();
        let edit = random_edit(&sample, &mut rng, &mut undo).await;
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

async fn random_edit(sample: &Sample, rng: &mut fastrand::Rng, undo: &mut Undo) -> Edit {
    let names = sample.names();
    let name = rng.choice(&names).expect("values").clone();
    let bytes = sample.value(&name);
    let edit = |what: &str| Edit {
        what: format!("{what} {name}"),
        names: vec![name.clone()],
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
        let mut undo = Undo::default();
        let mut names: Vec<String> = Vec::new();
        for (name, value) in writes {
            sample.write(name, value.clone(), &mut undo).await;
            names.push(name.clone());
            names.push(sample.root_of(name));
        }
        sample.verdict(what, &names, false).await;
        undo.run(&sample).await;
    }
    sample.is_as_before().await;
    say(&format!("{}: {} aimed edits refused", sample.place(), edits.len()));
}
