//! A shared, copy-on-write tree of values.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The attributes of a resource or a live object. Cheap to clone: clones share one tree, which is
/// copied on the first write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attributes(Arc<Value>);

impl Attributes {
    /// Returns the tree; copies it only if it is shared.
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.0)
    }
}

impl From<Value> for Attributes {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl Deref for Attributes {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl DerefMut for Attributes {
    fn deref_mut(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq<Value> for Attributes {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_of_a_shared_tree_leaves_the_others_alone() {
        let first = Attributes::from(json!({"a": 1}));
        let mut second = first.clone();
        assert!(Arc::ptr_eq(&first.0, &second.0));
        second["a"] = json!(2);
        assert_eq!((&first["a"], &second["a"]), (&json!(1), &json!(2)));
        assert_eq!(serde_json::to_value(&second).expect("a value"), json!({"a": 2}));
    }
}
