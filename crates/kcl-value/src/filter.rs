//! Which entries and items are written, and in which order.

use crate::{Dict, Entry, Origin, SchemaValue, Value};

/// What of a value is written, and in which order. Keeps all by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Write keys in alphabetical order.
    pub sort_keys: bool,
    /// Leave out keys that start with `_`.
    pub hide_private: bool,
    /// Leave out `None`.
    pub hide_none: bool,
    /// Add `_type` with the schema's name to schema instances.
    pub type_path: bool,
}

/// The key of the schema's name in the output.
pub const TYPE_KEY: &str = "_type";

impl Filter {
    /// Whether a value is written.
    pub fn keeps_value(self, value: &Value) -> bool {
        match value {
            Value::Undefined | Value::Func(_) => false,
            Value::None => !self.hide_none,
            _ => true,
        }
    }

    /// Whether an entry is written.
    pub(crate) fn keeps(self, entry: &Entry) -> bool {
        self.keeps_value(&entry.value)
            && !(self.hide_private && entry.key.as_bytes().first() == Some(&b'_'))
    }

    /// Calls `each` with the pairs to write, in order, and what set each of them.
    pub fn pairs<'v>(
        self,
        dict: &'v Dict,
        type_name: Option<&'v Value>,
        mut each: impl FnMut(&'v str, &'v Value, Origin),
    ) {
        if self.sort_keys {
            let mut pairs: Vec<(&str, &Value, Origin)> = dict
                .iter()
                .filter(|entry| self.keeps(entry))
                .map(|entry| (entry.key.as_str(), &entry.value, entry.origin))
                .collect();
            if let Some(name) = type_name {
                pairs.retain(|(key, ..)| *key != TYPE_KEY);
                pairs.push((TYPE_KEY, name, Origin::default()));
            }
            pairs.sort_unstable_by_key(|(key, ..)| *key);
            for (key, value, origin) in pairs {
                each(key, value, origin);
            }
            return;
        }
        let mut type_name = type_name;
        for entry in dict {
            if self.keeps(entry) {
                match type_name.take_if(|_| entry.key.as_str() == TYPE_KEY) {
                    Some(name) => each(TYPE_KEY, name, Origin::default()),
                    None => each(&entry.key, &entry.value, entry.origin),
                }
            }
        }
        if let Some(name) = type_name {
            each(TYPE_KEY, name, Origin::default());
        }
    }

    /// The filter that leaves out what either of two leaves out. Names of schemas are those of
    /// the second one.
    #[must_use]
    pub fn then(self, second: Self) -> Self {
        Self {
            sort_keys: self.sort_keys || second.sort_keys,
            hide_private: self.hide_private || second.hide_private,
            hide_none: self.hide_none || second.hide_none,
            type_path: second.type_path,
        }
    }

    /// The value of `_type` for a schema instance, if asked for.
    pub fn type_name(self, schema: &SchemaValue) -> Option<Value> {
        self.type_path.then(|| Value::str(schema.info.full_name()))
    }
}
