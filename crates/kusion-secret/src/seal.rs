//! Values that only the key opens.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use data_encoding::{BASE64, HEXLOWER};
use kusion_model::markers::SEALED;
use kusion_model::{FieldPath, PathStep};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{self, BufWriter, Write};

/// What the cipher text is for; bound to it, so that it opens for nothing else.
const PURPOSE: &[u8] = b"kusion sealed value, version 1";

/// Seals and opens values with one key.
///
/// The cipher is AES-256-GCM-SIV (RFC 8452), for which a nonce that comes twice reveals at most that
/// two values are equal. Encryption, nonces and hash use different keys made of the one.
pub struct Sealer {
    cipher: LessSafeKey,
    nonce_key: [u8; 32],
    hash_key: [u8; 32],
    /// A name of the key that reveals nothing of it.
    key_id: String,
    place: String,
}

/// Why a sealed value cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// It was sealed with another key.
    #[error(
        "the secret at `{path}` was sealed with the key `{wanted}`, and {place} holds the key \
         `{found}`"
    )]
    OtherKey {
        /// Where the value is.
        path: FieldPath,
        /// The name of the key that is missing.
        wanted: String,
        /// The name of the key that is there.
        found: String,
        /// Where that key comes from.
        place: String,
    },
    /// It is not what was sealed.
    #[error("the sealed secret at `{path}` is damaged")]
    Damaged {
        /// Where the value is.
        path: FieldPath,
    },
}

impl UnsealError {
    /// Returns where the value is.
    pub fn path(&self) -> &FieldPath {
        match self {
            Self::OtherKey { path, .. } | Self::Damaged { path } => path,
        }
    }
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sealer").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl Sealer {
    /// Makes a sealer of a key; `place` says where the key comes from, for messages.
    #[expect(clippy::missing_panics_doc, reason = "the key has the length of the cipher's")]
    pub fn new(key: [u8; 32], place: &str) -> Self {
        let cipher_key = blake3::derive_key("kusion 2026 sealed values: cipher", &key);
        let name = blake3::derive_key("kusion 2026 sealed values: name of the key", &key);
        let unbound = UnboundKey::new(&AES_256_GCM_SIV, &cipher_key);
        Self {
            cipher: LessSafeKey::new(unbound.expect("the key has the length of the cipher's")),
            nonce_key: blake3::derive_key("kusion 2026 sealed values: nonce", &key),
            hash_key: blake3::derive_key("kusion 2026 sealed values: hash", &key),
            key_id: HEXLOWER.encode(&name[..4]),
            place: place.to_owned(),
        }
    }

    /// Returns a name of the key, which reveals nothing of it.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Replaces the values at these paths. Paths that lead nowhere, and values that are sealed
    /// already, are left alone.
    pub fn seal(&self, value: &mut Value, paths: &[FieldPath]) {
        let mut sorted: Vec<&FieldPath> = paths.iter().collect();
        sorted.sort_unstable();
        // A path comes before those below it, and what it leads to is sealed as a whole.
        sorted.dedup_by(|path, above| above.is_prefix_of(path));
        for path in sorted {
            if let Some(found) = find_mut(value, path) {
                self.seal_whole(found);
            }
        }
    }

