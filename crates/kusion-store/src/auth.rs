//! Authentication of values: MACs made with the key of the store.

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

/// The parts of a value that its authentication code covers.
pub(crate) struct Authenticated<'a> {
    /// The name under which the value is stored.
    pub(crate) name: &'a str,
    /// The header before the fingerprint.
    pub(crate) head: &'a [u8],
    /// Everything after the header.
    pub(crate) rest: &'a [u8],
    /// Whether the id of the store is covered, too.
    pub(crate) is_bound: bool,
}

/// Makes and checks authentication codes.
#[derive(Clone)]
pub(crate) struct Authority {
    key: StoreKey,
    /// The id of the store that values are bound to; `None` for its metadata, and in a new store.
    store: Option<String>,
    /// Earlier keys of the store: their values are read without a check.
    replaced: Vec<[u8; FINGERPRINT]>,
}

impl Authority {
    pub(crate) fn new(key: StoreKey) -> Self {
        Self { key, store: None, replaced: Vec::new() }
    }

    /// Binds values to a store: those of another store are refused, even if it has the same key.
    pub(crate) fn with_store(mut self, id: &str) -> Self {
        self.store = Some(id.to_owned());
        self
    }

    /// Whether new values are bound to a store.
    pub(crate) fn binds(&self) -> bool {
        self.store.is_some()
    }

    /// Also accepts values of earlier keys of the store.
    pub(crate) fn with_replaced(mut self, replaced: Vec<[u8; FINGERPRINT]>) -> Self {
        self.replaced = replaced;
        self
    }

    pub(crate) fn fingerprint(&self) -> [u8; FINGERPRINT] {
        self.key.fingerprint
    }

    /// Returns the code of a value; `is_bound` if it covers the id of the store.
    pub(crate) fn code(&self, value: &Authenticated<'_>) -> [u8; MAC] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.key);
        let mut with_length = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        with_length(value.name);
        if value.is_bound {
            with_length(self.store.as_deref().unwrap_or_default());
        }
        hasher.update(value.head).update(&self.key.fingerprint).update(value.rest);
        *hasher.finalize().as_bytes()
    }

    /// Checks the code of a value; returns the problem if it is wrong.
    pub(crate) fn check(
        &self,
        value: &Authenticated<'_>,
        fingerprint: &[u8],
        code: &[u8],
    ) -> Result<(), String> {
        if fingerprint != self.key.fingerprint {
            let is_known = self.replaced.iter().any(|it| it.as_slice() == fingerprint);
            return if is_known { Ok(()) } else { Err("written with another key".into()) };
        }
        let wanted = blake3::Hash::from_bytes(self.code(value));
        // Compared in constant time.
        let is_same = code.try_into().is_ok_and(|found: [u8; MAC]| wanted == found);
        if is_same {
            Ok(())
        } else {
            Err("modified without the key, or copied from another place".into())
        }
    }
}

/// Reads a fingerprint.
pub(crate) fn parse(text: &str) -> Option<[u8; FINGERPRINT]> {
    let digits = text.len() == 2 * FINGERPRINT && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok().map(u64::to_be_bytes))?
}
