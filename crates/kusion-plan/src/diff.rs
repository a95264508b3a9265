//! Differences between two values, by field.

use base_text::align;
use kusion_model::{FieldPath, ListItems};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns how the items of the list at a path are identified.
pub type ListRules<'a> = &'a dyn Fn(&FieldPath) -> ListItems;

/// A field that differs, with its old and new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'a> {
    /// The field; a list item has its index in the new list, a removed one its index in the old
    /// list.
    pub path: FieldPath,
    /// The field in the old value, whose lists may have other indexes.
    pub old_path: FieldPath,
    /// The path for display, with list items by their names; empty if it is the text of `path`.
    pub label: String,
    /// The old value; `None` if it was absent.
    pub before: Option<&'a Value>,
    /// The new value; `None` if it is absent.
    pub after: Option<&'a Value>,
}

/// Returns the fields that differ, ordered by path. A subtree that was added or removed is one
/// difference. Items of lists are matched by their names, and otherwise by their content.
pub fn differences<'a>(
    before: &'a Value,
    after: &'a Value,
    lists: ListRules<'_>,
) -> Vec<Difference<'a>> {
    let mut walk = Walk { lists, found: Vec::new() };
    walk.compare(&At::default(), before, after);
    walk.found
}

/// Returns the desired fields that differ; fields that are not in `desired` are ignored.
pub fn desired_differences<'a>(
    live: &'a Value,
    desired: &'a Value,
    lists: ListRules<'_>,
) -> Vec<Difference<'a>> {
    let mut found = differences(live, desired, lists);
    found.retain(|it| it.after.is_some());
    found
}

/// A place in both values.
#[derive(Clone, Debug, Default)]
struct At {
    new: FieldPath,
    old: FieldPath,
    /// The text of the path, from the first list item on that is shown by its name.
    label: Option<String>,
}

impl At {
    fn key(&self, key: &str) -> Self {
        let label = self.label.as_ref().map(|label| {
            let last = FieldPath::default().key(key).to_string();
            let dot = if last.starts_with('[') { "" } else { "." };
            format!("{label}{dot}{last}")
        });
        Self { new: self.new.key(key), old: self.old.key(key), label }
    }

    fn item(&self, old: usize, new: usize, name: Option<&str>) -> Self {
        let label = match (name, &self.label) {
            (Some(name), None) => Some(format!("{}[{name}]", self.new)),
            (Some(name), Some(label)) => Some(format!("{label}[{name}]")),
            (None, label) => label.as_ref().map(|label| format!("{label}[{new}]")),
        };
        Self { new: self.new.index(new), old: self.old.index(old), label }
    }
}

struct Walk<'a, 'l> {
    lists: ListRules<'l>,
    found: Vec<Difference<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn push(&mut self, at: At, before: Option<&'a Value>, after: Option<&'a Value>) {
        let At { new, old, label } = at;
        let label = label.unwrap_or_default();
        self.found.push(Difference { path: new, old_path: old, label, before, after });
    }

