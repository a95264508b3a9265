//! Proposed states and the rules of plans, on small schemas. `terraform-suite` compares with
//! `terraform` itself.

use super::*;
use crate::schema::{Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting};
use kusion_cty::{Type, convert};
use serde_json::{Value as Json, json};

/// An attribute by its properties: `r`equired, `o`ptional, `c`omputed, `w`rite-only.
fn attribute(properties: &str, kind: AttributeKind) -> Attribute {
    Attribute {
        kind,
        is_required: properties.contains('r'),
        is_optional: properties.contains('o'),
        is_computed: properties.contains('c'),
        is_sensitive: false,
        is_write_only: properties.contains('w'),
        is_deprecated: false,
        description: String::new(),
    }
}

fn text(properties: &str) -> Attribute {
    attribute(properties, AttributeKind::Value(Type::String))
}

fn block<const N: usize, const M: usize>(
    attributes: [(&str, Attribute); N],
    blocks: [(&str, NestedBlock); M],
) -> Block {
    Block {
        attributes: attributes.into_iter().map(|(name, it)| (name.into(), it)).collect(),
        blocks: blocks.into_iter().map(|(name, it)| (name.into(), it)).collect(),
        ..Block::default()
    }
}

fn entries() -> Block {
    block([("key", text("r")), ("value", text("oc")), ("seen", text("c"))], [])
}

fn nested_block(nesting: Nesting) -> NestedBlock {
    NestedBlock { block: entries(), nesting, min_items: 0, max_items: 0 }
}

fn schema() -> Block {
    let nested = |nesting| {
        let attributes = entries().attributes;
        AttributeKind::Nested(NestedAttributes { attributes, nesting })
    };
    block(
        [
            ("id", text("c")),
            ("name", text("r")),
            ("mode", text("oc")),
            ("token", text("ow")),
            ("extra", attribute("oc", nested(Nesting::Single))),
            ("zones", attribute("o", nested(Nesting::Map))),
        ],
        [
            ("list", nested_block(Nesting::List)),
            ("set", nested_block(Nesting::Set)),
            ("map", nested_block(Nesting::Map)),
            ("single", nested_block(Nesting::Single)),
        ],
    )
}

/// Reads a value of the schema: `?` is unknown, and what is left out is not set.
fn value(json: &Json) -> Value {
    if json.is_null() {
        return Value::Null;
    }
    let Value::Map(mut fields) = schema().empty() else { unreachable!("an object") };
    let ty = schema().ty();
    let read = convert::from_plain(json, &ty, &|text| text == "?").expect("a value");
    let Value::Map(read) = read else { unreachable!("an object") };
    fields.extend(read.into_iter().filter(|(_, it)| !it.is_null()));
    Value::Map(fields)
}

#[track_caller]
fn proposes(prior: &Json, config: &Json, expected: &Json) {
    let found = proposed_new(&schema(), &value(prior), &value(config));
    assert_eq!(found, value(expected));
}

#[test]
fn what_the_configuration_leaves_open_stays_as_it_is() {
    proposes(&json!(null), &json!({"name": "a"}), &json!({"name": "a"}));
    proposes(
        &json!({"id": "1", "name": "a", "mode": "auto"}),
        &json!({"name": "b"}),
        &json!({"id": "1", "name": "b", "mode": "auto"}),
    );
    proposes(
        &json!({"id": "1", "name": "a", "mode": "auto"}),
        &json!({"name": "?", "mode": "own", "token": "t"}),
        &json!({"id": "1", "name": "?", "mode": "own"}),
    );
    proposes(&json!({"id": "1", "name": "a"}), &json!(null), &json!(null));
}

#[test]
fn blocks_are_matched_by_index_and_key() {
    let old = json!({"key": "a", "value": "v", "seen": "s"});
    for (name, prior, config, expected) in [
        (
            "list",
            json!([old]),
            json!([{"key": "b"}, {"key": "c"}]),
            json!([{"key": "b", "value": "v", "seen": "s"}, {"key": "c"}]),
        ),
        ("list", json!([old]), json!([]), json!([])),
        (
            "map",
            json!({"x": old}),
            json!({"x": {"key": "b"}, "y": {"key": "c"}}),
            json!({"x": {"key": "b", "value": "v", "seen": "s"}, "y": {"key": "c"}}),
        ),
        (
            "single",
            old.clone(),
            json!({"key": "b"}),
            json!({"key": "b", "value": "v", "seen": "s"}),
        ),
        (
            "zones",
            json!({"x": old}),
            json!({"x": {"key": "b"}}),
            json!({"x": {"key": "b", "value": "v", "seen": "s"}}),
        ),
    ] {
        proposes(
            &json!({"name": "a", name: prior}),
            &json!({"name": "a", name: config}),
            &json!({"name": "a", name: expected}),
        );
    }
    proposes(&json!({"name": "a", "single": old}), &json!({"name": "a"}), &json!({"name": "a"}));
}

