//! Bytes that are not what they should be.

use crate::samples::{random_type, random_value};
use fastrand::Rng;
use kusion_cty::{Type, json, msgpack};

#[test]
fn bytes_that_are_cut_off_or_changed_never_panic() {
    let mut rng = Rng::with_seed(5);
    for _ in 0..3_000 {
        let ty = random_type(&mut rng, 3);
        let value = random_value(&mut rng, &ty, true);
        let mut bytes = msgpack::encode(&value, &ty).expect("bytes");
        for end in 0..bytes.len().min(100) {
            assert!(msgpack::decode(&bytes[..end], &ty).is_err());
        }
        bytes.truncate(2_000);
        for _ in 0..20 {
            let mut changed = bytes.clone();
            let place = rng.usize(..changed.len());
            changed[place] = rng.u8(..);
            let _ = msgpack::decode(&changed, &ty);
        }
        let noise: Vec<u8> = (0..rng.usize(..60)).map(|_| rng.u8(..)).collect();
        let _ = msgpack::decode(&noise, &ty);
        let _ = json::decode(&noise, &ty);
    }
}

#[test]
fn texts_that_are_changed_never_panic() {
    let mut rng = Rng::with_seed(6);
    for _ in 0..2_000 {
        let ty = random_type(&mut rng, 3);
        let value = random_value(&mut rng, &ty, false);
        let mut text = json::encode(&value, &ty).expect("a text").into_bytes();
        let place = rng.usize(..text.len());
        text[place] = *rng.choice(b"{}[]\",:0e-").expect("one of them");
        let _ = json::decode(&text, &ty);
    }
}

#[test]
fn lengths_that_lie_need_no_memory() {
    let many = [0xdd, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert!(msgpack::decode(&many, &Type::list(Type::Number)).is_err());
    let map = [0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, b'a', 0x01];
    assert!(msgpack::decode(&map, &Type::map(Type::Number)).is_err());
    let text = [0xdb, 0xff, 0xff, 0xff, 0xff, b'a'];
    assert!(msgpack::decode(&text, &Type::String).is_err());
    let unknown = [0xc9, 0xff, 0xff, 0xff, 0xff, 0x00];
    assert!(msgpack::decode(&unknown, &Type::String).is_err());
}

#[test]
fn deep_nesting_is_an_error() {
    // A value in a value in a value, each with its type.
    let mut bytes = Vec::new();
    for _ in 0..100_000 {
        bytes.extend_from_slice(b"\x92\xc4\x09\"dynamic\"");
    }
    let error = msgpack::decode(&bytes, &Type::Dynamic).expect_err("an error");
    assert!(error.to_string().contains("nested too deeply"), "{error}");
    let text = "{\"type\":\"dynamic\",\"value\":".repeat(100_000);
    assert!(json::decode(text.as_bytes(), &Type::Dynamic).is_err());
    let ty = r#"["list","#.repeat(80) + r#""bool""# + &"]".repeat(80);
    let ty = Type::from_json(ty.as_bytes()).expect("a type");
    assert!(msgpack::decode(&[0x91; 200], &ty).is_err());
}

#[test]
fn numbers_that_are_bombs_are_errors() {
    for text in ["1e1000000000", "1e-1000000000", "1e99999999999999999999"] {
        assert!(json::decode(text.as_bytes(), &Type::Number).is_err(), "{text}");
    }
}

#[test]
fn errors_name_the_part() {
    let ty = Type::object([("tags", Type::map(Type::list(Type::String)))]);
    let error = json::decode(br#"{"tags":{"a":["x",{}]}}"#, &ty).expect_err("an error");
    assert_eq!(error.to_string(), r#"tags["a"][1]: expected a string"#);
    let error = json::decode(br#"{"other":1}"#, &ty).expect_err("an error");
    assert_eq!(error.to_string(), "unknown attribute `other`");
    let error = msgpack::decode(b"\x80", &ty).expect_err("an error");
    assert_eq!(error.to_string(), "attribute `tags` is missing");
}
