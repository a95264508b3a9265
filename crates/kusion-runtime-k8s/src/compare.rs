//! Offline comparison: whether applying would change anything.
//!
//! The record of our fields shows how the server split the last applied object: which lists have
//! keys, and which values are atomic. So no types are needed, and custom kinds are compared like
//! built-in ones. Values that are not certainly equal count as different.

use crate::describe::is_shared;
use crate::immutable;
use crate::object::record_of;
use crate::owner::OwnMark;
use crate::prepare::prepare;
use kusion_k8s_schema::OWNER;
use kusion_model::Resource;
use kusion_runtime::{Comparison, Live};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The annotation of the owner, in the record of a manager.
const OWNER_FIELD: &str = "f:kusion.io/owner";
/// Items of a list that are looked for one by one at most.
const MAX_SCAN: usize = 2_000;

/// Compares a desired with a live object, which has the mark of its stack unless it is shared.
pub(crate) fn compare(resource: &Resource, live: &Live, own: &OwnMark) -> Comparison {
    let desired = prepare(&resource.attributes);
    let fields = immutable::changed(&desired, &live.attributes);
    if !fields.is_empty() {
        return Comparison::Immutable(fields);
    }
    let mark = if is_shared(resource) { None } else { Some(own.text.as_str()) };
    match is_same(&desired, &live.attributes, &own.manager, mark) {
        true => Comparison::Same,
        false if mark.is_some() && live.owner.is_none() => Comparison::Unmarked,
        false => Comparison::Differs,
    }
}

