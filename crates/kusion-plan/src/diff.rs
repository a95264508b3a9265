//! Differences between two values, by field.

use kusion_model::FieldPath;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A field that differs, with its old and new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'a> {
    /// The field; a list item has its index in the new list, a removed one its index in the old
    /// list.
    pub path: FieldPath,
    /// The old value; `None` if it was absent.
    pub before: Option<&'a Value>,
    /// The new value; `None` if it is absent.
    pub after: Option<&'a Value>,
}

/// Returns the fields that differ, ordered by path. A subtree that was added or removed is one
/// difference.
pub fn differences<'a>(before: &'a Value, after: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare(&FieldPath::default(), before, after, &mut found);
    found
}

/// Returns the desired fields that differ; fields that are not in `desired` are ignored.
pub fn desired_differences<'a>(live: &'a Value, desired: &'a Value) -> Vec<Difference<'a>> {
    let mut found = differences(live, desired);
    found.retain(|it| it.after.is_some());
    found
}

fn compare<'a>(
    path: &FieldPath,
    before: &'a Value,
    after: &'a Value,
    found: &mut Vec<Difference<'a>>,
) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => compare_maps(path, before, after, found),
        (Value::Array(before), Value::Array(after)) => compare_lists(path, before, after, found),
        _ => {
            found.push(Difference { path: path.clone(), before: Some(before), after: Some(after) });
        }
    }
}

fn compare_maps<'a>(
    path: &FieldPath,
    before: &'a Map<String, Value>,
    after: &'a Map<String, Value>,
    found: &mut Vec<Difference<'a>>,
) {
    let mut keys: BTreeMap<&str, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
    for (key, value) in before {
        keys.entry(key).or_default().0 = Some(value);
    }
    for (key, value) in after {
        keys.entry(key).or_default().1 = Some(value);
    }
    for (key, pair) in keys {
        match pair {
            (Some(before), Some(after)) => compare(&path.key(key), before, after, found),
            (before, after) => found.push(Difference { path: path.key(key), before, after }),
        }
    }
}

fn compare_lists<'a>(
    path: &FieldPath,
    before: &'a [Value],
    after: &'a [Value],
    found: &mut Vec<Difference<'a>>,
) {
    let names = (names_of(before), names_of(after));
    let (Some(old), Some(new)) = names else {
        for place in 0..before.len().max(after.len()) {
            match (before.get(place), after.get(place)) {
                (Some(before), Some(after)) => compare(&path.index(place), before, after, found),
                (before, after) => {
                    found.push(Difference { path: path.index(place), before, after });
                }
            }
        }
        return;
    };
    for (name, place) in &old {
        if !new.contains_key(name) {
            let path = path.index(*place);
            found.push(Difference { path, before: before.get(*place), after: None });
        }
    }
    for (place, item) in after.iter().enumerate() {
        let known = name_of(item).and_then(|name| old.get(&name)).and_then(|&at| before.get(at));
        match known {
            Some(before) => compare(&path.index(place), before, item, found),
            None => {
                found.push(Difference { path: path.index(place), before: None, after: Some(item) });
            }
        }
    }
}

/// Fields that identify the items of a list, most specific first.
const NAMES: [&str; 7] = ["name", "mountPath", "containerPort", "port", "key", "ip", "type"];

fn name_of(item: &Value) -> Option<String> {
    NAMES.iter().find_map(|field| item.get(field)).map(Value::to_string)
}

/// Returns the items by their names; `None` unless all have unique names.
fn names_of(items: &[Value]) -> Option<BTreeMap<String, usize>> {
    let mut names = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        if names.insert(name_of(item)?, place).is_some() {
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
        let text = |value: Option<&Value>| value.map_or("-".to_owned(), Value::to_string);
        let found: Vec<String> = differences(before, after)
            .iter()
            .map(|it| format!("{}: {} => {}", it.path, text(it.before), text(it.after)))
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
            &json!([{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]),
            &json!([{"name": "new", "image": "z"}, {"name": "b", "image": "y2"}]),
            &[
                r#"[0]: {"image":"x","name":"a"} => -"#,
                r#"[0]: - => {"image":"z","name":"new"}"#,
                r#"[1].image: "y" => "y2""#,
            ],
        );
    }

    #[test]
    fn equal_values_have_no_differences() {
        let value = json!({"a": [{"name": "x"}], "b": {}});
        check(&value, &value, &[]);
    }
}