    fn seal_whole(&self, value: &mut Value) {
        if is_sealed(value) {
            return;
        }
        let plain = value.to_string().into_bytes();
        let hash = self.hash_text(&plain);
        // The nonce follows from the value, so that the same plan has the same bytes: equal texts
        // say no more than the equal hashes beside them.
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&blake3::keyed_hash(&self.nonce_key, &plain).as_bytes()[..NONCE_LEN]);
        let mut data = plain;
        let tag = self.cipher.seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(PURPOSE),
            &mut data,
        );
        let tag = tag.expect("values are shorter than the limit of the cipher");
        let whole = [nonce.as_slice(), &data, tag.as_ref()].concat();
        let mut sealed = Map::new();
        sealed.insert("hash".to_owned(), hash.into());
        sealed.insert("key".to_owned(), self.key_id.as_str().into());
        sealed.insert("data".to_owned(), BASE64.encode(&whole).into());
        let mut outer = Map::new();
        outer.insert(SEALED.to_owned(), sealed.into());
        *value = Value::Object(outer);
    }

    /// Returns a copy in which everything that is sealed is plain.
    pub fn unseal(&self, value: &Value) -> Result<Value, UnsealError> {
        let mut copy = value.clone();
        self.unseal_at(&mut copy, &mut Vec::new())?;
        Ok(copy)
    }

    fn unseal_at(&self, value: &mut Value, path: &mut Vec<PathStep>) -> Result<(), UnsealError> {
        if is_sealed(value) {
            *value = self.open_one(value, path)?;
            return Ok(());
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map.iter_mut().filter(|(_, inner)| is_nested(inner)) {
                    path.push(PathStep::Key(key.clone()));
                    self.unseal_at(inner, path)?;
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter_mut().enumerate() {
                    path.push(PathStep::Index(index));
                    self.unseal_at(inner, path)?;
                    path.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open_one(&self, value: &Value, path: &[PathStep]) -> Result<Value, UnsealError> {
        let sealed = &value[SEALED];
        let damaged = || UnsealError::Damaged { path: FieldPath(path.to_vec()) };
        let wanted = sealed["key"].as_str().unwrap_or(&self.key_id);
        if wanted != self.key_id {
            return Err(UnsealError::OtherKey {
                path: FieldPath(path.to_vec()),
                wanted: wanted.to_owned(),
                found: self.key_id.clone(),
                place: self.place.clone(),
            });
        }
        let text = sealed["data"].as_str().ok_or_else(damaged)?;
        let whole = BASE64.decode(text.as_bytes()).map_err(|_| damaged())?;
        let (nonce, data) = whole.split_at_checked(NONCE_LEN).ok_or_else(damaged)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut data = data.to_vec();
        let opened = self.cipher.open_in_place(nonce, Aad::from(PURPOSE), &mut data);
        let plain = opened.map_err(|_| damaged())?;
        if sealed["hash"].as_str() != Some(self.hash_text(plain).as_str()) {
            return Err(damaged());
        }
        serde_json::from_slice(plain).map_err(|_| damaged())
    }

    /// Returns the keyed hash of a value: equal for equal values, and no help in finding them.
    /// That of a sealed value is the one of what was sealed.
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

/// Hashes what is written.
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

/// Returns the hash of a sealed value; none if it is not sealed.
pub fn sealed_hash(value: &Value) -> Option<&str> {
    let map = value.as_object().filter(|it| it.len() == 1)?;
    let sealed = map.get(SEALED)?;
    sealed.get("data")?.as_str()?;
    sealed.get("hash")?.as_str()
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

    fn path(keys: &[&str]) -> FieldPath {
        keys.iter().fold(FieldPath::default(), |path, key| path.key(key))
    }

    #[test]
    fn what_is_sealed_cannot_be_read_and_opens_again() {
        let plain =
            json!({"data": {"password": "canary", "more": {"a": ["canary", 1]}}, "kind": "Secret"});
        let mut sealed = plain.clone();
        let paths = [path(&["data", "password"]), path(&["data", "more"]), path(&["data", "none"])];
        sealer(1).seal(&mut sealed, &paths);
        assert!(!sealed.to_string().contains("canary"));
        assert!(is_sealed(&sealed["data"]["password"]) && is_sealed(&sealed["data"]["more"]));
        assert_eq!(sealed["kind"], "Secret");
        let again = sealed.clone();
        sealer(1).seal(&mut sealed, &paths);
        assert_eq!(sealed, again, "sealing twice is sealing once");
        assert_eq!(sealer(1).unseal(&sealed), Ok(plain));
    }

    #[test]
    fn a_stream_has_the_hash_of_its_text() {
        let value = json!({"a": [1, "x".repeat(200_000)], "b": null});
        assert_eq!(sealer(1).hash_of(&value), sealer(1).hash(&value));
        assert_ne!(sealer(1).hash_of(&value), sealer(2).hash_of(&value));
    }

    #[test]
    fn equal_values_have_equal_hashes_and_texts() {
        let seal = |value: Value, key| {
            let mut value = json!({"a": value});
            sealer(key).seal(&mut value, &[path(&["a"])]);
            value["a"][SEALED].clone()
        };
        let (one, two) = (seal("x".into(), 1), seal("x".into(), 1));
        assert_eq!(one["hash"], two["hash"]);
        assert_eq!(one["data"], two["data"], "the same plan has the same bytes");
        assert_ne!(one["data"], seal("x".into(), 2)["data"]);
        assert_ne!(one["hash"], seal("y".into(), 1)["hash"]);
        assert_ne!(one["hash"], seal("x".into(), 2)["hash"]);
        assert_eq!(one["hash"], sealer(1).hash(&"x".into()));
        assert_eq!(sealer(1).hash(&json!({SEALED: two})), sealer(1).hash(&"x".into()));
    }

    #[test]
    fn another_key_is_named() {
        let mut value = json!([{"a": "x"}]);
        let place = FieldPath::default().index(0).key("a");
        sealer(1).seal(&mut value, std::slice::from_ref(&place));
        let error = sealer(2).unseal(&value).expect_err("another key");
        assert_eq!(error.path(), &place);
        let text = error.to_string();
        assert!(text.contains("`[0].a`") && text.contains(sealer(1).key_id()), "{text}");
    }

    #[test]
    fn changed_sealed_values_do_not_open() {
        let mut value = json!({"a": "secret"});
        sealer(1).seal(&mut value, &[path(&["a"])]);
        let text = value["a"][SEALED]["data"].as_str().expect("a text").to_owned();
        let bytes = BASE64.decode(text.as_bytes()).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            value["a"][SEALED]["data"] = BASE64.encode(&changed).into();
            assert_eq!(sealer(1).unseal(&value), Err(UnsealError::Damaged { path: path(&["a"]) }));
        }
        for text in ["", "AAAA", "not base64", "\u{fc}"] {
            value["a"][SEALED]["data"] = text.into();
            assert!(sealer(1).unseal(&value).is_err());
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
            sealer.seal(&mut sealed, &all);
            assert_eq!(sealer.unseal(&sealed), Ok(plain), "seed {seed}");
        }
    }
}
