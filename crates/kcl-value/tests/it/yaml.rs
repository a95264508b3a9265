//! YAML, read and written.

use crate::value;
use kcl_value::yaml::{self, WriteOptions};
use kcl_value::{Value, json};

fn check(source: &str, expected: &str) {
    assert_eq!(yaml::write(&value(source)), expected, "{source}");
}

#[test]
fn collections() {
    check("{}", "{}\n");
    check("[]", "[]\n");
    check(
        "{\"a\": {}, \"b\": [], \"c\": {\"d\": [1, 2]}}",
        "a: {}\nb: []\nc:\n  d:\n  - 1\n  - 2\n",
    );
    check("[[1, [2]], {\"a\": 1, \"b\": [3]}]", "- - 1\n  - - 2\n- a: 1\n  b:\n  - 3\n");
    check(
        "[null, true, 1.0, 1e16, 1e-7, 0.00001]",
        "- null\n- true\n- 1.0\n- 1e16\n- 1e-7\n- 0.00001\n",
    );
}

#[test]
fn strings_that_are_plain() {
    for text in [
        "a",
        "a b",
        "a:b",
        "a#b",
        "?a",
        ":a",
        "a,b",
        "a'b",
        "a\"b",
        "\\",
        "inf",
        "=",
        "<<",
        "v1",
        "_1",
        "a - b",
        "a :b",
        "é",
        "日本",
        "\u{a0}",
        "🎉",
        "http://a.b/c?d=e#f",
        "${x}",
        "a...",
    ] {
        assert_eq!(yaml::write(&Value::str(text)), format!("{text}\n"));
    }
}

#[test]
fn strings_in_single_quotes() {
    for text in [
        "",
        " ",
        "a ",
        " a",
        "1",
        "01",
        "10Gi",
        "-d",
        ".5",
        "+1",
        "~",
        "null",
        "Null",
        "nil",
        "tRUE",
        "yes",
        "n",
        "Y",
        "On",
        "NaN",
        "-",
        "---",
        "...",
        "?",
        "? a",
        ":",
        "a:",
        "a: b",
        "a #b",
        "#a",
        "!a",
        "&a",
        "*a",
        "@a",
        "`a",
        "%a",
        "{a",
        "]",
        ",a",
        "|",
        ">",
        "\"a\"",
        "2020-01-01",
        "k: v # c",
    ] {
        assert_eq!(yaml::write(&Value::str(text)), format!("'{text}'\n"));
    }
    check("\"'a\"", "'''a'\n");
}

#[test]
fn strings_in_double_quotes() {
    for (source, expected) in [
        ("\"a\\tb\"", "\"a\\tb\""),
        ("\"a\\rb\"", "\"a\\rb\""),
        ("\"\\u0000\\u0001\\u001b\\u007f\\u0085\"", "\"\\0\\x01\\e\\x7F\\N\""),
        ("\"\\ufeffa\"", "\"\\uFEFFa\""),
        ("\"a \\nb\"", "\"a \\nb\""),
        ("\"a\\nb \"", "\"a\\nb \""),
        ("\"a\\n\\u2028\"", "\"a\\n\\L\""),
    ] {
        check(source, &format!("{expected}\n"));
    }
}

#[test]
fn blocks_of_text() {
    check("{\"a\": \"x\\ny\"}", "a: |-\n  x\n  y\n");
    check("{\"a\": \"x\\n\", \"b\": 1}", "a: |\n  x\nb: 1\n");
    check("{\"a\": \"x\\n\\n\", \"b\": 1}", "a: |+\n  x\n\nb: 1\n");
    check("{\"a\": \" x\\ny\"}", "a: |2-\n   x\n  y\n");
    check("{\"a\": \"\\n\"}", "a: |2+\n\n");
    check("[\"x\\n\\ny\"]", "- |-\n  x\n\n  y\n");
    check("\"a\\nb\"", "|-\n  a\n  b\n");
}

#[test]
fn keys_that_need_a_question_mark() {
    let long = "word ".repeat(30);
    let long = long.trim_end();
    check(&format!("{{\"{long}\": {{\"a\": [1]}}}}"), &format!("? {long}\n: a:\n  - 1\n"));
    check("{\"a\": {\"x\\ny\": [1, 2]}}", "a:\n  ? |-\n    x\n    y\n  : - 1\n    - 2\n");
    check("{\"y\": 1, \"1\": 2}", "'y': 1\n'1': 2\n");
}

#[test]
fn options_and_streams() {
    let options = WriteOptions { sort_keys: true, ignore_private: true, ignore_none: true };
    let source = value("{\"b\": 1, \"a\": [null], \"_c\": 3, \"d\": null}");
    assert_eq!(yaml::write_with(&source, &options), "a: []\nb: 1\n");
    let both = [value("{\"a\": 1}"), value("\"x\\n\"")];
    let plain = WriteOptions::default();
    assert_eq!(yaml::write_stream(&both, &plain), "a: 1\n\n---\n|\n  x\n");
    assert_eq!(yaml::write_manifests(&both, &plain, "***", usize::MAX), "a: 1\n***\n|\n  x");
}

#[test]
fn reading() {
    for (source, expected) in [
        ("b: 1\na: [x, {y: 2}]\n", "{\"b\": 1, \"a\": [\"x\", {\"y\": 2}]}"),
        ("a: 1\na: 2", "{\"a\": 2}"),
        ("1: a\n~: b\ntrue: c", "{\"1\": \"a\", \"~\": \"b\", \"true\": \"c\"}"),
        ("[yes, y, on, True, ~, Null]", "[\"yes\", \"y\", \"on\", true, null, null]"),
        (
            "[0x1F, 0o17, 017, 1_000, 1e3, .5, .inf]",
            "[31, 15, \"017\", \"1_000\", 1000.0, 0.5, null]",
        ),
        ("a: &x 1\nb: *x", "{\"a\": 1, \"b\": 1}"),
        ("<<: {a: 1}", "{\"<<\": {\"a\": 1}}"),
        ("18446744073709551615", "1.8446744073709552e+19"),
        ("a: >-\n  x\n  y\n", "{\"a\": \"x y\"}"),
    ] {
        let found = yaml::parse(source).unwrap_or_else(|fault| panic!("{source}: {fault}"));
        assert_eq!(json::write(&found), expected, "{source}");
    }
}

#[test]
fn messages_of_the_reader() {
    for (source, expected) in [
        ("a: 1\n  b: 2\nc: 3", "mapping values are not allowed in this context at line 2 column 4"),
        (
            "a:\n- 1\n  -2\n-3",
            "could not find expected ':' at line 5 column 1, while scanning a simple key at line 4 column 1",
        ),
        (
            "a: 1\n---\nb: 2",
            "deserializing from YAML containing more than one document is not supported",
        ),
    ] {
        assert_eq!(yaml::parse(source).unwrap_err().message, expected, "{source}");
    }
    assert!(yaml::parse(&"[".repeat(100_000)).is_err());
}

#[test]
fn reading_a_stream() {
    let found = yaml::parse_stream("a: 1\n---\n- 2\n---\n3\n").unwrap();
    assert_eq!(json::write(&Value::list(found)), "[{\"a\": 1}, [2], 3]");
    assert!(matches!(yaml::parse_stream("").unwrap().as_slice(), [Value::None]));
    assert!(matches!(yaml::parse("").unwrap(), Value::None));
}
