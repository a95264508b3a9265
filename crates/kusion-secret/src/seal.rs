//! Sealed values, bound to a key, a resource and a path.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::{BASE64, HEXLOWER};
use kusion_model::markers::SEALED;
use kusion_model::{FieldPath, PathStep, ResourceId, StackKey};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

/// Domain separator of sealed values.
const PURPOSE: &[u8] = b"kusion sealed value, version 2";

/// The resource that sealed values are bound to: they cannot be opened for another one.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The stack; its place is ignored.
    pub stack: &'a StackKey,
    /// The resource.
    pub resource: &'a ResourceId,
}

impl Owner<'_> {
    /// Returns the bytes that are bound to the cipher text of the value at a path.
    fn bound(self, path: &[PathStep]) -> Vec<u8> {
        let path = FieldPath(path.to_vec()).to_string();
        let StackKey { project, stack, cell, place: _ } = self.stack;
        let parts = [project, stack, cell, self.resource.as_str(), &path];
        let mut bytes = PURPOSE.to_vec();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Length of a message authentication code, in bytes.
pub const MAC_LENGTH: usize = 32;

/// Seals and opens values with one key.
///
/// The cipher is AES-256-GCM-SIV (RFC 8452), for which a nonce that comes twice reveals at most
/// that two values are equal. Encryption, nonces and hash use different keys made of the one.
pub struct Sealer {
    cipher: LessSafeKey,
    nonce_key: [u8; 32],
    hash_key: [u8; 32],
    plan_key: [u8; 32],
    store_key: [u8; 32],
    /// The fingerprint of the key, which does not reveal the key.
    fingerprint: String,
    place: String,
}

/// The error of a sealed value that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// It was sealed with another key.
    #[error(
        "the secret at `{path}` was sealed with the key `{expected}`, but {place} \
         has the key `{found}`"
    )]
    OtherKey {
        /// The path of the value.
        path: FieldPath,
        /// The fingerprint of the required key.
        expected: String,
        /// The fingerprint of the current key.
        found: String,
        /// The source of the current key.
        place: String,
    },
    /// The value was modified, or was sealed for another resource or path.
    #[error("the sealed secret at `{path}` is damaged or was moved")]
    Damaged {
        /// The path of the value.
        path: FieldPath,
    },
}

impl UnsealError {
    /// Returns the path of the value.
    pub fn path(&self) -> &FieldPath {
        match self {
            Self::OtherKey { path, .. } | Self::Damaged { path } => path,
        }
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Sealer {
    /// Creates a sealer from a key; `place` is the source of the key, for messages.
    #[expect(clippy::missing_panics_doc, reason = "the key has the length of the cipher's")]
    pub fn new(key: [u8; 32], place: &str) -> Self {
        let cipher_key = blake3::derive_key("kusion 2026 sealed values: cipher", &key);
        let name = blake3::derive_key("kusion 2026 sealed values: name of the key", &key);
        let unbound = UnboundKey::new(&AES_256_GCM_SIV, &cipher_key);
        Self {
            cipher: LessSafeKey::new(unbound.expect("the key has the length of the cipher's")),
            nonce_key: blake3::derive_key("kusion 2026 sealed values: nonce", &key),
            hash_key: blake3::derive_key("kusion 2026 sealed values: hash", &key),
            plan_key: blake3::derive_key("kusion 2026 saved plans: authentication", &key),
            store_key: blake3::derive_key("kusion 2026 store: authentication", &key),
            fingerprint: HEXLOWER.encode(&name[..8]),
            place: place.to_owned(),
        }
    }

    /// Returns the fingerprint of the key, which does not reveal the key.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the source of the key, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the authentication code of a saved plan.
    pub fn plan_mac(&self, bytes: &[u8]) -> [u8; MAC_LENGTH] {
        *blake3::keyed_hash(&self.plan_key, bytes).as_bytes()
    }

    /// Returns the key that authenticates the values of a store.
    pub fn store_key(&self) -> [u8; 32] {
        self.store_key
    }

    /// Seals the values at these paths. Missing paths and sealed values are skipped.
    pub fn seal(&self, value: &mut Value, paths: &[FieldPath], owner: Owner<'_>) {
        let mut sorted: Vec<&FieldPath> = paths.iter().collect();
        sorted.sort_unstable();
        // A path comes before those below it, and what it leads to is sealed as a whole.
        sorted.dedup_by(|path, above| above.is_prefix_of(path));
        for path in sorted {
            if let Some(found) = find_mut(value, path) {
                self.seal_whole(found, path, owner);
            }
        }
    }

    /// Replaces a value that stands at a path, whatever it is.
    #[expect(clippy::missing_panics_doc, reason = "values are shorter than the cipher's limit")]
    pub fn seal_whole(&self, value: &mut Value, path: &FieldPath, owner: Owner<'_>) {
        if is_sealed(value) {
            return;
        }
        let plain = value.to_string().into_bytes();
        let hash = self.hash_text(&plain);
        let bound = owner.bound(&path.0);
        // The nonce follows from the value and its place, so that the same plan has the same
        // bytes: equal texts say no more than the equal hashes beside them.
        let mut hasher = blake3::Hasher::new_keyed(&self.nonce_key);
        hasher.update(&bound).update(&plain);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&hasher.finalize().as_bytes()[..NONCE_LEN]);
        let mut data = plain;
        let tag = self.cipher.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(bound),
            &mut data,
        );
        let tag = tag.expect("values are shorter than the limit of the cipher");
        let whole = [nonce.as_slice(), &data, tag.as_ref()].concat();
        let mut sealed = Map::new();
        sealed.insert("hash".to_owned(), hash.into());
        sealed.insert("key".to_owned(), self.fingerprint.as_str().into());
        sealed.insert("data".to_owned(), BASE64.encode(&whole).into());
        let mut outer = Map::new();
        outer.insert(SEALED.to_owned(), sealed.into());
        *value = Value::Object(outer);
    }

