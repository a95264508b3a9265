//! Scripts that edit the values of a store, and what must hold afterwards.
//!
//! A script is lines of text: the first one names the store (`known`, or `lost` for one whose key
//! was replaced, so that records are read without a check of their codes), each other one an edit.
//! Positions are taken modulo the length, so that every script means something.

use crate::target::Reached;
use kusion_model::{Ending, Operation, ReleaseHead, Spec, SpecOrigins, StackKey};
use kusion_model::{Identity, Place, Record, Resource, ResourceId, ResourceState, ResourceType};
use kusion_store::{Backend as _, Expected, Holder, LockWait, Memory, StackState, Store, StoreKey};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use testkit::Rng;

/// The length of the header of a value, and the place of its flags.
const HEAD: usize = 88;
const FLAGS: usize = 9;
const LINKED: u8 = 2;
/// Values of this size, in bytes, are left out.
const LARGE: usize = 100_000;

/// Texts that are written into records.
const TOKENS: &[&str] = &[
    "null",
    "{}",
    "[]",
    "-1",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "\"\\ud800\"",
    "[[[[[[[[",
    "\"kind\":\"locked\"",
    "\"kind\":\"releaseOpened\"",
    "\"seq\":18446744073709551615",
    "}",
    ",",
];

/// Makes a script.
pub(crate) fn script(rng: &mut Rng) -> String {
    let mut text = String::from(if rng.one_in(3) { "lost\n" } else { "known\n" });
    for _ in 0..=rng.below(4) {
        let edit = *rng.pick(&["flip", "set", "cut", "insert", "swap", "copy", "remove", "token"]);
        let (value, at, with) = (rng.below(64), rng.below(1 << 20), rng.below(256));
        // Most edits are near the beginning, where the header is.
        let at = if rng.one_in(2) { at % 200 } else { at };
        let _ = writeln!(text, "{edit} {value} {at} {with}");
        if !rng.one_in(4) {
            let _ = writeln!(text, "sums {value} 0 0");
        }
    }
    text
}

/// The values of a store, and what they must read as.
struct Base {
    known: BTreeMap<String, Vec<u8>>,
    lost: BTreeMap<String, Vec<u8>>,
    state: StackState,
    spec: Spec,
}

fn key() -> StackKey {
    StackKey::new("p", "dev", Place::Main)
}

fn first_key() -> StoreKey {
    StoreKey::new("0707070707070707", [7; 32])
}

fn second_key() -> StoreKey {
    StoreKey::new("0808080808080808", [8; 32])
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| block_on(make()))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime of one thread needs no resources");
    }
    RUNTIME.with(|it| it.block_on(future))
}

/// Writes a store in a file, because only a store with an address can get another key.
async fn make() -> Base {
    let home = std::env::temp_dir().join(format!("kcl-fuzz-{}", std::process::id()));
    let store = Store::open("", &home, first_key()).await.expect("a store");
    let spec = Spec { resources: vec![resource("a")], ..Spec::default() };
    for revision in 1..3 {
        let session = store.lock(&key(), Holder::current("fuzz"), LockWait::No).await;
        let session = session.expect("nobody has it");
        session.put_spec(revision, &spec, &SpecOrigins::default()).await.expect("written");
        session.append(vec![opened(revision), noted("a", 200)]).await.expect("written");
        // Enough for a snapshot, but without a trace in it.
        let message = "x".repeat(if revision == 1 { 2 * LARGE } else { 20 });
        let failed = Record::Noted { id: ResourceId::new("b"), ending: Ending::Failed { message } };
        session.append(vec![failed, noted("c", 20)]).await.expect("written");
        session.put_events(revision, &["event"]).await.expect("written");
        session.close().await.expect("closed");
    }
    let state = store.read(&key()).await.expect("readable");
    let known = values(&store).await;
    store.close().await;
    Store::replace_key("", &home, &second_key()).await.expect("replaced");
    let store = Store::open("", &home, second_key()).await.expect("a store");
    let lost = values(&store).await;
    store.close().await;
    let _ = std::fs::remove_dir_all(&home);
    Base { known, lost, state, spec }
}

async fn values(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let mut values = BTreeMap::new();
    for name in store.backend().list("").await.expect("readable") {
        let found = store.backend().get(&name).await.expect("readable");
        let bytes = found.map(|it| it.0.to_vec()).unwrap_or_default();
        // The segment before the snapshot is not needed, and slow to read.
        if bytes.len() < LARGE {
            values.insert(name, bytes);
        }
    }
    values
}

fn resource(name: &str) -> Resource {
    Resource {
        id: ResourceId::new(name),
        resource_type: ResourceType::new("Test"),
        attributes: serde_json::json!({"name": name}).into(),
        depends_on: Vec::new(),
        extensions: serde_json::Map::new(),
    }
}

fn noted(name: &str, size: usize) -> Record {
    let mut resource = resource(name);
    resource.attributes = serde_json::json!({"data": "x".repeat(size)}).into();
    let state = ResourceState::new(resource, Identity::new(name, None), 1);
    Record::Noted { id: ResourceId::new(name), ending: Ending::Present(Box::new(state)) }
}

