//! Sealed values in output.

use kusion_model::markers::{secret_hash, shown_secret};
use serde_json::Value;

/// Replaces sealed values and hashes of secrets.
pub fn hide(value: &mut Value, instead: &dyn Fn(&Value) -> Value) {
    if let Some(hash) = secret_hash(value) {
        *value = instead(hash);
        return;
    }
    match value {
        Value::Object(map) => map.values_mut().for_each(|inner| hide(inner, instead)),
        Value::Array(items) => items.iter_mut().for_each(|inner| hide(inner, instead)),
        _ => {}
    }
}

/// Replaces sealed values by their hashes.
pub fn hash_only(value: &mut Value) {
    hide(value, &|hash| shown_secret(hash.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sealed_values_become_hashes() {
        let mut value = json!({"a": [{"$sealed": {"hash": "h", "data": "bytes"}}]});
        hash_only(&mut value);
        assert_eq!(value, json!({"a": [{"$secret": "h"}]}));
    }
}
