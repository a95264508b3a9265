//! The items of sets and keyed lists by the path elements that name them.

use std::borrow::Cow;

use kusion_k8s_schema::{ListKind, Type};
use serde_json::Value;

use super::Typed;
use super::shape::ListShape;
use crate::path::{KeyPart, PathElement, Single};

impl<'t> Typed<'t> {
    /// Returns the path element that names an item of a set or keyed list.
    pub(crate) fn name_item<'v>(
        self,
        list: ListShape<'t>,
        item: &'v Value,
    ) -> Result<PathElement<'v>, String>
    where
        't: 'v,
    {
        match list.kind {
            ListKind::Map(keys) => self.name_by_keys(list, keys, item),
            ListKind::Set => name_by_value(item),
            ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    fn name_by_keys<'v>(
        self,
        list: ListShape<'t>,
        keys: &'t [Box<str>],
        item: &'v Value,
    ) -> Result<PathElement<'v>, String>
    where
        't: 'v,
    {
        let map = match item {
            Value::Object(map) => map,
            Value::Null => {
                return Err("associative list with keys may not have a null element".to_owned());
            }
            _ => {
                return Err("associative list with keys may not have non-map elements".to_owned());
            }
        };
        let mut parts: Vec<KeyPart<'v>> = Vec::with_capacity(keys.len());
        for key in keys {
            let value = match map.get(&**key) {
                Some(value) => Some(value),
                None => self.default_of(list, key),
            };
            parts.extend(value.map(|value| (Cow::Borrowed(&**key), Single::of(value))));
        }
        if parts.is_empty() && !keys.is_empty() {
            let quoted: Vec<String> =
                keys.iter().map(|key| kusion_k8s_schema::quoted(key)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and \
                 doesn't have default values for any key fields)",
                quoted.join(" ")
            ));
        }
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(PathElement::Key(parts.into()))
    }

    fn default_of(self, list: ListShape<'t>, key: &str) -> Option<&'t Value> {
        match self.table.get(list.element) {
            Type::Struct(named) => named.field(key)?.default.as_ref(),
            _ => None,
        }
    }
}

fn name_by_value(item: &Value) -> Result<PathElement<'_>, String> {
    match item {
        Value::Object(_) => {
            Err("associative list without keys has an element that's a map type".to_owned())
        }
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => {
            Err("associative list without keys has an element that's an explicit null".to_owned())
        }
        _ => Ok(PathElement::Item(Single::of(item))),
    }
}

/// The places of items by name, for lists of any length.
pub(crate) struct ItemIndex {
    sorted: Vec<u32>,
}

impl ItemIndex {
    /// Sorts the items of a list by name.
    pub(crate) fn new(names: &[PathElement<'_>]) -> Self {
        let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
        sorted.sort_by(|a, b| names[*a as usize].cmp(&names[*b as usize]));
        Self { sorted }
    }

    /// Returns the places of the items with a name, lowest first.
    pub(crate) fn places(&self, names: &[PathElement<'_>], wanted: &PathElement<'_>) -> &[u32] {
        let start = self.sorted.partition_point(|at| names[*at as usize] < *wanted);
        let rest = &self.sorted[start..];
        let len = rest.iter().take_while(|at| names[**at as usize] == *wanted).count();
        &rest[..len]
    }

    /// Returns the places in the order of the names.
    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }
}
