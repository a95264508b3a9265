//! What holds for all values.

use crate::samples::{random_type, random_value};
use fastrand::Rng;
use kusion_cty::{Number, Type, Value, convert, json, msgpack};
use serde_json::json;

#[test]
fn msgpack_returns_what_was_written() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..4_000 {
        let ty = random_type(&mut rng, 4);
        let value = random_value(&mut rng, &ty, true);
        let bytes = msgpack::encode(&value, &ty).expect("bytes");
        assert_eq!(msgpack::decode(&bytes, &ty), Ok(value), "of {ty:?}");
    }
}

#[test]
fn json_returns_what_was_written() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..4_000 {
        let ty = random_type(&mut rng, 4);
        let value = random_value(&mut rng, &ty, false);
        let text = json::encode(&value, &ty).expect("a text");
        assert_eq!(json::decode(text.as_bytes(), &ty), Ok(value), "of {ty:?}");
    }
}

#[test]
fn types_return_from_their_json() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..1_000 {
        let ty = random_type(&mut rng, 5);
        assert_eq!(Type::from_json(ty.to_json().to_string().as_bytes()), Ok(ty));
    }
}

/// Bytes as Go's libraries write them.
#[test]
fn bytes_of_other_implementations_are_read() {
    let cases: &[(&[u8], Type, Value)] = &[
        (b"\xc0", Type::String, Value::Null),
        (b"\xd4\x00\x00", Type::String, Value::UNKNOWN),
        (b"\xc7\x00\x00", Type::Bool, Value::UNKNOWN),
        (b"\xa5hello", Type::String, "hello".into()),
        (b"\xd9\x05hello", Type::String, "hello".into()),
        (b"\x05", Type::Number, 5.into()),
        (b"\xd3\x00\x00\x00\x00\x00\x00\x00\x05", Type::Number, 5.into()),
        (b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", Type::Number, Value::Number(number("1.5"))),
        (b"\xa30.1", Type::Number, Value::Number(number("0.1"))),
        (b"\x92\x02\x01", Type::set(Type::Number), Value::set(vec![1.into(), 2.into()])),
        (b"\x92\xc4\x08\"string\"\xa1x", Type::Dynamic, Value::typed(Type::String, "x".into())),
        (b"\x92\xa8\"string\"\xa1x", Type::Dynamic, Value::typed(Type::String, "x".into())),
    ];
    for (bytes, ty, value) in cases {
        assert_eq!(msgpack::decode(bytes, ty).as_ref(), Ok(value), "{bytes:x?}");
    }
    let refined = msgpack::decode(b"\xc7\x03\x0c\x81\x01\xc2", &Type::String).expect("a value");
    let Value::Unknown(Some(refinement)) = refined else { unreachable!("{refined:?}") };
    assert_eq!(refinement.is_null, Some(false));
}

#[test]
fn numbers_are_sent_as_terraform_sends_them() {
    let bytes = |text: &str| msgpack::encode(&Value::Number(number(text)), &Type::Number);
    assert_eq!(bytes("5"), Ok(vec![5]));
    assert_eq!(bytes("-1").map(|it| it[0]), Ok(0xff));
    assert_eq!(bytes("1.5").map(|it| it[0]), Ok(0xcb), "a binary number, which is exact");
    assert_eq!(bytes("0.1"), Ok(b"\xa30.1".to_vec()), "a text, which is exact");
    assert_eq!(bytes("123456789012345678901").map(|it| it[0]), Ok(0xb5));
}

#[test]
fn what_users_write_is_converted() {
    let plain = |json, ty: &Type| convert::from_plain(&json, ty, &|text| text == "?");
    assert_eq!(plain(json!("5"), &Type::Number), Ok(5.into()));
    assert_eq!(plain(json!(0.1), &Type::Number), Ok(Value::Number(number("0.1"))));
    assert_eq!(plain(json!(5), &Type::String), Ok("5".into()));
    assert_eq!(plain(json!(true), &Type::String), Ok("true".into()));
    assert_eq!(plain(json!("true"), &Type::Bool), Ok(true.into()));
    assert_eq!(plain(json!("?"), &Type::Number), Ok(Value::UNKNOWN));
    let set = Type::set(Type::String);
    assert_eq!(plain(json!(["b", "a", "b"]), &set), Ok(Value::set(vec!["a".into(), "b".into()])));
    let object = Type::object([("a", Type::Number), ("b", Type::String)]);
    assert_eq!(
        plain(json!({"a": 1}), &object),
        Ok(Value::map([("a", 1.into()), ("b", Value::Null)]))
    );
    let any = plain(json!({"a": [1, "x"]}), &Type::Dynamic).expect("a value");
    let tuple = Type::tuple([Type::Number, Type::String]);
    let Value::Typed(any) = any else { unreachable!() };
    assert_eq!(any.ty, Type::object([("a", tuple)]));
    for (json, ty, message) in [
        (json!("x"), Type::Number, "expected a number, found a string"),
        (json!([1]), Type::map(Type::String), "expected a map of string, found a list"),
        (json!({"a": {}}), object.clone(), "a: expected a number, found a map"),
        (json!({"c": 1}), object, "c: unknown attribute"),
    ] {
        assert_eq!(plain(json, &ty).expect_err("an error").to_string(), message);
    }
}

#[test]
fn plain_values_come_back() {
    let mut rng = Rng::with_seed(4);
    for _ in 0..2_000 {
        let ty = random_type(&mut rng, 3);
        let value = random_value(&mut rng, &ty, false);
        // Types that only a value knows are lost.
        if ty.has_dynamic() {
            continue;
        }
        let plain = convert::to_plain(&value, &json!("?"));
        let back = convert::from_plain(&plain, &ty, &|_| false);
        let back = back.expect("a value");
        let again = convert::to_plain(&back, &json!("?"));
        assert_eq!(plain, again);
    }
}

fn number(text: &str) -> Number {
    Number::parse(text).expect("a number")
}
