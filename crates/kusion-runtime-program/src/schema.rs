//! What a program says about its types of resources.

use base_text::nearest;
use kusion_model::{FieldPath, Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The schema of one type of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeSchema {
    /// Its attributes, by name.
    pub attributes: BTreeMap<String, AttributeSchema>,
}

/// The schema of one attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttributeSchema {
    /// Whether it must be set.
    #[serde(default)]
    pub required: bool,
    /// Whether only the infrastructure sets it.
    #[serde(default)]
    pub computed: bool,
    /// Whether a change of it replaces the object.
    #[serde(default)]
    pub immutable: bool,
    /// Whether its value is secret.
    #[serde(default)]
    pub secret: bool,
}

impl TypeSchema {
    /// Returns the problems of desired attributes.
    pub fn problems(&self, attributes: &Value) -> Vec<Problem> {
        let root = FieldPath::default();
        let Some(fields) = attributes.as_object() else {
            return vec![Problem::new(root, "attributes must be a map")];
        };
        let mut problems = Vec::new();
        for name in fields.keys() {
            match self.attributes.get(name) {
                None => {
                    let names = self.attributes.keys().map(String::as_str);
                    let suggestion = nearest(name, names).map(str::to_owned);
                    let problem =
                        Problem::new(root.key(name), format!("unknown attribute `{name}`"));
                    problems.push(Problem { suggestion, ..problem });
                }
                Some(it) if it.computed => {
                    let message = format!("`{name}` is set by the runtime; remove it");
                    problems.push(Problem::new(root.key(name), message));
                }
                Some(_) => {}
            }
        }
        for (name, schema) in &self.attributes {
            if schema.required && fields.get(name).is_none_or(Value::is_null) {
                problems.push(Problem::new(root.key(name), format!("`{name}` is required")));
            }
        }
        problems
    }

    /// Returns the immutable attributes that differ.
    pub(crate) fn immutable(&self, desired: &Map<String, Value>, live: &Value) -> Vec<FieldPath> {
        let differs =
            |name: &String| desired.get(name).is_some_and(|it| Some(it) != live.get(name));
        let names = self.attributes.iter().filter(|(name, it)| it.immutable && differs(name));
        names.map(|(name, _)| FieldPath::default().key(name)).collect()
    }

    /// Returns the secret attributes.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &String> {
        self.attributes.iter().filter(|(_, it)| it.secret).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attributes_are_checked() {
        let schema: TypeSchema = serde_json::from_value(json!({"attributes": {
            "zone": {"required": true, "immutable": true}, "ttl": {}, "serial": {"computed": true},
        }}))
        .expect("a schema");
        let texts = |value: Value| {
            let found = schema.problems(&value).into_iter();
            found.map(|it| it.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(texts(json!({"zone": "a", "ttl": 5})), [""; 0]);
        let expected = [
            "`serial` is set by the runtime; remove it",
            "unknown attribute `tll` (did you mean `ttl`?)",
            "`zone` is required",
        ];
        assert_eq!(texts(json!({"serial": 1, "tll": 5})), expected);
        assert_eq!(texts(json!([])), ["attributes must be a map"]);
        let desired = json!({"zone": "b", "ttl": 1});
        let changed = schema.immutable(desired.as_object().expect("a map"), &json!({"zone": "a"}));
        assert_eq!(changed, [FieldPath::default().key("zone")]);
    }
}
