//! What is recorded of a resource beside its desired attributes: the state of the provider.

use crate::schema::Schema;
use bytes::Bytes;
use data_encoding::BASE64;
use kusion_cty::{Value, json};
use kusion_model::RuntimeData;
use serde_json::{Value as Json, json};

/// The state of a resource, as it is recorded. All of it is secret: providers put what they like
/// into their private data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recorded {
    /// The version of the schema.
    pub(crate) version: i64,
    /// The state, as JSON.
    pub(crate) state: String,
    /// Data of the provider.
    pub(crate) private: Bytes,
    /// Whether the creation failed halfway, so that the object must be replaced.
    pub(crate) is_tainted: bool,
}

impl Recorded {
    /// Creates the record of a state.
    pub(crate) fn new(
        schema: &Schema,
        state: &Value,
        private: Bytes,
        is_tainted: bool,
    ) -> Result<Self, kusion_cty::ValueError> {
        let state = json::encode(state, &schema.ty)?;
        Ok(Self { version: schema.version, state, private, is_tainted })
    }

    /// Returns the form in which it is stored.
    pub(crate) fn to_data(&self) -> RuntimeData {
        let mut value = json!({"state": self.state, "private": BASE64.encode(&self.private)});
        if self.is_tainted {
            value["isTainted"] = true.into();
        }
        let schema_version = u64::try_from(self.version).unwrap_or_default();
        RuntimeData { schema_version, value, is_secret: true }
    }

    /// Reads the stored form; `None` if it is not one.
    pub(crate) fn from_data(data: &RuntimeData) -> Option<Self> {
        let text = |key: &str| data.value.get(key).and_then(Json::as_str);
        Some(Self {
            version: i64::try_from(data.schema_version).ok()?,
            state: text("state")?.to_owned(),
            private: BASE64.decode(text("private")?.as_bytes()).ok()?.into(),
            is_tainted: data.value.get("isTainted").and_then(Json::as_bool).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_returns_from_its_record() {
        let recorded = Recorded {
            version: 3,
            state: r#"{"n":123456789012345678901234567890}"#.to_owned(),
            private: Bytes::from_static(&[0, 1, 0xff]),
            is_tainted: true,
        };
        let data = recorded.to_data();
        assert!(data.is_secret);
        assert_eq!(Recorded::from_data(&data), Some(recorded));
        let other = RuntimeData { value: json!("other"), ..data };
        assert_eq!(Recorded::from_data(&other), None);
    }
}
