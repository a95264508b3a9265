//! Field sets and their written form.

use kusion_k8s_merge::{PathElement, Set, fields_v1};
use serde_json::{Value, json};

const BIG: &str = r#"{"f:aaa":{"k:{\"name\":\"second\"}":{"v:3":{"f:aab":{}}},"v:3":{},"v:true":{}},"f:aab":{".":{},"f:aaa":{}},"k:{\"port\":443,\"protocol\":\"tcp\"}":{},"v:1":{},"v:\"aa\"":{},"i:1":{}}"#;

fn set(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is JSON")
}

#[test]
fn text_is_kept_as_the_server_writes_it() {
    let value = set(BIG);
    let parsed = fields_v1::parse(&value).unwrap();
    assert_eq!(fields_v1::to_text(&parsed), BIG);
    assert_eq!(fields_v1::to_value(&parsed), value);
}

#[test]
fn special_characters_in_keys_are_escaped() {
    let value = json!({"k:{\"name\":\"a\\u003cb\"}": {}});
    let parsed = fields_v1::parse(&value).unwrap();
    assert_eq!(fields_v1::to_value(&parsed), value);
}

#[test]
fn steps_of_unknown_kinds_are_dropped_and_bad_ones_refused() {
    let value = json!({"f:a": {}, "r:b": {}});
    assert_eq!(fields_v1::to_text(&fields_v1::parse(&value).unwrap()), r#"{"f:a":{}}"#);
    for bad in
        [json!({"x": {}}), json!({"abc": {}}), json!({"i:x": {}}), json!({"f:a": 1}), json!([])]
    {
        assert!(fields_v1::parse(&bad).is_err(), "{bad}");
    }
}

#[test]
fn operations_keep_what_they_should() {
    let (left, right) = (
        set(r#"{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{}}"#),
        set(r#"{"f:a":{"f:b":{}},"f:e":{}}"#),
    );
    let (left, right) = (fields_v1::parse(&left).unwrap(), fields_v1::parse(&right).unwrap());
    let text = fields_v1::to_text;
    assert_eq!(
        text(&left.union(&right)),
        r#"{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{},"f:e":{}}"#
    );
    assert_eq!(text(&left.intersection(&right)), r#"{"f:a":{"f:b":{}}}"#);
    let mut rest = left.clone();
    rest.subtract(&right);
    assert_eq!(text(&rest), r#"{"f:a":{".":{},"f:c":{}},"f:d":{}}"#);
    let mut deep = left.clone();
    deep.subtract_deep(&Set::of_fields(&[&["a"]]));
    assert_eq!(text(&deep), r#"{"f:d":{}}"#);
    assert_eq!(text(&left.leaves()), r#"{"f:a":{"f:b":{},"f:c":{}},"f:d":{}}"#);
    assert!(left.has(&[PathElement::Field("a"), PathElement::Field("b")]));
    assert!(left.intersection(&right).is_subset(&left) && !right.is_subset(&left));
    assert_eq!(left.len(), 4);
}
