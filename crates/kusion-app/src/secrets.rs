//! Sealed values in what programs and people see.

use serde_json::{Value, json};

/// Puts something else in the place of sealed values and hashes of secrets.
pub fn hide(value: &mut Value, instead: &dyn Fn(&Value) -> Value) {
    match value {
        Value::Object(map) => {
            let sealed = map.get("$sealed").map(|it| it.get("hash").unwrap_or(&Value::Null));
            if let Some(hash) = sealed.or(map.get("$secret")).filter(|_| map.len() == 1) {
                *value = instead(hash);
                return;
            }
            map.values_mut().for_each(|inner| hide(inner, instead));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| hide(inner, instead)),
        _ => {}
    }
}

/// Puts hashes in the place of sealed values.
pub fn hash_only(value: &mut Value) {
    hide(value, &|hash| json!({"$secret": hash}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_values_become_hashes() {
        let mut value = json!({"a": [{"$sealed": {"hash": "h", "data": "bytes"}}]});
        hash_only(&mut value);
        assert_eq!(value, json!({"a": [{"$secret": "h"}]}));
    }
}
