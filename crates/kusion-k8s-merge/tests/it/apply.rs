//! Server-side apply and the records of other writes.

use kusion_k8s_merge::ApplyError;
use serde_json::{Value, json};

use crate::support::{applied, nothing, object, owners, updated};

fn ok(live: Option<&Value>, manager: &str, spec: &Value) -> Value {
    applied(live, manager, spec, false).expect("the apply is fine").object
}

#[test]
fn an_apply_owns_what_it_says() {
    let made = ok(
        None,
        "one",
        &json!({"replicas": 1, "map": {"a": "x"}, "items": [{"name": "c", "image": "i"}], "set": ["s"], "atomic": ["q"], "inner": {}}),
    );
    assert_eq!(
        owners(&made),
        "one Apply: {'f:atomic':{},'f:inner':{},'f:items':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:image':{},'f:name':{}}},'f:map':{'f:a':{}},'f:replicas':{},'f:set':{'v:\\'s\\'':{}}}"
    );
}

#[test]
fn dropped_fields_go_unless_another_applies_them() {
    let first = ok(None, "one", &json!({"map": {"a": "x", "b": "y"}, "set": ["s", "t"]}));
    let second = ok(Some(&first), "two", &json!({"map": {"a": "x"}}));
    let third = ok(Some(&second), "one", &json!({"set": ["t"]}));
    assert_eq!(third["spec"], json!({"map": {"a": "x"}, "set": ["t"]}));
    assert_eq!(
        owners(&third),
        "two Apply: {'f:map':{'f:a':{}}}\none Apply: {'f:set':{'v:\\'t\\'':{}}}"
    );
}

#[test]
fn other_values_conflict_and_force_takes_them() {
    let first = ok(None, "one", &json!({"replicas": 1, "map": {"a": "x"}}));
    let second = updated(&first, "edit", &{
        let mut new = first.clone();
        new["spec"]["replicas"] = json!(2);
        new
    });
    let spec = json!({"replicas": 3, "map": {"a": "z"}});
    let Err(ApplyError::Conflict(conflicts)) = applied(Some(&second), "two", &spec, false) else {
        panic!("no conflict")
    };
    assert_eq!(
        conflicts.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"edit\" using v1:\n- .spec.replicas\nconflicts with \"one\":\n- .spec.map.a"
    );
    let one = json!({"replicas": 3});
    let Err(ApplyError::Conflict(conflicts)) = applied(Some(&second), "two", &one, false) else {
        panic!("no conflict")
    };
    assert_eq!(
        conflicts.to_string(),
        "Apply failed with 1 conflict: conflict with \"edit\" using v1: .spec.replicas"
    );
    let forced = applied(Some(&second), "two", &spec, true).unwrap().object;
    assert_eq!(owners(&forced), "two Apply: {'f:map':{'f:a':{}},'f:replicas':{}}");
}

#[test]
fn shared_values_are_shared_and_change_nothing() {
    let first = ok(None, "one", &json!({"replicas": 1}));
    let second = applied(Some(&first), "two", &json!({"replicas": 1}), false).unwrap();
    assert!(!second.changed);
    assert_eq!(
        owners(&second.object),
        "two Apply: {'f:replicas':{}}\none Apply: {'f:replicas':{}}"
    );
    assert_eq!(second.object.pointer("/metadata/managedFields/0/time"), None);
}

#[test]
fn keys_with_defaults_name_the_same_item() {
    let first = ok(None, "one", &json!({"items": [{"name": "c", "ports": [{"port": 80}]}]}));
    let second = ok(
        Some(&first),
        "two",
        &json!({"items": [{"name": "c", "ports": [{"port": 80, "protocol": "TCP", "name": "http"}]}]}),
    );
    assert_eq!(
        second["spec"]["items"][0]["ports"],
        json!([{"port": 80, "protocol": "TCP", "name": "http"}])
    );
    assert!(owners(&first).contains(r"'k:{\'port\':80,\'protocol\':\'TCP\'}'"));
}

#[test]
fn shared_items_take_the_order_of_the_configuration() {
    let live = object(&json!({"set": ["a", "b", "c", "d"]}));
    let made = ok(Some(&live), "one", &json!({"set": ["d", "x", "b"]}));
    assert_eq!(made["spec"]["set"], json!(["a", "c", "d", "x", "b"]));
}

#[test]
fn what_was_there_before_has_its_own_manager() {
    let live = object(&json!({"replicas": 1, "map": {"a": "x"}}));
    let made = ok(Some(&live), "one", &json!({"replicas": 1}));
    assert_eq!(
        owners(&made),
        "one Apply: {'f:replicas':{}}\nbefore-first-apply Update: {'.':{},'f:map':{'.':{},'f:a':{}},'f:replicas':{}}"
    );
}

#[test]
fn duplicates_and_wrong_types_are_refused() {
    let text = |spec: &Value| applied(None, "one", spec, false).unwrap_err().to_string();
    assert_eq!(
        text(&json!({"set": ["a", "a"]})),
        "failed to create typed patch object (/x; /v1, Kind=Thing): .spec.set: duplicate entries for key [=\"a\"]"
    );
    assert_eq!(
        text(&json!({"replicas": "3"})),
        "failed to create typed patch object (/x; /v1, Kind=Thing): .spec.replicas: expected numeric (int or float), got string"
    );
    assert_eq!(
        text(&json!({"foo": 1})),
        "failed to create typed patch object (/x; /v1, Kind=Thing): .spec.foo: field not declared in schema"
    );
}

#[test]
fn updates_own_what_they_change_and_no_more() {
    let first = updated(&nothing(), "one", &object(&json!({"replicas": 1, "map": {"a": "x"}})));
    let mut new = first.clone();
    new["spec"] = json!({"replicas": 2, "map": {"b": "y"}});
    let second = updated(&first, "two", &new);
    assert_eq!(
        owners(&second),
        "one Update: {'.':{},'f:map':{}}\ntwo Update: {'f:map':{'f:b':{}},'f:replicas':{}}"
    );
    let same = updated(&second, "three", &second);
    assert_eq!(owners(&same), owners(&second));
}

#[test]
fn records_can_be_reset() {
    let mut first = updated(&nothing(), "one", &object(&json!({"replicas": 1})));
    first["metadata"]["uid"] = json!("u");
    let mut new = first.clone();
    new["metadata"]["managedFields"] = json!([{}]);
    assert_eq!(updated(&first, "two", &new).pointer("/metadata/managedFields"), None);
}

#[test]
fn the_oldest_writers_become_one() {
    let mut live = updated(&nothing(), "m", &object(&json!({"map": {"k": "0"}})));
    for n in 0..14 {
        let mut new = live.clone();
        new["spec"]["map"][format!("k{n:02}")] = json!("v");
        live = updated(&live, &format!("m{n:02}"), &new);
    }
    let text = owners(&live);
    assert_eq!(text.lines().count(), 10, "{text}");
    assert!(text.starts_with("ancient-changes Update"), "{text}");
}
