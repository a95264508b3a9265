//! Ordered dicts with the merge operators of their entries.

use crate::{Origin, Str, Value};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// How an entry meets what is already there when configs are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MergeOp {
    /// `:` merge
    #[default]
    Union,
    /// `=` replace
    Override,
    /// `+=` append
    Insert,
}

/// The operator of an entry, with the list index of `key[index]` entries, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

const NO_INDEX: i32 = i32::MIN >> 2;

impl Slot {
    /// Makes a slot; an index outside ±2²⁹ is no list's index and counts as the nearest one.
    pub fn new(op: MergeOp, index: Option<i32>) -> Self {
        let index = index.map_or(NO_INDEX, |index| index.clamp(NO_INDEX + 1, -NO_INDEX - 1));
        let op = match op {
            MergeOp::Union => 0,
            MergeOp::Override => 1,
            MergeOp::Insert => 2,
        };
        Self(((index << 2) as u32) | op)
    }

    /// The operator.
    pub fn op(self) -> MergeOp {
        match self.0 & 3 {
            0 => MergeOp::Union,
            1 => MergeOp::Override,
            _ => MergeOp::Insert,
        }
    }

    /// The index of `key[index]`.
    pub fn index(self) -> Option<i32> {
        let index = (self.0 as i32) >> 2;
        (index != NO_INDEX).then_some(index)
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new(MergeOp::Union, None)
    }
}

/// One entry of a dict.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Str,
    /// The value.
    pub value: Value,
    /// How it merges.
    pub slot: Slot,
    /// Where the value came from.
    pub origin: Origin,
}

const _: () = assert!(size_of::<Entry>() == 32);

/// A dict in insertion order. Small ones are searched, large ones have an index.
#[derive(Clone, Debug, Default)]
pub struct Dict {
    entries: Vec<Entry>,
    index: Option<Box<HashTable<Place>>>,
}

/// Where a key is, with enough of its hash to grow the index without a look at the keys.
#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u32,
    at: u32,
}

