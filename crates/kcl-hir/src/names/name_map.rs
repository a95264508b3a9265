//! Maps from names.

use base_text::Name;
use rustc_hash::FxHashMap;

/// How many entries are looked through one by one; larger maps have an index.
const FEW: usize = 16;

/// A map from names in the order of insertion, small and quick for a few of them.
#[derive(Clone, Debug)]
pub struct NameMap<T> {
    entries: Vec<(Name, T)>,
    /// The positions of names, if there are more than [`FEW`].
    index: Option<Box<FxHashMap<Name, u32>>>,
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: None }
    }
}

impl<T> NameMap<T> {
    /// Makes a map with room for some entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), index: None }
    }

    fn position(&self, name: Name) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&name).map(|position| *position as usize),
            None => self.entries.iter().position(|(known, _)| *known == name),
        }
    }

    /// The value of a name.
    pub fn get(&self, name: Name) -> Option<&T> {
        self.position(name).map(|position| &self.entries[position].1)
    }

    /// The value of a name, to change it.
    pub fn get_mut(&mut self, name: Name) -> Option<&mut T> {
        self.position(name).map(|position| &mut self.entries[position].1)
    }

    /// Whether a name has a value.
    pub fn contains(&self, name: Name) -> bool {
        self.position(name).is_some()
    }

    /// Sets the value of a name; a known name keeps its place.
    pub fn insert(&mut self, name: Name, value: T) {
        match self.position(name) {
            Some(position) => self.entries[position].1 = value,
            None => self.push(name, value),
        }
    }

    /// The value of a name, made if there is none.
    pub fn get_or_insert_with(&mut self, name: Name, make: impl FnOnce() -> T) -> &mut T {
        let position = self.position(name).unwrap_or_else(|| {
            self.push(name, make());
            self.entries.len() - 1
        });
        &mut self.entries[position].1
    }

    /// Adds a name that is not there yet.
    pub fn push(&mut self, name: Name, value: T) {
        let position = self.entries.len() as u32;
        self.entries.push((name, value));
        if let Some(index) = &mut self.index {
            index.insert(name, position);
        } else if self.entries.len() > FEW {
            let names = self.entries.iter().map(|(name, _)| *name);
            self.index = Some(Box::new(names.zip(0..).collect()));
        }
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Name, &T)> {
        self.entries.iter().map(|(name, value)| (*name, value))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        self.entries.iter().map(|(name, _)| *name)
    }

    /// The values, in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values, in order, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Turns each value into another.
    pub fn map<U>(self, mut turn: impl FnMut(T) -> U) -> NameMap<U> {
        let entries = self.entries.into_iter().map(|(name, value)| (name, turn(value))).collect();
        NameMap { entries, index: self.index }
    }
}

impl<T: PartialEq> PartialEq for NameMap<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_maps_keep_the_order_of_insertion() {
        for n in [3, FEW, FEW + 1, 100] {
            let mut map = NameMap::default();
            for i in 0..n {
                map.insert(Name::new(&format!("n{i}")), i);
            }
            map.insert(Name::new("n1"), 1000);
            assert_eq!(map.len(), n);
            assert_eq!(map.get(Name::new("n1")), Some(&1000));
            assert_eq!(map.get(Name::new("n2")), Some(&2));
            assert_eq!(map.get(Name::new("other")), None);
            assert_eq!(map.names().nth(1), Some(Name::new("n1")));
            assert_eq!(*map.get_or_insert_with(Name::new("new"), || 7), 7);
            assert_eq!(map.values().last(), Some(&7));
        }
    }
}
