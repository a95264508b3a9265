//! Which entries and items are written, and in which order.

use crate::{Dict, Entry, SchemaValue, Value};

/// What the writers leave out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filter {
    /// Write keys in alphabetical order.
    pub(crate) sort_keys: bool,
    /// Leave out keys that start with `_`.
    pub(crate) hide_private: bool,
    /// Leave out `None`.
    pub(crate) hide_none: bool,
    /// Add `_type` with the schema's name to schema instances.
    pub(crate) type_path: bool,
}

/// The key of the schema's name in the output.
pub(crate) const TYPE_KEY: &str = "_type";

impl Filter {
    /// Whether a value is written.
    pub(crate) fn keeps_value(self, value: &Value) -> bool {
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

    /// Calls `each` with the pairs to write, in order.
    pub(crate) fn pairs<'v>(
        self,
        dict: &'v Dict,
        type_name: Option<&'v Value>,
        mut each: impl FnMut(&'v str, &'v Value),
    ) {
        if self.sort_keys {
            let mut pairs: Vec<(&str, &Value)> = dict
                .iter()
                .filter(|entry| self.keeps(entry))
                .map(|entry| (entry.key.as_str(), &entry.value))
                .collect();
            if let Some(name) = type_name {
                pairs.retain(|(key, _)| *key != TYPE_KEY);
                pairs.push((TYPE_KEY, name));
            }
            pairs.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in pairs {
                each(key, value);
            }
            return;
        }
        let mut type_name = type_name;
        for entry in dict {
            if self.keeps(entry) {
                match type_name.take_if(|_| entry.key.as_str() == TYPE_KEY) {
                    Some(name) => each(TYPE_KEY, name),
                    None => each(&entry.key, &entry.value),
                }
            }
        }
        if let Some(name) = type_name {
            each(TYPE_KEY, name);
        }
    }

    /// The value of `_type` for a schema instance, if asked for.
    pub(crate) fn type_name(self, schema: &SchemaValue) -> Option<Value> {
        self.type_path.then(|| Value::str(schema.info.full_name()))
    }
}