#[test]
fn elements_of_sets_are_matched_by_what_was_configured() {
    let prior = json!([
        {"key": "a", "value": "given", "seen": "1"}, {"key": "b", "value": "own", "seen": "2"},
    ]);
    let config = json!([{"key": "b", "value": "own"}, {"key": "a"}, {"key": "c"}]);
    let expected = json!([
        {"key": "a", "value": "given", "seen": "1"}, {"key": "b", "value": "own", "seen": "2"},
        {"key": "c"},
    ]);
    proposes(
        &json!({"name": "n", "set": prior}),
        &json!({"name": "n", "set": config}),
        &json!({"name": "n", "set": expected}),
    );
    // A value that was not configured before is another element, too.
    let config = json!([{"key": "a", "value": "?"}]);
    proposes(
        &json!({"name": "n", "set": [{"key": "a", "seen": "1"}]}),
        &json!({"name": "n", "set": config}),
        &json!({"name": "n", "set": config}),
    );
    // A configured value that changed is another element.
    let config = json!([{"key": "b", "value": "new"}]);
    proposes(
        &json!({"name": "n", "set": prior}),
        &json!({"name": "n", "set": config}),
        &json!({"name": "n", "set": config}),
    );
}

#[test]
fn a_nested_value_that_was_configured_is_removed() {
    let extra = json!({"key": "a", "value": "v", "seen": "s"});
    proposes(&json!({"name": "n", "extra": extra}), &json!({"name": "n"}), &json!({"name": "n"}));
}

#[test]
fn a_plan_follows_the_configuration() {
    let check = |prior: &Json, config: &Json, planned: &Json| {
        check_planned(&schema(), &value(prior), &value(config), &value(planned))
    };
    let (none, config) = (json!(null), json!({"name": "a", "list": [{"key": "x"}]}));
    let fine = json!({"name": "a", "id": "?", "mode": "any", "list": [{"key": "x", "seen": "?"}]});
    assert_eq!(check(&none, &config, &fine), [""; 0]);
    for (planned, message) in [
        (json!(null), "the resource is configured, but not planned"),
        (
            json!({"name": "b", "list": [{"key": "x"}]}),
            "`name` is planned with another value than the configured one",
        ),
        (json!({"name": "a", "list": []}), "`list` is planned with another number of elements"),
        (
            json!({"name": "a", "list": [{"key": "y"}]}),
            "`list[0].key` is planned with another value than the configured one",
        ),
        (
            json!({"name": "a", "token": "t", "list": [{"key": "x"}]}),
            "`token` is write-only, but planned",
        ),
        (
            json!({"name": "a", "single": {"key": "k"}, "list": [{"key": "x"}]}),
            "`single` is planned, but not configured",
        ),
    ] {
        assert_eq!(check(&none, &config, &planned), [message]);
    }
    // A provider may keep a prior value that means the same.
    let prior = json!({"name": "A", "list": [{"key": "x"}]});
    assert_eq!(check(&prior, &config, &prior), [""; 0]);
}

#[test]
fn a_result_follows_its_plan() {
    let check =
        |planned: &Json, actual: &Json| check_applied(&schema(), &value(planned), &value(actual));
    let planned = json!({"name": "a", "id": "?", "set": [{"key": "x", "seen": "?"}, {"key": "y", "seen": "?"}]});
    let fine = json!({"name": "a", "id": "1", "set": [{"key": "y", "seen": "2"}, {"key": "x", "seen": "9"}]});
    assert_eq!(check(&planned, &fine), [""; 0]);
    for (actual, message) in [
        (json!(null), "the resource is planned to be present, but absent"),
        (json!({"name": "b", "id": "1", "set": fine["set"]}), "`name` is not as planned"),
        (json!({"name": "a", "id": "?", "set": fine["set"]}), "`id` is still unknown"),
        (
            json!({"name": "a", "id": "1", "set": [{"key": "z", "seen": "2"}]}),
            "`set` is not as planned",
        ),
        (
            json!({"name": "a", "id": "1", "mode": "m", "set": fine["set"]}),
            "`mode` is not as planned",
        ),
    ] {
        assert_eq!(check(&planned, &actual), [message]);
    }
}

#[test]
fn only_real_changes_need_a_new_object() {
    let path = |name: &str| Path::default().attribute(name);
    let (prior, planned) =
        (value(&json!({"name": "a", "mode": "x"})), value(&json!({"name": "b", "mode": "x"})));
    let found = changed_paths(&[path("name"), path("mode"), path("none")], &prior, &planned);
    assert_eq!(found, [path("name")]);
    let open = value(&json!({"name": "a", "mode": "?"}));
    assert_eq!(changed_paths(&[path("mode")], &prior, &open), [path("mode")]);
}
