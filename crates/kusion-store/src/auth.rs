//! Authentication of values: MACs computed with the key of the store.

use std::fmt;

/// The number of bytes of the fingerprint of a key.
pub(crate) const FINGERPRINT: usize = 8;
/// The number of bytes of an authentication code.
pub(crate) const MAC: usize = 32;

/// The key that authenticates the values of a store.
#[derive(Clone)]
pub struct StoreKey {
    fingerprint: [u8; FINGERPRINT],
    key: [u8; 32],
}

impl StoreKey {
    /// Creates a key from its fingerprint, 16 hexadecimal digits, and its bytes.
    pub fn new(fingerprint: &str, key: [u8; 32]) -> Self {
        Self { fingerprint: parse(fingerprint).unwrap_or_default(), key }
    }

    /// Returns the fingerprint of the key.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", u64::from_be_bytes(self.fingerprint))
    }
}

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreKey").field(&self.fingerprint()).finish()
    }
}

/// Computes and checks authentication codes.
#[derive(Clone)]
pub(crate) struct Authority {
    key: StoreKey,
    /// Earlier keys of the store: their values are read without a check.
    replaced: Vec<[u8; FINGERPRINT]>,
}

impl Authority {
    pub(crate) fn new(key: StoreKey) -> Self {
        Self { key, replaced: Vec::new() }
    }

    /// Also accepts values of earlier keys of the store.
    pub(crate) fn with_replaced(mut self, replaced: Vec<[u8; FINGERPRINT]>) -> Self {
        self.replaced = replaced;
        self
    }

    pub(crate) fn fingerprint(&self) -> [u8; FINGERPRINT] {
        self.key.fingerprint
    }

    /// Returns the code of a value.
    pub(crate) fn code(&self, name: &str, head: &[u8], frames: &[u8]) -> [u8; MAC] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.key);
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hasher.update(head).update(&self.key.fingerprint).update(frames);
        *hasher.finalize().as_bytes()
    }

    /// Checks the code of a value; returns the problem if it is wrong.
    pub(crate) fn check(
        &self,
        name: &str,
        head: &[u8],
        frames: &[u8],
        fingerprint: &[u8],
        code: &[u8],
    ) -> Result<(), String> {
        if fingerprint != self.key.fingerprint {
            let is_known = self.replaced.iter().any(|it| it.as_slice() == fingerprint);
            return if is_known { Ok(()) } else { Err("written with another key".into()) };
        }
        let wanted = blake3::Hash::from_bytes(self.code(name, head, frames));
        // Compared in constant time.
        let is_same = code.try_into().is_ok_and(|found: [u8; MAC]| wanted == found);
        if is_same { Ok(()) } else { Err("modified without the key".into()) }
    }
}

/// Reads a fingerprint.
pub(crate) fn parse(text: &str) -> Option<[u8; FINGERPRINT]> {
    let digits = text.len() == 2 * FINGERPRINT && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok().map(u64::to_be_bytes))?
}
