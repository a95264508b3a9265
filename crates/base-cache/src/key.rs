//! Names of entries.

use std::fmt;

/// The hash of all that an entry follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

/// Hashes some bytes.
pub fn hash(bytes: &[u8]) -> Key {
    Key(*blake3::hash(bytes).as_bytes())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Makes a [`Key`] of several parts, which cannot run into each other.
#[derive(Clone, Debug, Default)]
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// Begins a key for some purpose.
    pub fn new(purpose: &str) -> Self {
        let mut builder = Self::default();
        builder.text(purpose);
        builder
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds some bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds another key.
    pub fn key(&mut self, key: &Key) -> &mut Self {
        self.0.update(&key.0);
        self
    }

    /// The key of all that was added.
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}