    /// Returns a copy with all sealed values opened.
    pub fn unseal(&self, value: &Value, owner: Owner<'_>) -> Result<Value, UnsealError> {
        self.unseal_whole(value, &FieldPath::default(), owner)
    }

    /// Does the same with a value that stands at a path.
    pub fn unseal_whole(
        &self,
        value: &Value,
        path: &FieldPath,
        owner: Owner<'_>,
    ) -> Result<Value, UnsealError> {
        let mut copy = value.clone();
        self.unseal_at(&mut copy, &mut path.0.clone(), owner)?;
        Ok(copy)
    }

    fn unseal_at(
        &self,
        value: &mut Value,
        path: &mut Vec<PathStep>,
        owner: Owner<'_>,
    ) -> Result<(), UnsealError> {
        if is_sealed(value) {
            *value = self.open_one(value, path, owner)?;
            return Ok(());
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map.iter_mut().filter(|(_, inner)| is_nested(inner)) {
                    path.push(PathStep::Key(key.clone()));
                    self.unseal_at(inner, path, owner)?;
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter_mut().enumerate() {
                    path.push(PathStep::Index(index));
                    self.unseal_at(inner, path, owner)?;
                    path.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open_one(
        &self,
        value: &Value,
        path: &[PathStep],
        owner: Owner<'_>,
    ) -> Result<Value, UnsealError> {
        let sealed = &value[SEALED];
        let damaged = || UnsealError::Damaged { path: FieldPath(path.to_vec()) };
        let expected = sealed["key"].as_str().unwrap_or(&self.fingerprint);
        if expected != self.fingerprint {
            return Err(UnsealError::OtherKey {
                path: FieldPath(path.to_vec()),
                expected: expected.to_owned(),
                found: self.fingerprint.clone(),
                place: self.place.clone(),
            });
        }
        let text = sealed["data"].as_str().ok_or_else(damaged)?;
        let whole = BASE64.decode(text.as_bytes()).map_err(|_| damaged())?;
        let (nonce, data) = whole.split_at_checked(NONCE_LEN).ok_or_else(damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut data = data.to_vec();
        let opened = self.cipher.open_in_place(nonce, Aad::from(owner.bound(path)), &mut data);
        let plain = opened.map_err(|_| damaged())?;
        if sealed["hash"].as_str() != Some(self.hash_text(plain).as_str()) {
            return Err(damaged());
        }
        serde_json::from_slice(plain).map_err(|_| damaged())
    }

    /// Returns the keyed hash of a value: equal for equal values, and no help in finding them.
    /// The hash of a sealed value is that of the plain value.
    pub fn hash(&self, value: &Value) -> String {
        match sealed_hash(value) {
            Some(hash) => hash.to_owned(),
            None => self.hash_text(value.to_string().as_bytes()),
        }
    }

    /// Returns the keyed hash of the JSON text of something large, which is never held as a whole.
    pub fn hash_of(&self, data: &impl Serialize) -> String {
        let hasher = Hashing(blake3::Hasher::new_keyed(&self.hash_key));
        let mut writer = BufWriter::with_capacity(1 << 16, hasher);
        // What cannot be written as JSON ends the text where it stands; a hasher takes all bytes.
        let _ = serde_json::to_writer(&mut writer, data);
        let _ = writer.flush();
        writer.get_ref().0.finalize().to_hex().to_string()
    }

    fn hash_text(&self, text: &[u8]) -> String {
        blake3::keyed_hash(&self.hash_key, text).to_hex().to_string()
    }
}

/// A writer that hashes its input.
struct Hashing(blake3::Hasher);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a value is sealed.
pub fn is_sealed(value: &Value) -> bool {
    sealed_hash(value).is_some()
}

/// Returns the hash of a sealed value; `None` if it is not sealed.
pub fn sealed_hash(value: &Value) -> Option<&str> {
    let map = value.as_object().filter(|it| it.len() == 1)?;
    let sealed = map.get(SEALED)?;
    sealed.get("data")?.as_str()?;
    sealed.get("hash")?.as_str()
}

/// Returns the fingerprints of the keys that values inside a value were sealed with.
pub fn sealed_keys(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, keys: &mut BTreeSet<String>) {
        if is_sealed(value) {
            keys.extend(value[SEALED]["key"].as_str().map(str::to_owned));
            return;
        }
        match value {
            Value::Object(map) => map.values().for_each(|inner| collect(inner, keys)),
            Value::Array(items) => items.iter().for_each(|inner| collect(inner, keys)),
            _ => {}
        }
    }
    let mut keys = BTreeSet::new();
    collect(value, &mut keys);
    keys
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn find_mut<'a>(value: &'a mut Value, path: &FieldPath) -> Option<&'a mut Value> {
    path.0.iter().try_fold(value, |value, step| match step {
        _ if is_sealed(value) => None,
        PathStep::Index(index) => value.get_mut(index),
        PathStep::Key(key) => value.get_mut(key),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealer(byte: u8) -> Sealer {
        Sealer::new([byte; 32], "test")
    }

    fn key() -> StackKey {
        StackKey::new("shop", "dev", kusion_model::Place::Main)
    }

    /// Seals for one resource of one stack.
    fn seal(sealer: &Sealer, value: &mut Value, paths: &[FieldPath]) {
        let (key, id) = (key(), ResourceId::new("a"));
        sealer.seal(value, paths, Owner { stack: &key, resource: &id });
    }

    fn unseal(sealer: &Sealer, value: &Value) -> Result<Value, UnsealError> {
        let (key, id) = (key(), ResourceId::new("a"));
        sealer.unseal(value, Owner { stack: &key, resource: &id })
    }

    fn path(keys: &[&str]) -> FieldPath {
        keys.iter().fold(FieldPath::default(), |path, key| path.key(key))
    }

    #[test]
    fn what_is_sealed_cannot_be_read_and_opens_again() {
        let plain =
            json!({"data": {"password": "canary", "more": {"a": ["canary", 1]}}, "kind": "Secret"});
        let mut sealed = plain.clone();
        let paths = [path(&["data", "password"]), path(&["data", "more"]), path(&["data", "none"])];
        seal(&sealer(1), &mut sealed, &paths);
        assert!(!sealed.to_string().contains("canary"));
        assert!(is_sealed(&sealed["data"]["password"]) && is_sealed(&sealed["data"]["more"]));
        assert_eq!(sealed["kind"], "Secret");
        let again = sealed.clone();
        seal(&sealer(1), &mut sealed, &paths);
        assert_eq!(sealed, again, "sealing twice is sealing once");
        assert_eq!(unseal(&sealer(1), &sealed), Ok(plain));
    }

    #[test]
    fn a_stream_has_the_hash_of_its_text() {
        let value = json!({"a": [1, "x".repeat(200_000)], "b": null});
        assert_eq!(sealer(1).hash_of(&value), sealer(1).hash(&value));
        assert_ne!(sealer(1).hash_of(&value), sealer(2).hash_of(&value));
    }

    #[test]
    fn equal_values_have_equal_hashes_and_texts() {
        let sealed = |value: Value, key| {
            let mut value = json!({"a": value});
            seal(&sealer(key), &mut value, &[path(&["a"])]);
            value["a"][SEALED].clone()
        };
        let (one, two) = (sealed("x".into(), 1), sealed("x".into(), 1));
        assert_eq!(one["hash"], two["hash"]);
        assert_eq!(one["data"], two["data"], "the same plan has the same bytes");
        assert_ne!(one["data"], sealed("x".into(), 2)["data"]);
        assert_ne!(one["hash"], sealed("y".into(), 1)["hash"]);
        assert_ne!(one["hash"], sealed("x".into(), 2)["hash"]);
        assert_eq!(one["hash"], sealer(1).hash(&"x".into()));
        assert_eq!(sealer(1).hash(&json!({SEALED: two})), sealer(1).hash(&"x".into()));
    }

    #[test]
    fn another_key_is_named() {
        let mut value = json!([{"a": "x"}]);
        let place = FieldPath::default().index(0).key("a");
        seal(&sealer(1), &mut value, std::slice::from_ref(&place));
        let error = unseal(&sealer(2), &value).expect_err("another key");
        assert_eq!(error.path(), &place);
        let text = error.to_string();
        assert!(text.contains("`[0].a`") && text.contains(sealer(1).fingerprint()), "{text}");
    }

    #[test]
    fn a_sealed_value_opens_only_where_it_belongs() {
        let mut value = json!({"a": "x", "b": "y"});
        seal(&sealer(1), &mut value, &[path(&["a"]), path(&["b"])]);
        let swapped = json!({"a": value["b"], "b": value["a"]});
        assert!(unseal(&sealer(1), &swapped).is_err(), "another path");
        let (home, id) = (key(), ResourceId::new("a"));
        let open = |stack: &StackKey, resource: &ResourceId| {
            sealer(1).unseal(&value, Owner { stack, resource }).is_ok()
        };
        assert!(open(&home, &id));
        assert!(!open(&home, &ResourceId::new("b")), "another resource");
        assert!(!open(&StackKey { stack: "prod".into(), ..key() }, &id), "another stack");
        assert!(!open(&StackKey { project: "s".into(), ..key() }, &id), "another project");
        assert!(!open(&StackKey { cell: "c".into(), ..key() }, &id), "another cell");
        assert!(open(&StackKey { place: kusion_model::Place::Named("b".into()), ..key() }, &id));
    }

    #[test]
    fn changed_sealed_values_do_not_open() {
        let mut value = json!({"a": "secret"});
        seal(&sealer(1), &mut value, &[path(&["a"])]);
        let text = value["a"][SEALED]["data"].as_str().expect("a text").to_owned();
        let bytes = BASE64.decode(text.as_bytes()).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            value["a"][SEALED]["data"] = BASE64.encode(&changed).into();
            assert_eq!(
                unseal(&sealer(1), &value),
                Err(UnsealError::Damaged { path: path(&["a"]) })
            );
        }
        for text in ["", "AAAA", "not base64", "\u{fc}"] {
            value["a"][SEALED]["data"] = text.into();
            assert!(unseal(&sealer(1), &value).is_err());
        }
    }

    #[test]
    fn random_values_survive() {
        fn value(random: &mut fastrand::Rng, depth: u32) -> Value {
            match random.u8(if depth == 0 { 0..4 } else { 0..6 }) {
                0 => Value::Null,
                1 => random.bool().into(),
                2 => random.i64(..).into(),
                3 => (0..random.usize(0..9)).map(|_| random.char(..)).collect::<String>().into(),
                4 => (0..random.usize(0..4)).map(|_| value(random, depth - 1)).collect(),
                _ => {
                    let keys = ["a", "b", SEALED, "hash"];
                    let entries = (0..random.usize(0..4))
                        .map(|_| (keys[random.usize(0..4)].to_owned(), value(random, depth - 1)));
                    Value::Object(entries.collect())
                }
            }
        }
        fn paths(value: &Value, at: &FieldPath, all: &mut Vec<FieldPath>) {
            all.push(at.clone());
            match value {
                Value::Object(map) => map.iter().for_each(|(k, v)| paths(v, &at.key(k), all)),
                Value::Array(items) => {
                    items.iter().enumerate().for_each(|(i, v)| paths(v, &at.index(i), all));
                }
                _ => {}
            }
        }
        let sealer = sealer(3);
        for seed in 0..3000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let plain = value(&mut random, 4);
            let mut all = Vec::new();
            paths(&plain, &FieldPath::default(), &mut all);
            all.retain(|_| random.u8(0..4) == 0);
            let mut sealed = plain.clone();
            seal(&sealer, &mut sealed, &all);
            assert_eq!(unseal(&sealer, &sealed), Ok(plain), "seed {seed}");
        }
    }
}