fn opened(revision: u64) -> Record {
    Record::ReleaseOpened(ReleaseHead {
        revision,
        operation: Operation::Apply,
        operator: "me".into(),
        engine: "0".into(),
        spec_digest: String::new(),
        plan_digest: String::new(),
        saved_plan: None,
        message: String::new(),
        git: None,
    })
}

/// Runs a script, and reads everything: as it was, or not at all.
pub(crate) fn feed(text: &str) -> Result<Reached, String> {
    let base = base();
    let is_lost = text.starts_with("lost");
    let (mut values, store_key) =
        if is_lost { (base.lost.clone(), second_key()) } else { (base.known.clone(), first_key()) };
    for line in text.lines().skip(1) {
        edit(&mut values, line);
    }
    block_on(async {
        let memory = Memory::default();
        for (name, bytes) in values {
            let _ = memory.put(&name, bytes.into(), Expected::Absent).await;
        }
        let store = Store::with_backend(Arc::new(memory), store_key);
        let state = store.read(&key()).await;
        let spec = store.spec(&key(), 2).await;
        let events = store.events::<serde_json::Value>(&key(), 2).await;
        let audit = store.audit(&key()).await;
        let records = store.records(&key()).await;
        if !is_lost {
            if state.as_ref().is_ok_and(|it| *it != base.state) {
                return Err("the state reads as another one".into());
            }
            if spec.as_ref().is_ok_and(|it| it.as_ref().is_some_and(|it| *it != base.spec)) {
                return Err("the Spec reads as another one".into());
            }
        }
        let is_read = state.is_ok() && records.is_ok();
        let is_whole = is_read && events.is_ok() && audit.is_ok_and(|it| it.is_empty());
        Ok(match (is_read, is_whole) {
            (_, true) => Reached::Evaluated,
            (true, _) => Reached::Accepted,
            _ => Reached::Rejected,
        })
    })
}

/// Makes one edit; a line that is none does nothing.
fn edit(values: &mut BTreeMap<String, Vec<u8>>, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |idx: usize| words.get(idx).and_then(|it| it.parse::<usize>().ok()).unwrap_or(0);
    let names: Vec<String> = values.keys().cloned().collect();
    if names.is_empty() {
        return;
    }
    let name = names[number(1) % names.len()].clone();
    let other = names[number(2) % names.len()].clone();
    let mut bytes = values.get(&name).cloned().unwrap_or_default();
    let at = number(2) % bytes.len().max(1);
    let with = number(3);
    match words[0] {
        "flip" if !bytes.is_empty() => bytes[at] ^= 1 << (with % 8),
        "set" if !bytes.is_empty() => bytes[at] = with as u8,
        "cut" => bytes.truncate(at),
        "insert" => bytes.insert(at, with as u8),
        "token" => {
            let token = TOKENS[with % TOKENS.len()].as_bytes();
            let end = (at + token.len()).min(bytes.len());
            bytes.splice(at..end, token[..end - at].iter().copied());
        }
        "swap" => {
            let theirs = values.insert(other, bytes).unwrap_or_default();
            bytes = theirs;
        }
        "copy" => bytes = values.get(&other).cloned().unwrap_or_default(),
        "remove" => {
            values.remove(&name);
            return;
        }
        "sums" => bytes = with_sums(&name, bytes),
        _ => {}
    }
    values.insert(name, bytes);
}

/// Corrects the checksums of a value as far as it follows the format.
fn with_sums(name: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(flags) = bytes.get(FLAGS) else { return bytes };
    let link = if flags & LINKED == 0 { 0 } else { 32 };
    let mut at = HEAD + 4 + link;
    if bytes.len() < at {
        return bytes;
    }
    let writer = bytes[32..48].to_vec();
    let sum = crc(&[&bytes[..HEAD], name.as_bytes(), &bytes[HEAD + 4..at]]);
    bytes[HEAD..HEAD + 4].copy_from_slice(&sum);
    while let Some(length) = bytes.get(at + 8..at + 12) {
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let end = at + 12 + length;
        let Some(frame) = bytes.get(at..end) else { break };
        let sum = crc(&[frame, &writer]);
        let Some(place) = bytes.get_mut(end..end + 4) else { break };
        place.copy_from_slice(&sum);
        at = end + 4;
    }
    bytes
}

fn crc(parts: &[&[u8]]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_without_edits_is_whole_and_one_with_edits_is_not() {
        assert_eq!(feed("known\n"), Ok(Reached::Evaluated));
        assert_eq!(feed("lost\n"), Ok(Reached::Evaluated));
        let names = base().known.len();
        for value in 0..names {
            for sums in ["", "sums VALUE 0 0\n"] {
                let edit = format!("known\nflip VALUE 70 3\n{sums}");
                let text = edit.replace("VALUE", &value.to_string());
                assert!(feed(&text).expect("no law is broken") < Reached::Evaluated, "{text}");
            }
        }
    }
}
