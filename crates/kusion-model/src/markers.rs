//! Reserved keys and prefixes in values.

use serde_json::{Value, json};

/// Prefix of a reference to a value of another resource: `$kusion_path.<id>.<path>`.
pub const REFERENCE: &str = "$kusion_path";

/// The only key of a map that stands for a sealed secret: `{"$sealed": {"hash": …, "data": …}}`.
pub const SEALED: &str = "$sealed";

/// The only key of a map that stands for a secret where it is shown: `{"$secret": "<hash>"}`.
pub const SECRET: &str = "$secret";

/// The only key of a map that stands for a value that is known only after apply:
/// `{"$unknown": true}`.
pub const UNKNOWN: &str = "$unknown";

/// Returns the value that stands for one that is known only after apply.
pub fn unknown() -> Value {
    json!({UNKNOWN: true})
}

/// Returns whether a value stands for one that is known only after apply.
pub fn is_unknown(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1 && map.contains_key(UNKNOWN))
}

/// Returns the value that is shown instead of a secret.
pub fn shown_secret(hash: impl Into<Value>) -> Value {
    json!({SECRET: hash.into()})
}

/// Returns the hash of a sealed or shown secret; `null` for one that is sealed without a hash.
pub fn secret_hash(value: &Value) -> Option<&Value> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    let sealed = map.get(SEALED).map(|sealed| sealed.get("hash").unwrap_or(&Value::Null));
    sealed.or_else(|| map.get(SECRET))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_have_a_hash_in_both_forms() {
        assert_eq!(secret_hash(&shown_secret("h")), Some(&json!("h")));
        assert_eq!(secret_hash(&json!({SEALED: {"hash": "h", "data": "d"}})), Some(&json!("h")));
        assert_eq!(secret_hash(&json!({SEALED: {}})), Some(&Value::Null));
        assert_eq!(secret_hash(&json!({SECRET: "h", "other": 1})), None);
        assert_eq!(secret_hash(&json!("$secret")), None);
    }
}
