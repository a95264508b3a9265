//! One version of an object, kept as text; its tree is read from the text when somebody needs it.

use super::scan;
use crate::api::EventKind;
use bytes::Bytes;
use serde::Deserialize as _;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Trees that stay in memory after their last use.
const RECENT: usize = 128;

/// The trees that were read or written of late.
#[derive(Debug, Default)]
pub(super) struct Recent {
    trees: Mutex<VecDeque<Arc<Value>>>,
}

impl Recent {
    fn keep(&self, value: &Arc<Value>) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let old = if trees.len() >= RECENT { trees.pop_front() } else { None };
        trees.push_back(Arc::clone(value));
        drop(trees);
        drop(old);
    }
}

/// One version of one object.
#[derive(Debug)]
pub(crate) struct Stored {
    /// `namespace/name`, or the name of a cluster-scoped object.
    pub(crate) key: Arc<str>,
    /// The revision that wrote it.
    pub(crate) revision: u64,
    /// What made this version.
    kind: EventKind,
    /// The line that watchers of the storage version get; the object is a part of it.
    line: Bytes,
    tree: Mutex<Weak<Value>>,
    recent: Arc<Recent>,
}

impl Stored {
    /// Makes a version of an object.
    pub(super) fn new(
        key: Arc<str>,
        revision: u64,
        kind: EventKind,
        value: Value,
        recent: &Arc<Recent>,
    ) -> Self {
        let line = frame(kind, |line| {
            // Writing a tree to memory cannot fail.
            let _ = serde_json::to_writer(line, &value);
        });
        let value = Arc::new(value);
        recent.keep(&value);
        let tree = Mutex::new(Arc::downgrade(&value));
        Self { key, revision, kind, line, tree, recent: Arc::clone(recent) }
    }

    /// Makes the version of an object that an earlier process stored, from its text.
    pub(super) fn restored(
        key: Arc<str>,
        revision: u64,
        text: &[u8],
        recent: &Arc<Recent>,
    ) -> Self {
        let kind = EventKind::Modified;
        let line = frame(kind, |line| line.extend_from_slice(text));
        Self { key, revision, kind, line, tree: Mutex::default(), recent: Arc::clone(recent) }
    }

    /// Makes a version of an object outside of a store.
    #[cfg(test)]
    pub(crate) fn of(key: &str, revision: u64, kind: EventKind, value: Value) -> Self {
        Self::new(key.into(), revision, kind, value, &Arc::default())
    }

    /// Returns the namespace, empty for a cluster-scoped object, and the name.
    pub(crate) fn place(&self) -> (&str, &str) {
        self.key.split_once('/').unwrap_or(("", &self.key))
    }

    fn known(&self) -> Option<Arc<Value>> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Returns the object, in its storage version.
    pub(crate) fn value(&self) -> Arc<Value> {
        if let Some(value) = self.known() {
            return value;
        }
        let value = Arc::new(read(self.text()).unwrap_or_default());
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&value);
        self.recent.keep(&value);
        value
    }

    /// Passes the labels to a function, without reading the rest of the object.
    pub(crate) fn with_labels<T>(&self, ask: impl Fn(Option<&Map<String, Value>>) -> T) -> T {
        if let Some(value) = self.known() {
            return ask(crate::object::at(&value, &["metadata", "labels"]).as_object());
        }
        let labels = scan::find(self.text(), &["metadata", "labels"]);
        let labels = labels.and_then(|text| serde_json::from_slice(text).ok());
        ask(labels.as_ref())
    }

    fn text(&self) -> &[u8] {
        &self.line[head(self.kind).len()..self.line.len() - TAIL.len()]
    }

    /// Returns the object as JSON text.
    pub(crate) fn json(&self) -> Bytes {
        self.line.slice(head(self.kind).len()..self.line.len() - TAIL.len())
    }

    /// Returns the object as JSON text without `apiVersion` and `kind`, as an item of a list: what
    /// stands behind the opening brace, in two parts. The second one is empty if the first one is
    /// the whole text, brace included.
    pub(crate) fn item(&self) -> (Bytes, Bytes) {
        let text = self.json();
        let cut = || {
            let version = scan::place(&text, "apiVersion")?;
            let kind = scan::place(&text, "kind")?;
            // Both are followed by a comma, since metadata comes later.
            (version.start == 1)
                .then(|| (text.slice(version.end + 1..kind.start), text.slice(kind.end + 1..)))
        };
        cut().unwrap_or_else(|| (text.clone(), Bytes::new()))
    }

    /// Returns the line for watchers of the storage version.
    pub(super) fn line(&self) -> Bytes {
        self.line.clone()
    }

    /// Returns how much memory the text takes.
    pub(super) fn size(&self) -> usize {
        self.line.len()
    }
}

/// Reads the text of an object. How deep it may be was decided when it came in.
fn read(text: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    reader.disable_recursion_limit();
    Value::deserialize(&mut reader)
}

/// What stands behind the object in a line.
const TAIL: &str = "}\n";

/// What stands before the object in a line.
fn head(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Added => "{\"type\":\"ADDED\",\"object\":",
        EventKind::Modified => "{\"type\":\"MODIFIED\",\"object\":",
        EventKind::Deleted => "{\"type\":\"DELETED\",\"object\":",
    }
}

/// Returns one line of a watch around the text that a function writes.
pub(crate) fn frame(kind: EventKind, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    thread_local! {
        static LINE: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    LINE.with_borrow_mut(|line| {
        line.clear();
        line.extend_from_slice(head(kind).as_bytes());
        write(line);
        line.extend_from_slice(TAIL.as_bytes());
        let made = Bytes::copy_from_slice(line);
        line.shrink_to(64 * 1024);
        made
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stored(value: Value) -> Stored {
        Stored::new("n/a".into(), 7, EventKind::Modified, value, &Arc::default())
    }

    #[test]
    fn the_tree_is_read_again_when_it_was_forgotten() {
        let object =
            json!({"metadata": {"labels": {"a": "b"}}, "x": [1.1, 3_000_000_000_u64, null]});
        let stored = stored(object.clone());
        stored.recent.trees.lock().expect("lock").clear();
        assert!(stored.known().is_none());
        assert!(stored.with_labels(|labels| labels.is_some_and(|it| it["a"] == "b")));
        assert_eq!(*stored.value(), object);
        assert!(stored.known().is_some());
        assert_eq!(stored.json(), object.to_string());
        let line = format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n");
        assert_eq!(stored.line(), line);
        assert_eq!(stored.place(), ("n", "a"));
    }

    #[test]
    fn items_of_lists_have_no_kind() {
        let object = json!({"apiVersion": "v1", "data": {"kind": "x"}, "kind": "ConfigMap",
            "metadata": {"name": "a"}});
        let (first, second) = stored(object).item();
        assert_eq!(first, "\"data\":{\"kind\":\"x\"},");
        assert_eq!(second, "\"metadata\":{\"name\":\"a\"}}");
        let object = json!({"metadata": {"name": "a"}});
        assert_eq!(stored(object.clone()).item(), (object.to_string().into(), Bytes::new()));
    }

    #[test]
    fn deep_objects_come_back() {
        let mut deep = json!(0.1);
        for _ in 0..600 {
            deep = json!([deep]);
        }
        let stored = stored(deep.clone());
        stored.recent.trees.lock().expect("lock").clear();
        assert_eq!(*stored.value(), deep);
    }
}
