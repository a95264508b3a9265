//! Objects as the server writes them, read with little memory.
//!
//! The records of field managers make up most of an object; only ours is needed, to compare. It
//! is kept as text, the others' by their names.

use crate::delete::waits_for;
use crate::discovery::Served;
use crate::key::ObjectKey;
use crate::owner;
use kusion_runtime::Live;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// One record of a field manager, as the server writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManagerEntry<'a> {
    #[serde(default)]
    pub(crate) manager: String,
    #[serde(default)]
    pub(crate) operation: String,
    #[serde(default)]
    pub(crate) api_version: String,
    #[serde(default)]
    pub(crate) subresource: String,
    #[serde(borrow, default, rename = "fieldsV1")]
    pub(crate) fields: Option<&'a RawValue>,
}

impl ManagerEntry<'_> {
    fn is_of(&self, manager: &str) -> bool {
        self.manager == manager && self.operation == "Apply" && self.subresource.is_empty()
    }

    fn into_value(self, own_manager: &str) -> Value {
        let ours = self.is_of(own_manager);
        let mut map = Map::new();
        map.insert("manager".to_owned(), self.manager.into());
        map.insert("operation".to_owned(), self.operation.into());
        if ours {
            map.insert("apiVersion".to_owned(), self.api_version.into());
            let text = self.fields.map_or("{}", RawValue::get);
            map.insert("fieldsV1".to_owned(), text.into());
        } else if !self.subresource.is_empty() {
            map.insert("subresource".to_owned(), self.subresource.into());
        }
        Value::Object(map)
    }
}

/// Reads one object, with the record of a manager.
pub(crate) fn decode(text: &[u8], served: &Served, manager: &str) -> Result<Live, String> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let mut value = ObjectSeed { in_metadata: false, manager }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| error.to_string())?;
    let Value::Object(object) = &mut value else { return Err("no object".to_owned()) };
    // Items of lists have no kind and apiVersion.
    object.insert("apiVersion".to_owned(), served.api_version.as_str().into());
    object.insert("kind".to_owned(), served.kind.as_str().into());
    let key = ObjectKey::of_object(&value).ok_or("an object without a name")?;
    let uid = uid_of(&value);
    let owner = owner::of_object(&value);
    let is_terminating = value.pointer("/metadata/deletionTimestamp").is_some();
    let terminating = is_terminating.then(|| waits_for(&value));
    Ok(Live { owner, terminating, ..Live::new(key.identity(uid), value) })
}

/// Reads the version of a live object.
pub(crate) fn version_of(live: &Live) -> Option<String> {
    let version = live.attributes.pointer("/metadata/resourceVersion").and_then(Value::as_str);
    version.map(str::to_owned)
}

/// Reads the uid of an object.
pub(crate) fn uid_of(object: &Value) -> Option<String> {
    object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned)
}

/// The name of an object in a list.
#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) metadata: Name,
}

/// The identity of an object among those of its kind.
#[derive(Deserialize)]
pub(crate) struct Name {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) namespace: String,
}

/// A list, with its items unread.
#[derive(Deserialize)]
pub(crate) struct RawList<'a> {
    #[serde(default)]
    pub(crate) metadata: ListMetadata,
    #[serde(borrow, default)]
    pub(crate) items: Option<Vec<&'a RawValue>>,
}

/// Metadata of a list.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ListMetadata {
    pub(crate) resource_version: String,
    #[serde(rename = "continue")]
    pub(crate) next: String,
    pub(crate) remaining_item_count: u64,
}

/// Reads an object, or its metadata.
struct ObjectSeed<'m> {
    in_metadata: bool,
    /// The manager whose record is kept.
    manager: &'m str,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = match key.as_str() {
                "metadata" if !self.in_metadata => {
                    access.next_value_seed(ObjectSeed { in_metadata: true, ..self })?
                }
                "managedFields" if self.in_metadata => {
                    let entries: Option<Vec<ManagerEntry<'de>>> = access.next_value()?;
                    let entries = entries.unwrap_or_default().into_iter();
                    entries.map(|it| it.into_value(self.manager)).collect()
                }
                "selfLink" if self.in_metadata => {
                    access.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => access.next_value()?,
            };
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// Returns the record of a manager: the version in which it was applied, and the fields as text.
pub(crate) fn record_of<'o>(object: &'o Value, manager: &str) -> Option<(&'o str, &'o str)> {
    let entries = object.get("metadata")?.get("managedFields")?.as_array()?;
    entries.iter().find_map(|entry| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let ours = text("manager") == Some(manager)
            && text("operation") == Some("Apply")
            && text("subresource").is_none_or(str::is_empty);
        if ours { text("apiVersion").zip(text("fieldsV1")) } else { None }
    })
}