    fn compare(&mut self, at: &At, before: &'a Value, after: &'a Value) {
        if before == after {
            return;
        }
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => self.maps(at, before, after),
            (Value::Array(old), Value::Array(new)) => {
                let n_found = self.found.len();
                self.lists(at, old, new);
                if self.found.len() == n_found {
                    let label = at.label.clone().unwrap_or_else(|| at.new.to_string());
                    let at = At { label: Some(format!("{label} (order)")), ..at.clone() };
                    self.push(at, Some(before), Some(after));
                }
            }
            _ => self.push(at.clone(), Some(before), Some(after)),
        }
    }

    fn maps(&mut self, at: &At, before: &'a Map<String, Value>, after: &'a Map<String, Value>) {
        let mut keys: BTreeMap<&str, (Option<&'a Value>, Option<&'a Value>)> = BTreeMap::new();
        for (key, value) in before {
            keys.entry(key).or_default().0 = Some(value);
        }
        for (key, value) in after {
            keys.entry(key).or_default().1 = Some(value);
        }
        for (key, pair) in keys {
            match pair {
                (Some(before), Some(after)) if before == after => {}
                (Some(before), Some(after)) => self.compare(&at.key(key), before, after),
                (before, after) => self.push(at.key(key), before, after),
            }
        }
    }

    fn lists(&mut self, at: &At, before: &'a [Value], after: &'a [Value]) {
        let rule = (self.lists)(&at.new);
        if rule == ListItems::Values {
            self.sets(at, before, after);
            return;
        }
        let candidates = match &rule {
            ListItems::Keys(keys) => {
                let all: Vec<&str> = keys.iter().map(String::as_str).collect();
                // A field that the infrastructure fills in may be missing on one side.
                vec![all.get(..1).unwrap_or_default().to_vec(), all]
            }
            _ => NAMES.iter().map(|name| vec![*name]).collect(),
        };
        let names = candidates
            .iter()
            .find_map(|keys| Some((names_of(before, keys)?, names_of(after, keys)?)));
        match names {
            Some((old, new)) => self.named(at, (before, &old), (after, &new)),
            None => self.ordered(at, before, after),
        }
    }

    /// Compares lists whose items have unique names.
    fn named(
        &mut self,
        at: &At,
        (before, old): (&'a [Value], &Names),
        (after, new): (&'a [Value], &Names),
    ) {
        for (name, &place) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
            self.push(at.item(place, place, Some(name)), before.get(place), None);
        }
        let mut by_place: Vec<(usize, &str)> =
            new.iter().map(|(name, place)| (*place, name.as_str())).collect();
        by_place.sort_unstable();
        for (place, name) in by_place {
            let Some(item) = after.get(place) else { continue };
            match old.get(name).and_then(|&known| Some((known, before.get(known)?))) {
                Some((known, before)) => {
                    self.compare(&at.item(known, place, Some(name)), before, item);
                }
                None => self.push(at.item(place, place, Some(name)), None, Some(item)),
            }
        }
    }

    /// Compares lists in which each value occurs once, in any order.
    fn sets(&mut self, at: &At, before: &'a [Value], after: &'a [Value]) {
        let texts = |items: &[Value]| -> BTreeMap<String, usize> {
            items.iter().enumerate().map(|(place, it)| (it.to_string(), place)).collect()
        };
        let (old, new) = (texts(before), texts(after));
        for (_, &place) in old.iter().filter(|(text, _)| !new.contains_key(*text)) {
            self.push(at.item(place, place, Some("")), before.get(place), None);
        }
        for (_, &place) in new.iter().filter(|(text, _)| !old.contains_key(*text)) {
            self.push(at.item(place, place, Some("")), None, after.get(place));
        }
    }

    /// Compares lists whose items have no names: equal items are matched in order, and items
    /// between them are compared one by one.
    fn ordered(&mut self, at: &At, before: &'a [Value], after: &'a [Value]) {
        let texts =
            |items: &[Value]| -> Vec<String> { items.iter().map(ToString::to_string).collect() };
        let pairs = align(&texts(before), &texts(after));
        let (mut old, mut new) = (0, 0);
        for (x, y) in pairs.into_iter().chain([(before.len(), after.len())]) {
            while old < x || new < y {
                let removed = before.get(old).filter(|_| old < x);
                let added = after.get(new).filter(|_| new < y);
                let place = if added.is_some() { new } else { old };
                let at = at.item(old, place, None);
                match (removed, added) {
                    (Some(before), Some(after)) => self.compare(&at, before, after),
                    (before, after) => self.push(at, before, after),
                }
                old += usize::from(removed.is_some());
                new += usize::from(added.is_some());
            }
            (old, new) = (x + 1, y + 1);
        }
    }
}

/// Fields that usually identify the items of a list, most specific first.
const NAMES: [&str; 7] = ["name", "id", "key", "path", "host", "port", "type"];

/// The items of a list by their names.
type Names = BTreeMap<String, usize>;

