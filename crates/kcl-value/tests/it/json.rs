//! JSON, read and written.

use crate::value;
use kcl_value::json::{self, WriteOptions};

#[test]
fn compact() {
    for (source, expected) in [
        ("{\"a\":[1,{\"b\":null}],\"c\":{}}", "{\"a\": [1, {\"b\": null}], \"c\": {}}"),
        (
            "\"é\\u0001/\\u007f\\b\\f\\n\\r\\t\\\"\\\\\"",
            "\"é\\u0001/\u{7f}\\b\\f\\n\\r\\t\\\"\\\\\"",
        ),
        ("[1e16, 1e-7, 0.00001, 1e15]", "[1e+16, 1e-7, 0.00001, 1000000000000000.0]"),
        ("inf", "null"),
        ("1Ki", "1024.0"),
        ("Undefined", "null"),
    ] {
        assert_eq!(json::write(&value(source)), expected);
    }
}

#[test]
fn options() {
    let source = value("{\"b\": [], \"_p\": 1, \"a\": {\"n\": null, \"x\": [1, {}]}}");
    let write = |options: &WriteOptions| json::write_with(&source, options);
    assert_eq!(
        write(&WriteOptions { sort_keys: true, ..Default::default() }),
        "{\"_p\": 1, \"a\": {\"n\": null, \"x\": [1, {}]}, \"b\": []}"
    );
    assert_eq!(
        write(&WriteOptions { ignore_private: true, ignore_none: true, ..Default::default() }),
        "{\"b\": [], \"a\": {\"x\": [1, {}]}}"
    );
    assert_eq!(
        write(&WriteOptions { indent: 2, ..Default::default() }),
        "{\n  \"b\": [],\n  \"_p\": 1,\n  \"a\": {\n    \"n\": null,\n    \"x\": [\n      1,\n      {}\n    ]\n  }\n}"
    );
}

#[test]
fn reading_keeps_order_and_kinds_of_numbers() {
    for (source, expected) in [
        (" {\"b\": 1, \"a\": 2, \"b\": 3} ", "{\"b\": 3, \"a\": 2}"),
        ("[0, -0, 1.0, 1E2, 9223372036854775807]", "[0, -0.0, 1.0, 100.0, 9223372036854775807]"),
        ("9223372036854775808", "9.223372036854776e+18"),
        ("-9223372036854775809", "-9.223372036854776e+18"),
        ("\"\\ud83c\\udf89\\u00e9\"", "\"🎉é\""),
    ] {
        assert_eq!(json::write(&json::parse(source).unwrap()), expected, "{source}");
    }
}

#[test]
fn messages() {
    for (source, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[", "EOF while parsing a list at line 1 column 1"),
        ("{\"a\"", "EOF while parsing an object at line 1 column 4"),
        ("{\"a\":1,}", "trailing comma at line 1 column 8"),
        ("[1 2]", "expected `,` or `]` at line 1 column 4"),
        ("{a:1}", "key must be a string at line 1 column 2"),
        ("\n\n[1,\n x]", "expected value at line 4 column 2"),
        ("nulx", "expected ident at line 1 column 4"),
        ("01", "invalid number at line 1 column 2"),
        ("1e400", "number out of range at line 1 column 5"),
        ("\"a\\q\"", "invalid escape at line 1 column 4"),
        ("\"\\udc00\"", "lone leading surrogate in hex escape at line 1 column 7"),
        ("1 2", "trailing characters at line 1 column 3"),
    ] {
        assert_eq!(json::parse(source).unwrap_err().message, expected, "{source}");
    }
    let deep = "[".repeat(200_000);
    assert!(json::parse(&deep).unwrap_err().message.starts_with("recursion limit exceeded"));
}
