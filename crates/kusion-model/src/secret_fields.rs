//! Fields of a resource that are marked as secret.

use crate::{FieldPath, FieldPattern, Resource};
use serde_json::Value;

/// The extension that lists secret fields: patterns of paths.
pub const SECRET_FIELDS: &str = "kusion.io/secret-fields";

/// Parses the value of a mark: a list of patterns, or one text with commas between them.
///
/// # Errors
/// A pattern is invalid; the text of the pattern and the problem.
pub fn parse_secret_fields(mark: &Value) -> Result<Vec<FieldPattern>, String> {
    let texts: Vec<&str> = match mark {
        Value::String(text) => text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect(),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            texts.ok_or_else(|| "expected a list of strings".to_owned())?
        }
        _ => return Err("expected a list of strings".to_owned()),
    };
    let parsed = texts
        .into_iter()
        .map(|text| text.parse().map_err(|error| format!("invalid pattern `{text}`: {error}")));
    parsed.collect()
}

impl Resource {
    /// Returns the patterns of fields that are marked as secret. Invalid marks are rejected when a
    /// Spec is made.
    pub fn secret_patterns(&self) -> Vec<FieldPattern> {
        let mark = self.extensions.get(SECRET_FIELDS);
        mark.and_then(|it| parse_secret_fields(it).ok()).unwrap_or_default()
    }

    /// Marks the field at a path as secret.
    pub fn mark_secret(&mut self, path: &FieldPath) {
        let mut texts: Vec<String> =
            self.secret_patterns().iter().map(ToString::to_string).collect();
        let text = FieldPattern::from(path).to_string();
        if !texts.contains(&text) {
            texts.push(text);
            texts.sort_unstable();
            self.extensions.insert(SECRET_FIELDS.to_owned(), texts.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ResourceId, ResourceType};
    use serde_json::json;

    #[test]
    fn marks_are_read_and_added() {
        let mut resource = Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new("Test"),
            attributes: json!({}).into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        resource.extensions.insert(SECRET_FIELDS.to_owned(), json!("b, c[*].d"));
        resource.mark_secret(&FieldPath::default().key("a").index(0));
        resource.mark_secret(&FieldPath::default().key("a").index(0));
        assert_eq!(resource.extensions[SECRET_FIELDS], json!(["a[0]", "b", "c[*].d"]));
        assert_eq!(resource.secret_patterns().len(), 3);
        assert!(parse_secret_fields(&json!("a..b")).is_err());
        assert!(parse_secret_fields(&json!([1])).is_err());
    }
}
