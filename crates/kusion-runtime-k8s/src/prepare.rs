//! Conversion of desired attributes to the body of a request.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns the body to apply for desired attributes.
///
/// The server turns `stringData` of a Secret into `data` and forgets who owns it: a key that is
/// removed later would never be deleted. So the conversion is done here.
pub(crate) fn prepare(attributes: &Value) -> Cow<'_, Value> {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str);
    let has_plain = text("kind") == Some("Secret")
        && text("apiVersion") == Some("v1")
        && attributes.get("stringData").is_some();
    let has_null_time =
        matches!(attributes.pointer("/metadata/creationTimestamp"), Some(Value::Null));
    if !has_plain && !has_null_time {
        return Cow::Borrowed(attributes);
    }
    let mut out = attributes.clone();
    if has_null_time && let Some(Value::Object(metadata)) = out.get_mut("metadata") {
        metadata.remove("creationTimestamp");
    }
    if has_plain && let Value::Object(object) = &mut out {
        encode_plain(object);
    }
    Cow::Owned(out)
}

fn encode_plain(object: &mut Map<String, Value>) {
    let all_text = match object.get("stringData") {
        Some(Value::Object(plain)) => plain.values().all(Value::is_string),
        Some(Value::Null) => true,
        _ => false,
    };
    let data_fits = matches!(object.get("data"), None | Some(Value::Null | Value::Object(_)));
    // The server rejects anything else.
    if !all_text || !data_fits {
        return;
    }
    let Some(Value::Object(plain)) = object.remove("stringData") else { return };
    let mut data = match object.remove("data") {
        Some(Value::Object(data)) => data,
        _ => Map::new(),
    };
    for (key, value) in plain {
        let bytes = value.as_str().unwrap_or_default().as_bytes();
        data.insert(key, data_encoding::BASE64.encode(bytes).into());
    }
    object.insert("data".to_owned(), Value::Object(data));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_secrets_are_encoded_and_win() {
        let wanted = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
            "data": {"a": "eA==", "b": "eQ=="}, "stringData": {"b": "z"}});
        assert_eq!(
            *prepare(&wanted),
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
                "data": {"a": "eA==", "b": "eg=="}})
        );
    }

    #[test]
    fn other_kinds_stay_as_they_are() {
        let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "stringData": {"b": "z"}});
        assert!(matches!(prepare(&wanted), Cow::Borrowed(_)));
    }
}
