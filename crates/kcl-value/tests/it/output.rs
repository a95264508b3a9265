//! The final output in its forms.

use crate::{dict, schema, value};
use kcl_value::Value;
use kcl_value::output::{OutputOptions, select, select_all, to_json, to_toml, to_yaml};

fn globals() -> Value {
    let inner =
        schema("a.b", "A", &[("x", Value::Int(1)), ("_p", Value::Int(3)), ("y", Value::Undefined)]);
    let outer = schema(
        "__main__",
        "B",
        &[("l", Value::list(vec![inner.clone(), Value::Undefined])), ("n", Value::None)],
    );
    Value::dict(dict(&[
        ("b", outer),
        ("a", Value::dict(dict(&[("k", inner)]))),
        ("f", value("lambda")),
        ("u", Value::Undefined),
        ("_h", value("{\"_i\": 1}")),
        ("l", Value::list(vec![Value::Undefined, Value::None, value("lambda"), Value::Int(1)])),
    ]))
}

fn yaml(options: OutputOptions) -> String {
    to_yaml(&globals(), options)
}

#[test]
fn what_is_hidden_and_what_is_not() {
    assert_eq!(
        yaml(OutputOptions::default()),
        "b:\n  l:\n  - x: 1\n  'n': null\na:\n  k:\n    x: 1\nl:\n- null\n- 1"
    );
    assert_eq!(
        yaml(OutputOptions { disable_none: true, ..Default::default() }),
        "b:\n  l:\n  - x: 1\na:\n  k:\n    x: 1\nl:\n- 1"
    );
    assert_eq!(
        yaml(OutputOptions { show_hidden: true, sort_keys: true, ..Default::default() }),
        "_h:\n  _i: 1\na:\n  k:\n    _p: 3\n    x: 1\nb:\n  l:\n  - _p: 3\n    x: 1\n  'n': null\nl:\n- null\n- 1"
    );
    assert_eq!(yaml_of(&Value::dict(dict(&[]))), "{}");
}

fn yaml_of(value: &Value) -> String {
    to_yaml(value, OutputOptions::default())
}

#[test]
fn type_paths_come_last_unless_sorted() {
    let options = OutputOptions { include_schema_type_path: true, ..Default::default() };
    assert_eq!(
        yaml(options),
        "b:\n  l:\n  - x: 1\n    _type: a.b.A\n  'n': null\n  _type: B\na:\n  k:\n    x: 1\n    _type: a.b.A\nl:\n- null\n- 1"
    );
    let options = OutputOptions { sort_keys: true, disable_none: true, ..options };
    assert_eq!(
        to_json(&globals(), options),
        "{\"a\": {\"k\": {\"_type\": \"a.b.A\", \"x\": 1}}, \"b\": {\"_type\": \"B\", \"l\": [{\"_type\": \"a.b.A\", \"x\": 1}]}, \"l\": [1]}"
    );
}

#[test]
fn a_list_of_dicts_is_a_stream() {
    let list = value("[{\"a\": 1}, {\"b\": \"x\\ny\"}]");
    assert_eq!(yaml_of(&list), "a: 1\n---\nb: |-\n  x\n  y\n");
    assert_eq!(to_json(&list, OutputOptions::default()), "{\"a\": 1}\n{\"b\": \"x\\ny\"}");
    assert_eq!(yaml_of(&value("[1, {\"a\": 1}]")), "- 1\n- a: 1");
    assert_eq!(yaml_of(&value("1")), "1");
}

#[test]
fn a_block_of_text_at_the_end_keeps_its_line_break() {
    for (source, expected) in [
        ("{\"r\": \"a\\nb\"}", "r: |-\n  a\n  b\n"),
        ("{\"r\": \"a\\n b\"}", "r: |-\n  a\n   b"),
        ("{\"r\": \" a\\nb\"}", "r: |2-\n   a\n  b"),
        ("{\"r\": \"a\\n\\n\"}", "r: |+\n  a\n\n"),
        ("{\"r\": [\"a\\nb\"]}", "r:\n- |-\n  a\n  b"),
        ("{\"r\": {\"x\": \"a\\nb\"}}", "r:\n  x: |-\n    a\n    b\n"),
        ("{\"r\": \"a\\nb\", \"s\": 1}", "r: |-\n  a\n  b\ns: 1"),
    ] {
        assert_eq!(yaml_of(&value(source)), expected, "{source}");
    }
}

#[test]
fn toml() {
    let options = OutputOptions { disable_none: true, ..Default::default() };
    assert_eq!(to_toml(&globals(), options).unwrap(), "l = [1]\n[[b.l]]\nx = 1\n[a.k]\nx = 1\n");
    let fault = to_toml(&globals(), OutputOptions::default()).unwrap_err();
    assert_eq!(
        fault.message,
        "null array element cannot be represented in TOML (TOML has no null)"
    );
}

#[test]
fn selecting() {
    let find = |path: &str| select(&globals(), path).map(|value| yaml_of(&value));
    assert_eq!(find("a.k.x").unwrap(), "1");
    assert_eq!(find("b.l.0").unwrap(), "x: 1");
    for path in ["nope", "b.l.9", "a.k.x.y", "", "b.l.-1"] {
        let message = format!("invalid path select operand {path}, value not found");
        assert_eq!(find(path).unwrap_err().message, message);
    }
}

#[test]
fn selecting_several() {
    let find = |paths: &[&str], show_hidden| {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        let options = OutputOptions { show_hidden, ..Default::default() };
        select_all(&globals(), &paths, options).map(|value| to_yaml(&value, options))
    };
    assert_eq!(find(&["a", "b.l.0"], false).unwrap(), "k:\n  x: 1\n---\nx: 1");
    assert_eq!(find(&["a.k.x", "a.k"], false).unwrap(), "- 1\n- x: 1");
    assert_eq!(find(&["_h"], true).unwrap(), "_i: 1");
    assert_eq!(
        find(&["_h"], false).unwrap_err().message,
        "invalid path select operand _h, value not found"
    );
    assert_eq!(find(&[], false).unwrap(), yaml(OutputOptions::default()));
}
