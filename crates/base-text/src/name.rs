//! Interned identifiers.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// An identifier, held once in the process: comparing and hashing cost one word.
///
/// Names live as long as the process. Only words of source text become names (their
/// number is bounded by what was read), never computed strings.
#[derive(Clone, Copy)]
pub struct Name(&'static str);

type Table = HashTable<&'static str>;

const N_SHARDS: usize = 16;
/// Room for names in a new table.
const N_FIRST: usize = 28;

static TABLES: [Mutex<Table>; N_SHARDS] = [const { Mutex::new(Table::new()) }; N_SHARDS];

impl Name {
    /// Returns the one name with this text.
    pub fn new(text: &str) -> Self {
        let hash = hash(text);
        // The topmost bits and the lowest ones are the table's own.
        let shard = (hash >> 32) as usize % N_SHARDS;
        let mut table = TABLES[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = table.find(hash, |known| *known == text) {
            return Self(known);
        }
        if table.capacity() == 0 {
            // Small programs have a few hundred names: no table grows.
            table.reserve(N_FIRST, |text| self::hash(text));
        }
        let text: &'static str = Box::leak(text.into());
        table.insert_unique(hash, text, |text| self::hash(text));
        Self(text)
    }

    /// The text of the name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Whether the name is private to its package or hidden from output (`_name`).
    pub fn is_private(self) -> bool {
        self.0.starts_with('_')
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        // Each text is held once, so its address tells it apart.
        ptr::eq(self.0.as_ptr(), other.0.as_ptr())
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.0.as_ptr() as usize);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(other.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_the_same_name() {
        assert_eq!(Name::new("replicas"), Name::new(&String::from("replicas")));
        assert_ne!(Name::new("a"), Name::new("b"));
        assert_eq!(Name::new(""), Name::new(""));
    }
}
