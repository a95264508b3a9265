//! Lists that several layers append to.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind<'a> {
    /// By their places.
    Ordered,
    /// By their values; places have no meaning.
    Set,
    /// By the value of a key; places have no meaning.
    Keyed(&'a str),
}

/// Returns the key of an item of a keyed list, as text that differs for different values.
pub(crate) fn key_text(item: &Value, key: &str) -> Option<String> {
    item.get(key).filter(|it| !it.is_object() && !it.is_array()).map(Value::to_string)
}

impl ListKind<'_> {
    /// Whether items are valid in a list of this kind: with a key of their own.
    pub(crate) fn accepts(self, items: &[Value]) -> bool {
        let Self::Keyed(key) = self else { return true };
        let mut seen = BTreeSet::new();
        let is_new = |item| key_text(item, key).is_some_and(|it| seen.insert(it));
        items.iter().all(is_new)
    }

    /// Returns the keys about which two layers, of which neither is more specific, disagree by what
    /// they append. `None` stands for the order of the items.
    pub(crate) fn clashes(self, one: &[Value], other: &[Value]) -> Vec<Option<String>> {
        match self {
            Self::Ordered => vec![None],
            Self::Set => Vec::new(),
            Self::Keyed(key) => {
                let differs = |item: &Value| {
                    let text = key_text(item, key)?;
                    let same_key = |it: &&Value| key_text(it, key).as_ref() == Some(&text);
                    let differs = other.iter().filter(same_key).any(|other| other != item);
                    differs.then_some(Some(text))
                };
                one.iter().filter_map(differs).collect()
            }
        }
    }

    /// Whether items have one with a key.
    pub(crate) fn has(self, items: &[Value], clash: Option<&str>) -> bool {
        let (Self::Keyed(key), Some(clash)) = (self, clash) else { return false };
        items.iter().any(|item| key_text(item, key).is_some_and(|it| it == clash))
    }
}

/// Appends the items of layers, the least specific first, to those of a list.
pub(crate) fn appended(kind: ListKind<'_>, start: &[Value], appends: &[&[Value]]) -> Value {
    let mut list = start.to_vec();
    let items = appends.iter().flat_map(|items| items.iter().cloned());
    match kind {
        ListKind::Ordered => list.extend(items),
        ListKind::Set => {
            let mut known = Vec::with_capacity(list.len());
            for item in list {
                if !known.contains(&item) {
                    known.push(item);
                }
            }
            let new: BTreeMap<String, Value> = items
                .filter(|item| !known.contains(item))
                .map(|item| (item.to_string(), item))
                .collect();
            list = known;
            list.extend(new.into_values());
        }
        ListKind::Keyed(key) => {
            let mut new: BTreeMap<String, Value> =
                items.filter_map(|item| Some((key_text(&item, key)?, item))).collect();
            for item in &mut list {
                if let Some(newer) = key_text(item, key).and_then(|it| new.remove(&it)) {
                    *item = newer;
                }
            }
            list.extend(new.into_values());
        }
    }
    Value::Array(list)
}
