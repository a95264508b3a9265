//! Equality, order and membership.

use crate::{dict, schema, value};
use kcl_value::{Result, Value, ops};

fn text(result: Result<bool>) -> String {
    result.map_or_else(|fault| format!("! {}", fault.message), |flag| flag.to_string())
}

#[test]
fn equality_is_deep() {
    for (a, b, expected) in [
        ("1", "1.0", true),
        ("1", "true", false),
        ("null", "Undefined", false),
        ("Undefined", "Undefined", true),
        ("[1, [2, {\"a\": 3}]]", "[1.0, [2, {\"a\": 3}]]", true),
        ("[1]", "[1, 2]", false),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true),
        ("{\"a\": 1}", "{\"a\": 1, \"b\": 2}", false),
        ("\"a\"", "\"a\"", true),
        ("1Ki", "1Ki", false),
        ("lambda", "lambda", true),
    ] {
        assert_eq!(ops::equals(&value(a), &value(b)), expected, "{a} == {b}");
        assert_eq!(ops::is_same(&value(b), &value(a)), expected, "{b} is {a}");
    }
    let instance = || schema("__main__", "S", &[("x", Value::Int(1))]);
    assert!(ops::equals(&instance(), &instance()));
    assert!(!ops::equals(&instance(), &Value::dict(dict(&[("x", Value::Int(1))]))));
}

#[test]
fn order() {
    for (a, b, less, equal) in [
        ("1", "2.5", true, false),
        ("1", "true", false, true),
        ("true", "2.5", true, false),
        ("9223372036854775806", "9223372036854775807", true, false),
        ("\"ab\"", "\"b\"", true, false),
        ("\"é\"", "\"z\"", false, false),
        ("[1, 2]", "[2, \"a\"]", true, false),
        ("[1]", "[1, 2]", true, false),
        ("[1, 2]", "[1, 2]", false, true),
    ] {
        let (x, y) = (value(a), value(b));
        assert_eq!(text(ops::less(&x, &y)), less.to_string(), "{a} < {b}");
        assert_eq!(text(ops::less_equal(&x, &y)), (less || equal).to_string(), "{a} <= {b}");
        assert_eq!(text(ops::greater(&x, &y)), (!less && !equal).to_string(), "{a} > {b}");
        assert_eq!(text(ops::greater_equal(&x, &y)), (!less).to_string(), "{a} >= {b}");
    }
}

#[test]
fn what_has_no_order() {
    let message = |a: &str, b: &str| text(ops::less(&value(a), &value(b)));
    assert_eq!(message("1", "\"a\""), "! '<' not supported between instances of 'int' and 'str'");
    assert_eq!(message("{}", "{}"), "! '<' not supported between instances of 'dict' and 'dict'");
    assert_eq!(
        message("[1, 2]", "[1, \"a\"]"),
        "! '<' not supported between instances of 'int' and 'str'"
    );
    assert_eq!(
        text(ops::greater_equal(&value("1Ki"), &Value::None)),
        "! '>=' not supported between instances of 'number_multiplier(1Ki)' and 'NoneType'"
    );
}

#[test]
fn membership() {
    for (item, container, expected) in [
        ("1", "[2, 1.0]", "true"),
        ("\"b\"", "\"abc\"", "true"),
        ("1", "\"1\"", "false"),
        ("\"a\"", "{\"a\": null}", "true"),
        ("1", "{\"a\": 1}", "false"),
        ("1", "2", "! TypeError: argument of type 'int' is not iterable"),
        ("1", "Undefined", "! TypeError: argument of type 'UndefinedType' is not iterable"),
    ] {
        let result = ops::contains(&value(container), &value(item));
        assert_eq!(text(result), expected, "{item} in {container}");
    }
}
