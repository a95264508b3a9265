//! Attributes, indexes and slices.

use crate::{schema, text, value};
use kcl_value::{Value, ops};

#[test]
fn items() {
    for (container, key, expected) in [
        ("[1, 2, 3]", "-1", "3"),
        ("[1, 2, 3]", "5", "! list index out of range: 5"),
        ("[1, 2, 3]", "4294967296", "! list index out of range: 4294967296"),
        ("[1, 2, 3]", "-9", "! index out of bounds: the len is 3 but the index is -9"),
        ("[1]", "\"a\"", "! 'list' object is not subscriptable with 'str'"),
        ("[1]", "true", "! 'list' object is not subscriptable with 'bool'"),
        ("\"héllo\"", "1", "\"é\""),
        ("\"héllo\"", "-5", "\"h\""),
        ("\"héllo\"", "5", "! string index out of range: 5"),
        ("\"abc\"", "2", "\"c\""),
        ("\"abc\"", "-9", "! index out of bounds: the len is 3 but the index is -9"),
        ("{\"a\": 1}", "\"a\"", "1"),
        ("{\"a\": 1}", "\"x\"", "Undefined"),
        ("{\"a\": 1}", "0", "Undefined"),
        ("null", "0", "! 'NoneType' object is not subscriptable with 'int'"),
        ("1Ki", "0", "! 'number_multiplier(1Ki)' object is not subscriptable with 'int'"),
    ] {
        assert_eq!(
            text(ops::index(&value(container), &value(key))),
            expected,
            "{container}[{key}]"
        );
    }
    let instance = schema("__main__", "S", &[("x", Value::Int(1))]);
    assert_eq!(text(ops::index(&instance, &value("\"x\""))), "1");
    assert_eq!(text(ops::index(&instance, &value("\"y\""))), "Undefined");
    assert_eq!(
        text(ops::index(&instance, &value("0"))),
        "! 'S' object is not subscriptable with 'int'"
    );
}

#[test]
fn optional_access_stops_at_nothing() {
    for container in ["null", "Undefined", "[]", "{}", "\"\""] {
        assert_eq!(text(ops::index_optional(&value(container), &value("0"))), "null");
        assert_eq!(text(ops::attribute_optional(&value(container), "a")), "null");
    }
    assert_eq!(text(ops::index_optional(&value("[1]"), &value("0"))), "1");
    assert_eq!(text(ops::attribute_optional(&value("{\"a\": 1}"), "a")), "1");
}

#[test]
fn attributes() {
    for (container, name, expected) in [
        ("{\"a\": 1}", "a", "1"),
        ("{\"a\": 1}", "b", "Undefined"),
        ("\"s\"", "foo", "! str object attr 'foo' not found"),
        ("lambda", "foo", "! schema object attr 'foo' not found"),
        ("[1]", "a", "! invalid value 'list' to load attribute 'a'"),
        ("null", "a", "! invalid value 'NoneType' to load attribute 'a'"),
    ] {
        assert_eq!(text(ops::attribute(&value(container), name)), expected, "{container}.{name}");
    }
    let instance = schema("__main__", "S", &[("x", Value::Int(1))]);
    assert_eq!(text(ops::attribute(&instance, "y")), "! schema 'S' attribute 'y' not found");
}

#[test]
fn slices() {
    let cases: [(&str, [&str; 3], &str); 17] = [
        ("[0, 1, 2, 3, 4]", ["", "", ""], "[0, 1, 2, 3, 4]"),
        ("[0, 1, 2, 3, 4]", ["", "", "-1"], "[4, 3, 2, 1, 0]"),
        ("[0, 1, 2, 3, 4]", ["1", "4", "2"], "[1, 3]"),
        ("[0, 1, 2, 3, 4]", ["4", "0", "-2"], "[4, 2]"),
        ("[0, 1, 2, 3, 4]", ["9", "1", ""], "[]"),
        ("[0, 1, 2, 3, 4]", ["-9", "9", ""], "[0, 1, 2, 3, 4]"),
        ("[0, 1, 2, 3, 4]", ["", "-1", ""], "[0, 1, 2, 3]"),
        ("[0, 1, 2, 3, 4]", ["null", "2", ""], "[0, 1]"),
        ("[0, 1, 2, 3, 4]", ["", "", "9223372036854775807"], "[0]"),
        ("[0, 1, 2, 3, 4]", ["", "", "-9223372036854775808"], "[4]"),
        ("[0, 1, 2, 3, 4]", ["-9223372036854775808", "", ""], "[0, 1, 2, 3, 4]"),
        ("[]", ["", "", "-1"], "[]"),
        ("\"héllo\"", ["1", "4", "2"], "\"él\""),
        ("\"hello\"", ["", "", "-1"], "\"olleh\""),
        ("[1]", ["", "", "0"], "! slice step cannot be zero"),
        ("null", ["1", "", ""], "! invalid slice object NoneType"),
        ("{}", ["", "", ""], "! invalid slice object dict"),
    ];
    for (container, bounds, expected) in cases {
        let bounds = bounds.map(|bound| (!bound.is_empty()).then(|| value(bound)));
        let [lower, upper, step] = bounds.each_ref().map(Option::as_ref);
        let result = ops::slice(&value(container), lower, upper, step);
        assert_eq!(text(result), expected, "{container}{bounds:?}");
    }
}