impl Place {
    /// The hash for the table, which wants its bits spread out.
    fn spread(self) -> u64 {
        u64::from(self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Up to this many entries a scan beats hashing.
const SCAN_LIMIT: usize = 12;

fn hash(key: &str) -> u32 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

impl Dict {
    /// Makes an empty dict.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty dict with room for `n` entries.
    pub fn with_capacity(n: usize) -> Self {
        Self { entries: Vec::with_capacity(n), index: None }
    }

    /// Makes room for `n` more entries.
    pub fn reserve(&mut self, n: usize) {
        self.entries.reserve(n);
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// The entries in order; keys must not be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Str, &mut Value)> {
        self.entries.iter_mut().map(|entry| (&entry.key, &mut entry.value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &Str> {
        self.entries.iter().map(|entry| &entry.key)
    }

    /// The position of `key`.
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => {
                let wanted = Place { hash: hash(key), at: 0 };
                let is_it = |place: &Place| {
                    place.hash == wanted.hash && self.entries[place.at as usize].key.as_str() == key
                };
                index.find(wanted.spread(), is_it).map(|place| place.at as usize)
            }
            None => self.entries.iter().position(|entry| entry.key.as_str() == key),
        }
    }

    /// The position of `key`, fastest if it is the very string that is in the dict.
    pub fn position_of(&self, key: &Str) -> Option<usize> {
        match &self.index {
            Some(_) => self.position(key),
            None => self.entries.iter().position(|entry| entry.key == *key),
        }
    }

    /// Whether a key is there that most often is the very string in the dict.
    pub fn has_shared_key(&self, key: &Str) -> bool {
        let is_same = |entry: &Entry| entry.key.ptr_eq(key);
        self.index.is_none() && self.entries.iter().any(is_same) || self.contains_key(key)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|at| &self.entries[at].value)
    }

    /// The entry of `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.position(key).map(|at| &self.entries[at])
    }

    /// The entry at a position.
    pub fn at(&self, position: usize) -> Option<&Entry> {
        self.entries.get(position)
    }

    /// The entry at a position, to be changed; its key must not be.
    pub fn at_mut(&mut self, position: usize) -> Option<&mut Entry> {
        self.entries.get_mut(position)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.position(key).map(|at| &mut self.entries[at].value)
    }

    /// Whether `key` is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets the value of `key` with operator `:`; a known key keeps its place.
    pub fn insert(&mut self, key: Str, value: Value) {
        self.put(Entry { key, value, slot: Slot::default(), origin: Origin::default() });
    }

    /// Puts an entry in the place of the one with its key, or last.
    pub fn put(&mut self, entry: Entry) {
        match self.position_of(&entry.key) {
            Some(at) => self.entries[at] = entry,
            None => self.push_new(entry),
        }
    }

    /// Adds an entry whose key is known not to be there.
    pub fn push_new(&mut self, entry: Entry) {
        if let Some(index) = &mut self.index {
            let place = Place { hash: hash(&entry.key), at: self.entries.len() as u32 };
            index.insert_unique(place.spread(), place, |place| place.spread());
        }
        self.push_indexed(entry);
    }

    /// Adds an entry unless its key is there; then it is given back.
    ///
    /// # Errors
    ///
    /// With the entry, if its key is there.
    pub fn try_push(&mut self, entry: Entry) -> Result<(), Entry> {
        if let Some(index) = &mut self.index {
            let place = Place { hash: hash(&entry.key), at: self.entries.len() as u32 };
            let is_it = |other: &Place| {
                other.hash == place.hash && self.entries[other.at as usize].key == entry.key
            };
            match index.entry(place.spread(), is_it, |place| place.spread()) {
                TableEntry::Occupied(_) => return Err(entry),
                TableEntry::Vacant(vacant) => drop(vacant.insert(place)),
            }
        } else if self.position_of(&entry.key).is_some() {
            return Err(entry);
        }
        self.push_indexed(entry);
        Ok(())
    }

    /// Adds an entry that is in the index, if there is one.
    fn push_indexed(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.index.is_none() && self.entries.len() > SCAN_LIMIT {
            self.build_index(self.entries.capacity());
        }
    }

    /// Removes `key`; the rest keeps its order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key)?;
        let entry = self.entries.remove(at);
        self.index = None;
        if self.entries.len() > SCAN_LIMIT {
            self.build_index(2 * self.entries.len());
        }
        Some(entry.value)
    }

    /// Removes `key`; the last entry takes its place.
    pub fn swap_remove(&mut self, key: &str) -> Option<Value> {
        let at = self.position(key)?;
        let entry = self.entries.swap_remove(at);
        self.index = None;
        if self.entries.len() > SCAN_LIMIT {
            self.build_index(2 * self.entries.len());
        }
        Some(entry.value)
    }

    /// Keeps the entries that `keep` holds for.
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
        self.index = None;
        if self.entries.len() > SCAN_LIMIT {
            self.build_index(2 * self.entries.len());
        }
    }

    /// Builds the index, with room for `n` entries.
    fn build_index(&mut self, n: usize) {
        let entries = &self.entries;
        let mut index = HashTable::with_capacity(n);
        for (at, entry) in entries.iter().enumerate() {
            let place = Place { hash: hash(&entry.key), at: at as u32 };
            index.insert_unique(place.spread(), place, |place| place.spread());
        }
        self.index = Some(Box::new(index));
    }
}

impl<'d> IntoIterator for &'d Dict {
    type Item = &'d Entry;
    type IntoIter = std::slice::Iter<'d, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl FromIterator<(Str, Value)> for Dict {
    fn from_iter<I: IntoIterator<Item = (Str, Value)>>(pairs: I) -> Self {
        let mut dict = Self::new();
        for (key, value) in pairs {
            dict.insert(key, value);
        }
        dict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_dict_finds_all_keys_and_keeps_order() {
        let mut dict = Dict::new();
        for i in 0..100 {
            dict.insert(Str::from(format!("k{i}")), Value::Int(i));
        }
        dict.insert(Str::from("k7"), Value::Int(-7));
        dict.remove("k3");
        assert_eq!(dict.len(), 99);
        assert!(matches!(dict.get("k7"), Some(Value::Int(-7))));
        assert!(matches!(dict.get("k99"), Some(Value::Int(99))));
        assert!(dict.get("k3").is_none());
        let keys: Vec<_> = dict.keys().take(4).map(Str::as_str).collect();
        assert_eq!(keys, ["k0", "k1", "k2", "k4"]);
    }

    #[test]
    fn a_slot_keeps_operator_and_index() {
        for index in [None, Some(0), Some(-1), Some(70_000), Some(-70_000)] {
            for op in [MergeOp::Union, MergeOp::Override, MergeOp::Insert] {
                let slot = Slot::new(op, index);
                assert_eq!((slot.op(), slot.index()), (op, index));
            }
        }
    }
}
