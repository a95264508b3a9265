//! A store with a history, and what it must read as.

use crate::places::{Place, new_key, root, store_key};
use crate::records::{closed, noted, opened};
use kusion_model::{Spec, SpecOrigins, StackKey};
use kusion_store::{Backend, Expected, Holder, LockWait, Memory, StackState, Store, StoreError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A store with two stacks.
pub(super) struct Sample {
    backend: Arc<dyn Backend>,
    /// The edited stack, and another one.
    pub(super) key: StackKey,
    pub(super) other: StackKey,
    values: BTreeMap<String, Vec<u8>>,
    /// The same names in another store with the same key.
    twins: BTreeMap<String, Vec<u8>>,
    /// Earlier values of the same store.
    pub(super) earlier: BTreeMap<String, Vec<u8>>,
    state: StackState,
    specs: Vec<Option<Spec>>,
    events: Vec<Option<Vec<Value>>>,
}

/// The revisions that are read.
const REVISIONS: std::ops::Range<u64> = 1..5;

/// Values before an edit.
#[derive(Default)]
pub(super) struct Undo(Mutex<Vec<(String, Option<Vec<u8>>)>>);

impl Undo {
    /// Writes them back.
    pub(super) async fn run(self, sample: &Sample) {
        let mut values = self.0.into_inner().expect("no panic");
        while let Some((name, value)) = values.pop() {
            put(&*sample.backend, &name, value).await;
        }
    }
}

/// Writes or removes a value, whatever is there.
pub(super) async fn put(backend: &dyn Backend, name: &str, value: Option<Vec<u8>>) {
    let Some(value) = value else {
        return backend.delete(&[name.to_owned()]).await.expect("removed");
    };
    let found = backend.get(name).await.expect("readable");
    let expected = found.map_or(Expected::Absent, |(_, version)| Expected::Is(version));
    backend.put(name, value.into(), expected).await.expect("written");
}

async fn get(backend: &dyn Backend, name: &str) -> Vec<u8> {
    backend.get(name).await.expect("readable").expect("there").0.to_vec()
}

fn spec(name: &str) -> Spec {
    let resource = crate::records::resource(name, 10);
    Spec { resources: vec![resource], ..Spec::default() }
}

impl Sample {
    pub(super) async fn make(place: &Place) -> Self {
        let (key, other) = (new_key(), new_key());
        let store = place.open().await;
        let mut earlier = BTreeMap::new();
        fill(&store, &key, Some(&mut earlier)).await;
        fill(&store, &other, None).await;
        // Another store with the same key and the same names.
        let memory: Arc<dyn Backend> = Arc::new(Memory::default());
        let twin = Store::with_backend(Arc::clone(&memory), store_key());
        fill(&twin, &key, None).await;
        fill(&twin, &other, None).await;
        let backend = Arc::clone(store.backend());
        let mut sample = Self {
            values: all(&*backend, &[&key, &other]).await,
            twins: all(&*memory, &[&key, &other]).await,
            earlier,
            state: store.read(&key).await.expect("readable"),
            specs: Vec::new(),
            events: Vec::new(),
            backend,
            key,
            other,
        };
        assert!(store.audit(&sample.key).await.expect("readable").is_empty());
        for revision in REVISIONS {
            sample.specs.push(store.spec(&sample.key, revision).await.expect("readable"));
            sample.events.push(store.events(&sample.key, revision).await.expect("readable"));
        }
        assert_eq!(sample.specs.iter().flatten().count(), 3);
        sample
    }

    pub(super) fn place(&self) -> &str {
        self.backend.place()
    }

    /// Returns the names of the values of the edited stack, and of the store's metadata.
    pub(super) fn names(&self) -> Vec<String> {
        let root = format!("{}/", root(&self.key));
        let names = self.values.keys().filter(|it| it.starts_with(&root) || *it == "store");
        names.cloned().collect()
    }

    /// Returns the names of the values of the edited stack in a folder.
    pub(super) fn folder(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{}/{folder}/", root(&self.key));
        self.values.keys().filter(|it| it.starts_with(&prefix)).cloned().collect()
    }

    pub(super) fn value(&self, name: &str) -> Vec<u8> {
        self.values[name].clone()
    }

    /// Returns a value of the other store.
    pub(super) fn twin(&self, name: &str) -> Vec<u8> {
        self.twins[name].clone()
    }

    /// Returns the value of the other stack with the same name.
    pub(super) fn others(&self, name: &str) -> Vec<u8> {
        self.values[&name.replace(&root(&self.key), &root(&self.other))].clone()
    }

    /// Returns a value of the other store, if it has one of this name.
    pub(super) fn twin_if(&self, name: &str) -> Option<Vec<u8>> {
        self.twins.get(name).cloned()
    }

    /// Returns the value of the other stack with the same name, if it has one.
    pub(super) fn others_if(&self, name: &str) -> Option<Vec<u8>> {
        self.values.get(&name.replace(&root(&self.key), &root(&self.other))).cloned()
    }

    pub(super) fn lease(&self) -> String {
        format!("{}/lease", root(&self.key))
    }

    /// Returns what an error about a missing value names: its stack. So does one about the
    /// metadata of another store: nothing belongs to it.
    pub(super) fn root_of(&self, name: &str) -> String {
        debug_assert!(name == "store" || name.starts_with(&root(&self.key)));
        root(&self.key)
    }

    /// Edits a value.
    pub(super) async fn write(&self, name: &str, value: Option<Vec<u8>>, undo: &Undo) {
        let before = self.values.get(name).cloned();
        undo.0.lock().expect("no panic").push((name.to_owned(), before));
        put(&*self.backend, name, value).await;
    }

    /// Reads everything again; `true` if an edit is refused, `false` if it has no effect at all.
    pub(super) async fn verdict(
        &self,
        what: &str,
        names: &[String],
        may_be_harmless: bool,
    ) -> bool {
        let store = Store::with_backend(Arc::clone(&self.backend), store_key());
        let mut refusals: Vec<String> = Vec::new();
        let mut see = |is_same: Result<bool, StoreError>| match is_same {
            Ok(is_same) => assert!(is_same, "{what}: reads as something else"),
            Err(
                error @ (StoreError::Damaged { .. }
                | StoreError::OtherKey { .. }
                | StoreError::Older { .. }
                | StoreError::Newer { .. }),
            ) => refusals.push(error.to_string()),
            Err(error) => panic!("{what}: {error}"),
        };
        see(store.read(&self.key).await.map(|it| it == self.state));
        for (index, revision) in REVISIONS.enumerate() {
            // A missing Spec is reported by the audit and by rollbacks, but never another one.
            let spec = store.spec(&self.key, revision).await;
            see(spec.map(|it| it.is_none() || it == self.specs[index]));
            let events = store.events(&self.key, revision).await;
            see(events.map(|it| it.is_none() || it == self.events[index]));
        }
        match store.audit(&self.key).await {
            Ok(found) => refusals.extend(found.iter().map(ToString::to_string)),
            Err(error) => refusals.push(error.to_string()),
        }
        if refusals.is_empty() {
            assert!(may_be_harmless, "{what}: accepted");
            return false;
        }
        let is_named = |text: &String| {
            let is_in = |it: &String| text.contains(&format!("`{it}"));
            names.iter().any(is_in) || text.contains("uses the key")
        };
        assert!(refusals.iter().any(is_named), "{what}: {refusals:?} name none of {names:?}");
        true
    }

    /// Checks that all edits were undone.
    pub(super) async fn is_as_before(&self) {
        let store = Store::with_backend(Arc::clone(&self.backend), store_key());
        assert_eq!(store.read(&self.key).await.expect("readable"), self.state);
        assert!(store.audit(&self.key).await.expect("readable").is_empty());
    }
}

/// Returns all values of some stacks and of the store.
pub(super) async fn all(backend: &dyn Backend, keys: &[&StackKey]) -> BTreeMap<String, Vec<u8>> {
    let mut names = vec!["store".to_owned()];
    for key in keys {
        names.extend(backend.list(&format!("{}/", root(key))).await.expect("readable"));
    }
    let mut values = BTreeMap::new();
    for name in names {
        let value = get(backend, &name).await;
        values.insert(name, value);
    }
    values
}

/// Gives a stack a history: three releases, two snapshots, and an interrupted operation.
async fn fill(store: &Store, key: &StackKey, mut earlier: Option<&mut BTreeMap<String, Vec<u8>>>) {
    let backend = Arc::clone(store.backend());
    let lock = || store.lock(key, Holder::current("test"), LockWait::No);
    for revision in 1..4_u64 {
        if revision == 3 {
            let session = lock().await.expect("nobody has it");
            session
                .put_spec(3, &spec("interrupted"), &SpecOrigins::default())
                .await
                .expect("written");
            session.close().await.expect("closed");
            if let Some(earlier) = earlier.as_deref_mut() {
                for name in
                    [format!("{}/lease", root(key)), format!("{}/spec/{:020}", root(key), 3)]
                {
                    let value = get(&*backend, &name).await;
                    earlier.insert(name, value);
                }
            }
        }
        let session = lock().await.expect("nobody has it");
        session
            .put_spec(revision, &spec(&format!("r{revision}")), &SpecOrigins::default())
            .await
            .expect("written");
        let size = if revision < 3 { 150_000 } else { 30 };
        session.append(vec![opened(revision), sealed("a", 1)]).await.expect("written");
        for name in ["b", "c"] {
            session.append(vec![noted(name, size), sealed(name, 2)]).await.expect("written");
        }
        session.append(vec![closed(revision)]).await.expect("written");
        let events = [json!({"seq": 1, "revision": revision}), json!({"seq": 2})];
        session.put_events(revision, &events).await.expect("written");
        session.close().await.expect("closed");
    }
}

/// A record with two sealed values.
fn sealed(name: &str, number: u8) -> kusion_model::Record {
    let mut resource = crate::records::resource(name, 5);
    let seal = |text: &str| json!({"$sealed": {"hash": "h", "key": "k", "data": text}});
    resource.attributes =
        json!({"one": seal(&format!("AAAA{number}")), "two": seal(&format!("BBBB{number}"))})
            .into();
    let identity = kusion_model::Identity::new(name, None);
    let state = kusion_model::ResourceState::new(resource, identity, 1);
    let id = kusion_model::ResourceId::new(name);
    kusion_model::Record::Noted { id, ending: kusion_model::Ending::Present(Box::new(state)) }
}