/// Returns the items by their names: `name=web`; `None` unless all have unique names.
fn names_of(items: &[Value], keys: &[&str]) -> Option<Names> {
    let mut names = Names::new();
    for (place, item) in items.iter().enumerate() {
        let parts = keys.iter().map(|key| match item.get(key)? {
            Value::String(text) => Some(format!("{key}={text}")),
            Value::Object(_) | Value::Array(_) => None,
            value => Some(format!("{key}={value}")),
        });
        let name = parts.collect::<Option<Vec<String>>>()?.join(",");
        if name.is_empty() || names.insert(name, place).is_some() {
            return None;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(before: &Value, after: &Value, expected: &[&str]) {
        check_with(&|_| ListItems::Unknown, before, after, expected);
    }

    fn check_with(lists: ListRules<'_>, before: &Value, after: &Value, expected: &[&str]) {
        let text = |value: Option<&Value>| value.map_or("-".to_owned(), Value::to_string);
        let found: Vec<String> = differences(before, after, lists)
            .iter()
            .map(|it| {
                let path = it.path.to_string();
                let label = if it.label.is_empty() { &path } else { &it.label };
                // Each side is found at its own path.
                assert_eq!(it.before, it.old_path.find(before).filter(|_| it.before.is_some()));
                assert_eq!(it.after, it.path.find(after).filter(|_| it.after.is_some()));
                format!("{label}: {} => {}", text(it.before), text(it.after))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fields_are_compared_one_by_one() {
        check(
            &json!({"a": 1, "b": {"c": [1, 2], "d": true}}),
            &json!({"a": 2, "b": {"c": [1, 3, 4]}, "e": null}),
            &["a: 1 => 2", "b.c[1]: 2 => 3", "b.c[2]: - => 4", "b.d: true => -", "e: - => null"],
        );
    }

    #[test]
    fn items_are_known_by_name_and_not_by_place() {
        check(
            &json!({"c": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}),
            &json!({"c": [{"name": "new", "image": "z"}, {"name": "b", "image": "y2"}]}),
            &[
                r#"c[name=a]: {"image":"x","name":"a"} => -"#,
                r#"c[name=new]: - => {"image":"z","name":"new"}"#,
                r#"c[name=b].image: "y" => "y2""#,
            ],
        );
    }

    #[test]
    fn keys_of_the_infrastructure_identify_items() {
        let keys = |path: &FieldPath| match path.to_string().as_str() {
            "ports" => ListItems::Keys(vec!["port".into(), "protocol".into()]),
            "tags" => ListItems::Values,
            _ => ListItems::Unknown,
        };
        let port =
            |port: u32, protocol: &str, n: u32| json!({"port": port, "protocol": protocol, "n": n});
        check_with(
            &keys,
            &json!({"ports": [port(1, "TCP", 1), port(1, "UDP", 2)], "tags": ["a", "b"]}),
            &json!({"ports": [port(1, "UDP", 3), port(1, "TCP", 1)], "tags": ["c", "b"]}),
            &["ports[port=1,protocol=UDP].n: 2 => 3", r#"tags[]: "a" => -"#, r#"tags[]: - => "c""#],
        );
        // One key is enough where it is unique, and the other one may be missing.
        check_with(
            &keys,
            &json!({"ports": [port(1, "TCP", 1), port(2, "TCP", 2)]}),
            &json!({"ports": [{"port": 2, "n": 4, "protocol": "TCP"}]}),
            &[
                r#"ports[port=1]: {"n":1,"port":1,"protocol":"TCP"} => -"#,
                "ports[port=2].n: 2 => 4",
            ],
        );
    }

    #[test]
    fn an_inserted_item_does_not_change_the_others() {
        check(
            &json!(["--a=1", "--b"]),
            &json!(["--verbose", "--a=2", "--b"]),
            &[r#"[0]: "--a=1" => "--verbose""#, r#"[1]: - => "--a=2""#],
        );
        check(&json!(["a", "b"]), &json!(["new", "a", "b"]), &[r#"[0]: - => "new""#]);
        check(&json!(["a", "b", "c"]), &json!(["a", "c"]), &[r#"[1]: "b" => -"#]);
    }

    #[test]
    fn another_order_is_a_difference() {
        check(
            &json!({"l": [{"name": "a"}, {"name": "b"}]}),
            &json!({"l": [{"name": "b"}, {"name": "a"}]}),
            &[r#"l (order): [{"name":"a"},{"name":"b"}] => [{"name":"b"},{"name":"a"}]"#],
        );
    }

    #[test]
    fn equal_values_have_no_differences() {
        let value = json!({"a": [{"name": "x"}], "b": {}});
        check(&value, &value, &[]);
    }
}