fn is_same(desired: &Value, live: &Value, manager: &str, mark: Option<&str>) -> bool {
    if live.pointer("/metadata/deletionTimestamp").is_some() {
        return false;
    }
    // A manager without fields has no record.
    let wanted_version = desired.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (api_version, fields) = record_of(live, manager).unwrap_or((wanted_version, "{}"));
    if desired.get("apiVersion").and_then(Value::as_str) != Some(api_version) {
        return false;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(fields) else { return false };
    let (Value::Object(desired), Value::Object(live)) = (desired, live) else { return false };
    let empty = Map::new();
    let (Some(metadata), Some(live_metadata)) = (desired.get("metadata"), live.get("metadata"))
    else {
        return false;
    };
    let (Value::Object(metadata), Value::Object(live_metadata)) = (metadata, live_metadata) else {
        return false;
    };
    let owned = fields.get("f:metadata").and_then(Value::as_object).unwrap_or(&empty);
    let named = |key: &str| matches!(key, "name" | "namespace" | "annotations");
    let typed = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
    let mut walk = Walk { name: String::new() };
    let rest = fields.keys().filter(|key| *key != "f:metadata").count();
    let has_annotations = usize::from(owned.contains_key("f:annotations"));
    walk.fields(metadata, live_metadata, owned, named) == Some(count(owned) - has_annotations)
        && walk.annotations(metadata, live_metadata, owned, mark)
        && walk.fields(desired, live, &fields, typed) == Some(rest)
}

/// Counts the fields and items of a record, without the mark of the object itself.
fn count(owned: &Map<String, Value>) -> usize {
    owned.keys().filter(|key| *key != ".").count()
}

struct Walk {
    /// Room for the names of fields.
    name: String,
}

impl Walk {
    /// Compares fields; returns how many of them the record has, none if one differs.
    fn fields(
        &mut self,
        desired: &Map<String, Value>,
        live: &Map<String, Value>,
        owned: &Map<String, Value>,
        skipped: impl Fn(&str) -> bool,
    ) -> Option<usize> {
        let mut n_fields = 0;
        for (key, value) in desired {
            if skipped(key) {
                continue;
            }
            self.name.clear();
            self.name.push_str("f:");
            self.name.push_str(key);
            let below = owned.get(self.name.as_str())?;
            if !self.value(value, live.get(key)?, below) {
                return None;
            }
            n_fields += 1;
        }
        Some(n_fields)
    }

    /// Compares the annotations, which include the mark of the owner.
    fn annotations(
        &mut self,
        desired: &Map<String, Value>,
        live: &Map<String, Value>,
        owned: &Map<String, Value>,
        mark: Option<&str>,
    ) -> bool {
        let empty = Map::new();
        let desired = match desired.get("annotations") {
            Some(Value::Object(map)) => map,
            Some(Value::Null) | None => &empty,
            Some(_) => return false,
        };
        let live = live.get("annotations").and_then(Value::as_object).unwrap_or(&empty);
        let owned = owned.get("f:annotations").and_then(Value::as_object).unwrap_or(&empty);
        let is_marked = mark.is_none_or(|mark| {
            live.get(OWNER).is_some_and(|it| it == mark) && owned.contains_key(OWNER_FIELD)
        });
        let expected = count(owned) - usize::from(mark.is_some() && is_marked);
        let skipped = |key: &str| mark.is_some() && key == OWNER;
        is_marked && self.fields(desired, live, owned, skipped) == Some(expected)
    }

    fn value(&mut self, desired: &Value, live: &Value, owned: &Value) -> bool {
        let Value::Object(owned) = owned else { return false };
        let n_owned = count(owned);
        if n_owned == 0 {
            return !desired.is_null() && desired == live;
        }
        match (desired, live) {
            (Value::Object(desired), Value::Object(live)) => {
                self.fields(desired, live, owned, |_| false) == Some(n_owned)
            }
            (Value::Array(desired), Value::Array(live)) => {
                desired.len() == n_owned && self.items(desired, live, owned)
            }
            _ => false,
        }
    }

    /// Compares lists whose items have names; our items must have the live order.
    fn items(&mut self, desired: &[Value], live: &[Value], owned: &Map<String, Value>) -> bool {
        let Some(named) = NamedItems::of(owned) else { return false };
        let mut live = live.iter();
        desired.iter().all(|item| {
            let Some((name, below)) = named.find(item) else { return false };
            let Some(found) = live.find(|candidate| name.fits(candidate)) else { return false };
            match (name, item, found) {
                (ItemName::Value(_), _, _) => true,
                (ItemName::Keys(_), Value::Object(item), Value::Object(found)) => {
                    let Value::Object(below) = below else { return false };
                    self.fields(item, found, below, |_| false) == Some(count(below))
                }
                _ => false,
            }
        })
    }
}

/// The identity of an item in its list.
enum ItemName {
    /// The values of some of its fields.
    Keys(Map<String, Value>),
    /// Itself.
    Value(Value),
}

impl ItemName {
    fn fits(&self, item: &Value) -> bool {
        match self {
            Self::Keys(keys) => keys.iter().all(|(key, value)| item.get(key) == Some(value)),
            Self::Value(value) => value == item,
        }
    }
}

/// The items that a record names.
struct NamedItems<'a> {
    names: Vec<(ItemName, &'a Value)>,
    by_text: HashMap<String, usize>,
}

impl<'a> NamedItems<'a> {
    fn of(owned: &'a Map<String, Value>) -> Option<Self> {
        let mut named = Self { names: Vec::new(), by_text: HashMap::new() };
        for (key, below) in owned.iter().filter(|(key, _)| *key != ".") {
            let (start, text) = key.split_at_checked(2)?;
            let value: Value = serde_json::from_str(text).ok()?;
            named.by_text.insert(value.to_string(), named.names.len());
            let name = match (start, value) {
                ("k:", Value::Object(keys)) => ItemName::Keys(keys),
                ("v:", value) => ItemName::Value(value),
                _ => return None,
            };
            named.names.push((name, below));
        }
        Some(named)
    }

    /// Finds the one name of an item that we want.
    ///
    /// A key that the item leaves out got its default from the server; then the record does not
    /// list that key among the fields that we set.
    fn find(&self, item: &Value) -> Option<(&ItemName, &'a Value)> {
        let text = match self.names.first() {
            Some((ItemName::Keys(keys), _)) => {
                let keys: Map<String, Value> = keys
                    .keys()
                    .filter_map(|key| item.get(key).map(|value| (key.clone(), value.clone())))
                    .collect();
                Value::Object(keys).to_string()
            }
            _ => item.to_string(),
        };
        if let Some(at) = self.by_text.get(&text) {
            return self.names.get(*at).map(|(name, below)| (name, *below));
        }
        if self.names.len() > MAX_SCAN {
            return None;
        }
        let mut fitting = self.names.iter().filter(|(name, below)| match name {
            ItemName::Keys(keys) => keys.iter().all(|(key, value)| match item.get(key) {
                Some(own) => own == value,
                None => below.get(format!("f:{key}")).is_none(),
            }),
            ItemName::Value(_) => false,
        });
        let first = fitting.next()?;
        fitting.next().is_none().then_some((&first.0, first.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::of_object;
    use kusion_model::{Identity, Place, ResourceId, ResourceType, StackKey, StackOwner};
    use serde_json::json;

    fn own() -> OwnMark {
        OwnMark::new(&StackOwner::new(StackKey::new("shop", "dev", Place::Main), "s1"))
    }

    fn resource(attributes: &Value) -> Resource {
        Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new("Kubernetes"),
            attributes: attributes.clone().into(),
            depends_on: Vec::new(),
            extensions: Map::new(),
        }
    }

    fn with_record(live: &Value, fields: &Value) -> Live {
        let mut live = live.clone();
        live["metadata"]["managedFields"] = json!([{
            "manager": "kusion/shop/dev", "operation": "Apply", "apiVersion": "v1",
            "fieldsV1": fields.to_string(),
        }]);
        Live { owner: of_object(&live), ..Live::new(Identity::new("", None), live) }
    }

    /// Compares with a live object that has the mark of the stack.
    fn compared(desired: &Value, live: &Value, fields: &Value) -> Comparison {
        let (mut live, mut fields) = (live.clone(), fields.clone());
        live["metadata"]["annotations"] = json!({OWNER: "shop/dev/%/main@s1", "other": "x"});
        fields["f:metadata"]["f:annotations"] = json!({".": {}, OWNER_FIELD: {}});
        compare(&resource(desired), &with_record(&live, &fields), &own())
    }

    fn object(spec: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn fields_of_others_do_not_matter() {
        let fields = json!({"f:spec": {"f:a": {}}});
        let live = object(&json!({"a": 1, "b": 2}));
        assert_eq!(compared(&object(&json!({"a": 1})), &live, &fields), Comparison::Same);
        assert_eq!(compared(&object(&json!({"a": 2})), &live, &fields), Comparison::Differs);
    }

    #[test]
    fn ownership_must_be_exact() {
        let live = object(&json!({"a": 1, "b": 2}));
        let more = json!({"f:spec": {"f:a": {}, "f:b": {}}});
        assert_eq!(compared(&object(&json!({"a": 1})), &live, &more), Comparison::Differs);
        let less = json!({"f:spec": {"f:b": {}}});
        let both = object(&json!({"a": 1, "b": 2}));
        assert_eq!(compared(&both, &live, &less), Comparison::Differs);
        let labels = json!({"f:metadata": {"f:labels": {"f:x": {}}}, "f:spec": {"f:a": {}}});
        assert_eq!(compared(&object(&json!({"a": 1})), &live, &labels), Comparison::Differs);
    }

    #[test]
    fn a_shared_resource_without_fields_owns_nothing() {
        let account = |metadata: Value| json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
        let compared = |object: &Value, is_shared: bool| {
            let live = Live::new(Identity::new("", None), object.clone());
            let mut desired = resource(object);
            desired.extensions.insert("kusion.io/shared".to_owned(), is_shared.into());
            compare(&desired, &live, &own())
        };
        let bare = account(json!({"name": "a"}));
        assert_eq!(compared(&bare, true), Comparison::Same);
        assert_eq!(compared(&bare, false), Comparison::Unmarked);
        let labelled = account(json!({"name": "a", "labels": {"x": "y"}}));
        assert_eq!(compared(&labelled, true), Comparison::Differs, "the label is not ours");
    }

    #[test]
    fn the_mark_of_the_owner_must_be_ours() {
        let desired = object(&json!({"a": 1}));
        let fields = json!({"f:spec": {"f:a": {}},
            "f:metadata": {"f:annotations": {".": {}, OWNER_FIELD: {}}}});
        let with_mark = |mark: &str| {
            let mut live = desired.clone();
            live["metadata"]["annotations"] = json!({OWNER: mark});
            compare(&resource(&desired), &with_record(&live, &fields), &own())
        };
        assert_eq!(with_mark("shop/dev/%/main@s1"), Comparison::Same);
        assert_eq!(with_mark("shop/dev/%/main@s2"), Comparison::Differs);
        assert_eq!(with_mark("shop/prod/%/main@s1"), Comparison::Differs);
        let unmarked = with_record(&desired, &json!({"f:spec": {"f:a": {}}}));
        assert_eq!(compare(&resource(&desired), &unmarked, &own()), Comparison::Unmarked);
    }

    #[test]
    fn annotations_are_compared_next_to_the_mark() {
        let mut desired = object(&json!({"a": 1}));
        desired["metadata"]["annotations"] = json!({"x": "1"});
        let fields = json!({"f:spec": {"f:a": {}},
            "f:metadata": {"f:annotations": {".": {}, OWNER_FIELD: {}, "f:x": {}}}});
        let with = |value: &str| {
            let mut live = desired.clone();
            live["metadata"]["annotations"] =
                json!({OWNER: "shop/dev/%/main@s1", "x": value, "other": "y"});
            compare(&resource(&desired), &with_record(&live, &fields), &own())
        };
        assert_eq!(with("1"), Comparison::Same);
        assert_eq!(with("2"), Comparison::Differs);
    }

    #[test]
    fn list_items_are_found_by_key_and_default_key() {
        let fields = json!({"f:spec": {"f:ports": {
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
            "k:{\"port\":80,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}, "f:protocol": {}},
        }}});
        let live = object(&json!({"ports": [
            {"port": 9, "protocol": "TCP"}, {"port": 80, "protocol": "TCP", "more": 1},
            {"port": 80, "protocol": "UDP"},
        ]}));
        let wanted = [json!({"port": 80}), json!({"port": 80, "protocol": "UDP"})];
        let same = object(&json!({"ports": wanted}));
        assert_eq!(compared(&same, &live, &fields), Comparison::Same);
        let turned = object(&json!({"ports": [wanted[1], wanted[0]]}));
        assert_eq!(compared(&turned, &live, &fields), Comparison::Differs);
        let fewer = object(&json!({"ports": [wanted[0]]}));
        assert_eq!(compared(&fewer, &live, &fields), Comparison::Differs);
    }

    #[test]
    fn sets_and_whole_lists_are_compared() {
        let fields = json!({"f:spec": {"f:args": {}, "f:names": {"v:\"a\"": {}, "v:\"b\"": {}}}});
        let spec = json!({"args": ["x"], "names": ["a", "b"]});
        let live = object(&json!({"args": ["x"], "names": ["other", "a", "b"]}));
        assert_eq!(compared(&object(&spec), &live, &fields), Comparison::Same);
        let more = object(&json!({"args": ["x", "y"], "names": ["a", "b"]}));
        assert_eq!(compared(&more, &live, &fields), Comparison::Differs);
    }

    #[test]
    fn what_only_looks_different_is_not_judged() {
        let fields = json!({"f:spec": {"f:cpu": {}}});
        let live = object(&json!({"cpu": "1"}));
        assert_eq!(
            compared(&object(&json!({"cpu": "1000m"})), &live, &fields),
            Comparison::Differs
        );
        assert_eq!(compared(&object(&json!({"cpu": null})), &live, &fields), Comparison::Differs);
    }

    #[test]
    fn an_object_that_goes_is_not_the_same() {
        let mut live = object(&json!({"a": 1}));
        live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        let fields = json!({"f:spec": {"f:a": {}}});
        assert_eq!(compared(&object(&json!({"a": 1})), &live, &fields), Comparison::Differs);
    }
}
