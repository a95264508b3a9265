//! Tests of schemas of custom kinds.

use super::*;
use crate::cause::join_causes;
use crate::decode::strict_error;
use crate::model::{ListKind, Type};
use serde_json::json;

fn sample() -> Structural {
    let spec = json!({
        "type": "object", "required": ["size"],
        "properties": {
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "size": {"type": "integer", "minimum": 1, "maximum": 10, "format": "int32"},
            "ex": {"type": "integer", "minimum": 1, "exclusiveMinimum": true},
            "num": {"type": "number", "multipleOf": 0.5},
            "flag": {"type": "boolean"},
            "port": {"x-kubernetes-int-or-string": true},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "items": {"type": "array", "minItems": 1, "maxItems": 2,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "v": {"type": "string", "nullable": true},
                    "number": {"type": "integer", "default": 3}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "m": {"type": "object", "maxProperties": 2,
                "additionalProperties": {"type": "string", "maxLength": 3, "minLength": 2}},
            "any": {"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^a"}]},
            "one": {"type": "string", "oneOf": [{"minLength": 3}, {"pattern": "^a"}]},
            "all": {"type": "string", "allOf": [{"minLength": 3}, {"pattern": "^a"}]},
            "nt": {"type": "string", "not": {"pattern": "^a"}},
            "anyo": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "dt": {"type": "string", "format": "date-time"},
            "choice": {"type": "integer", "enum": [1, 2]},
            "nul": {"type": "string", "nullable": true, "default": "x"},
            "od": {"type": "object", "default": {}, "properties": {"a": {"type": "string", "default": "aa"}}},
            "deep": {"type": "object", "properties": {"a": {"type": "object", "required": ["b"],
                "properties": {"b": {"type": "string"}}}}},
        },
    });
    let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": spec}});
    structural(&schema, "spec.validation.openAPIV3Schema").expect("structural")
}

/// Specs and what a real server says about them.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn objects_are_refused_in_the_words_of_the_server() {
    let schema = sample();
    for (spec, message) in [
        (
            json!({"size": 0}),
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (
            json!({"size": 11}),
            "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
        ),
        (
            json!({"size": 1.5}),
            "[spec.size: Invalid value: \"float64\": spec.size in body must be of type int32: \"float64\", <nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.size]",
        ),
        (
            json!({"size": "x"}),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
        ),
        (json!({}), "spec.size: Required value"),
        (json!({"size": null}), "spec.size: Required value"),
        (
            json!({"size": 1, "ex": 1}),
            "spec.ex: Invalid value: 1: spec.ex in body should be greater than 1",
        ),
        (
            json!({"size": 1, "num": 0.3}),
            "spec.num: Invalid value: 0.3: spec.num in body should be a multiple of 0.5",
        ),
        (
            json!({"size": 1, "flag": "x"}),
            "spec.flag: Invalid value: \"string\": spec.flag in body must be of type boolean: \"string\"",
        ),
        (
            json!({"size": 1, "port": true}),
            "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\"",
        ),
        (
            json!({"size": 1, "port": 1.5}),
            "spec.port: Invalid value: \"number\": spec.port in body must be of type integer,string: \"number\"",
        ),
        (
            json!({"size": 1, "template": {}}),
            "[spec.template.apiVersion: Required value, spec.template.kind: Required value]",
        ),
        (
            json!({"size": 1, "items": []}),
            "spec.items: Invalid value: 0: spec.items in body should have at least 1 items",
        ),
        (
            json!({"size": 1, "items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
            "spec.items: Too many: 3: must have at most 2 items",
        ),
        (
            json!({"size": 1, "items": [{"name": "a"}, {"name": "a"}]}),
            "spec.items[1]: Duplicate value: {\"name\":\"a\"}",
        ),
        (json!({"size": 1, "items": [{}]}), "spec.items[0].name: Required value"),
        (
            json!({"size": 1, "items": ["x"]}),
            "[spec.items[0]: Invalid value: \"string\": spec.items[0] in body must be of type object: \"string\", spec.items[0]: Invalid value: \"x\": must be an object for an array of list-type map]",
        ),
        (json!({"size": 1, "set": ["a", "a"]}), "spec.set[1]: Duplicate value: \"a\""),
        (
            json!({"size": 1, "m": {"a": "aaaa"}}),
            "spec.m.a: Too long: may not be more than 3 bytes",
        ),
        (
            json!({"size": 1, "m": {"a": "a"}}),
            "spec.m.a: Invalid value: \"a\": spec.m.a in body should be at least 2 chars long",
        ),
        (
            json!({"size": 1, "m": {"a": "aa", "b": "bb", "c": "cc"}}),
            "spec.m: Too many: 3: must have at most 2 items",
        ),
        (
            json!({"size": 1, "any": "b"}),
            "[<nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf), spec.any: Invalid value: \"b\": spec.any in body should be at least 3 chars long]",
        ),
        (
            json!({"size": 1, "one": "aaa"}),
            "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
        ),
        (
            json!({"size": 1, "one": "b"}),
            "[<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found none valid, spec.one: Invalid value: \"b\": spec.one in body should be at least 3 chars long]",
        ),
        (
            json!({"size": 1, "all": "b"}),
            "[spec.all: Invalid value: \"b\": spec.all in body should be at least 3 chars long, spec.all: Invalid value: \"b\": spec.all in body should match '^a', <nil>: Invalid value: \"\": \"spec.all\" must validate all the schemas (allOf). None validated]",
        ),
        (
            json!({"size": 1, "nt": "a"}),
            "<nil>: Invalid value: \"\": \"spec.nt\" must not validate the schema (not)",
        ),
        (
            json!({"size": 1, "anyo": {}}),
            "[<nil>: Invalid value: \"\": \"spec.anyo\" must validate at least one schema (anyOf), spec.anyo.a: Required value]",
        ),
        (
            json!({"size": 1, "dt": "x"}),
            "spec.dt: Invalid value: \"x\": spec.dt in body must be of type date-time: \"x\"",
        ),
        (
            json!({"size": 1, "choice": 3}),
            "spec.choice: Unsupported value: 3: supported values: \"1\", \"2\"",
        ),
        (
            json!({"size": 1, "color": "green"}),
            "spec.color: Unsupported value: \"green\": supported values: \"red\", \"blue\"",
        ),
        (json!({"size": 1, "deep": {"a": {}}}), "spec.deep.a.b: Required value"),
        (
            json!("x"),
            "spec: Invalid value: \"string\": spec in body must be of type object: \"string\"",
        ),
    ] {
        let mut object = json!({"spec": spec});
        schema.default(&mut object);
        assert_eq!(join_causes(&schema.validate(&object)), message, "{spec}");
    }
}

#[test]
fn defaults_fill_gaps_and_nulls() {
    let schema = sample();
    for (given, expected) in [
        (json!({"size": 1}), json!({"size": 1, "color": "red", "nul": "x", "od": {"a": "aa"}})),
        (
            json!({"size": 1, "nul": null, "color": null, "od": null, "deep": {"a": null}}),
            json!({"size": 1, "color": "red", "nul": null, "od": {"a": "aa"}, "deep": {}}),
        ),
        (
            json!({"size": 1, "items": [{"name": "a", "v": null}]}),
            json!({"size": 1, "color": "red", "nul": "x", "od": {"a": "aa"},
                "items": [{"name": "a", "v": null, "number": 3}]}),
        ),
    ] {
        let mut object = json!({"spec": given});
        schema.default(&mut object);
        assert_eq!(object, json!({"spec": expected}));
        assert_eq!(schema.validate(&object), []);
    }
}

fn decode_text(body: &str) -> Result<Decoded, String> {
    sample().decode("Val", "example.com/v1", body.as_bytes(), Format::Json)
}

#[test]
fn unknown_fields_are_named_and_gone() {
    let body = r#"{"apiVersion":"example.com/v1","kind":"Val","metadata":{"name":"a","foo":1},
        "spec":{"size":1,"size":2,"foo":1,"free":{"x":1,"known":{"a":"1","z":1}},
        "template":{"apiVersion":"v1","kind":"Pod","metadata":{"foo":1},"x":1}},"x":1}"#;
    let decoded = decode_text(body).expect("an object");
    assert_eq!(
        strict_error(&decoded.findings).as_deref(),
        Some(
            "strict decoding error: duplicate field \"spec.size\", unknown field \"metadata.foo\", \
             unknown field \"spec.foo\", unknown field \"spec.free.known.z\", \
             unknown field \"spec.template.metadata.foo\", unknown field \"x\""
        )
    );
    assert_eq!(decoded.value["spec"]["free"], json!({"x": 1, "known": {"a": "1"}}));
    assert_eq!(decoded.value["metadata"], json!({"name": "a"}));
}

#[test]
fn bodies_must_be_of_the_kind() {
    for (body, message) in [
        (
            r#"{"apiVersion":"example.com/v1","kind":"Val","metadata":{"name":1}}"#,
            "Val in version \"v1\" cannot be handled as a Val: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
        (
            r#"{"kind":"Val"}"#,
            "the API version in the data () does not match the expected API version (example.com/v1)",
        ),
        (
            r#"{"apiVersion":"example.com/v1"}"#,
            "the object provided is unrecognized (must be of type Val): Object 'Kind' is missing in '{\"apiVersion\":\"example.com/v1\"}' ({\"apiVersion\":\"example.com/v1\" ...)",
        ),
        (
            r#"{"apiVersion":"example.com/v1","kind":"Val","metadata":"x"}"#,
            "Val in version \"v1\" cannot be handled as a Val: json: cannot unmarshal string into Go value of type v1.ObjectMeta",
        ),
    ] {
        assert_eq!(decode_text(body).expect_err(body), message);
    }
}

#[test]
fn schemas_must_be_structural() {
    let path = "spec.validation.openAPIV3Schema";
    for (schema, message) in [
        (
            json!({}),
            "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root",
        ),
        (
            json!({"type": "string"}),
            "spec.validation.openAPIV3Schema.type: Invalid value: \"string\": must be object at the root",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "array"}}}),
            "spec.validation.openAPIV3Schema.properties[a].items: Required value: must be specified",
        ),
        (
            json!({"type": "object", "properties": {"a": {}}}),
            "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (
            json!({"type": "object", "anyOf": [{"properties": {"b": {"minimum": 1}}}]}),
            "spec.validation.openAPIV3Schema.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[b]",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "default": true}}}),
            "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: \"boolean\":  in body must be of type string: \"boolean\"",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"type": "string"}]}}}),
            "spec.validation.openAPIV3Schema.properties[a].oneOf[0].type: Forbidden: must be empty to be structural",
        ),
    ] {
        let causes = structural(&schema, path).expect_err("not structural");
        assert_eq!(join_causes(&causes), message, "{schema}");
    }
    let fine = json!({"type": "object", "properties": {"p": {"x-kubernetes-int-or-string": true,
        "anyOf": [{"type": "integer"}, {"type": "string"}]}}});
    assert!(structural(&fine, path).is_ok());
}

#[test]
fn types_know_lists_and_metadata() {
    let schema = sample();
    let Type::Struct(root) = schema.types.get(schema.root) else { panic!("a struct") };
    let spec = root.field("spec").expect("a field");
    let Type::Struct(spec) = schema.types.get(spec.ty) else { panic!("a struct") };
    let Type::List(items) = schema.types.get(spec.field("items").expect("a field").ty) else {
        panic!("a list")
    };
    assert_eq!(items.kind, ListKind::Map(vec!["name".into()]));
    let Type::Struct(metadata) = schema.types.get(root.field("metadata").expect("a field").ty)
    else {
        panic!("a struct")
    };
    let owners = metadata.field("ownerReferences").expect("a field");
    assert!(
        matches!(schema.types.get(owners.ty), Type::List(list) if list.kind == ListKind::Map(vec!["uid".into()]))
    );
    assert!(matches!(schema.types.get(spec.field("m").expect("a field").ty), Type::Map(_)));
}

fn with_rules(spec: &Value) -> Result<Structural, String> {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    structural(&schema, "schema").map_err(|causes| join_causes(&causes))
}

#[test]
fn rules_are_checked_with_the_schema() {
    let rule = |rule: &str| {
        json!({"type": "object", "properties": {"x": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": rule}]})
    };
    let shown = |rule: &str| {
        format!(
            "schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {{\"Rule\":\"{rule}\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}}: compilation failed: ERROR: <input>:"
        )
    };
    for (text, message) in [
        ("self.z == 100", "1:5: undefined field 'z'\n | self.z == 100\n | ....^"),
        ("foo == 1", "1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^"),
        (
            "self.nofunc()",
            "1:12: undeclared reference to 'nofunc' (in container '')\n | self.nofunc()\n | ...........^",
        ),
        (
            "self = 42",
            "1:6: Syntax error: token recognition error at: '= '\n | self = 42\n | .....^",
        ),
    ] {
        let error = with_rules(&rule(text)).expect_err(text);
        assert_eq!(error, format!("{}{message}", shown(text)));
    }
    let expensive = json!({"type": "object", "properties": {"x": {"type": "array", "items": {
        "type": "array", "items": {"type": "string"},
        "x-kubernetes-validations": [{"rule": "self.all(s, s == 'string constant')"}]}}}});
    let error = with_rules(&expensive).expect_err("too expensive");
    assert!(
        error.contains("estimated rule cost exceeds budget by factor of more than 100x"),
        "{error}"
    );
}

#[test]
fn rules_are_run_on_objects() {
    let schema = with_rules(&json!({
        "type": "object",
        "x-kubernetes-validations": [
            {"rule": "self.x + self.y > 0"},
            {"rule": "!has(self.l) || self.l.all(x, self.l.all(y, y == x))"},
        ],
        "properties": {
            "x": {"type": "integer"}, "y": {"type": "integer"},
            "s": {"type": "string", "x-kubernetes-validations": [
                {"rule": "self.startsWith('a')", "message": "must start with a"}]},
            "num": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]},
            "l": {"type": "array", "maxItems": 725, "items": {"type": "integer"}},
            "r": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'q'",
                "reason": "FieldValueForbidden", "messageExpression": "'bad ' + self"}]},
            "o": {"type": "object", "properties": {"a": {"type": "string"}},
                "x-kubernetes-validations": [{"rule": "has(self.a)", "fieldPath": ".a",
                    "reason": "FieldValueRequired", "message": "a needed"}]},
        },
    }))
    .expect("structural");
    for (spec, message) in [
        (json!({"x": 0, "y": 0}), "spec: Invalid value: failed rule: self.x + self.y > 0"),
        (
            json!({"x": 1}),
            "spec: Invalid value: \"object\": no such key: y evaluating rule: self.x + self.y > 0",
        ),
        (json!({"x": 1, "y": 1, "s": "b"}), "spec.s: Invalid value: \"b\": must start with a"),
        (json!({"x": 1, "y": 1, "r": "z"}), "spec.r: Forbidden: bad z"),
        (json!({"x": 1, "y": 1, "o": {}}), "spec.o.a: Required value: a needed"),
        (
            json!({"x": 1, "y": 1, "l": vec![20; 725]}),
            "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: !has(self.l) || self.l.all(x, self.l.all(y, y == x))",
        ),
    ] {
        assert_eq!(join_causes(&schema.validate(&json!({"spec": spec}))), message);
    }
    let (old, new) =
        (json!({"spec": {"x": 1, "y": 1, "num": 3}}), json!({"spec": {"x": 1, "y": 1, "num": 2}}));
    assert_eq!(schema.validate(&old), []);
    assert_eq!(
        join_causes(&schema.validate_change(&new, Some(&old))),
        "spec.num: Invalid value: 2: failed rule: self > oldSelf"
    );
}

/// A small generator of JSON: the same numbers give the same values.
fn random(seed: &mut u64, depth: usize) -> Value {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let pick = (*seed >> 33) as usize;
    let words = [
        "type",
        "object",
        "properties",
        "spec",
        "items",
        "default",
        "anyOf",
        "array",
        "string",
        "x-kubernetes-list-type",
        "map",
        "required",
        "size",
        "metadata",
        "not",
        "enum",
        "pattern",
        "(",
        "additionalProperties",
        "allOf",
        "integer",
        "minimum",
        "format",
        "oneOf",
    ];
    match if depth == 0 { pick % 5 } else { pick % 9 } {
        0 => Value::Null,
        1 => json!(pick & 1 == 0),
        2 => json!((pick % 100) as f64 / 3.0),
        3 => json!(pick as i64 - 1_000_000),
        4 => words[pick / 16 % words.len()].into(),
        5 | 6 => (0..pick / 16 % 4).map(|_| random(seed, depth - 1)).collect(),
        _ => {
            let entries = (0..pick / 16 % 6).map(|at| {
                let key = words[(pick / 128 + at * 5) % words.len()].to_owned();
                (key, random(seed, depth - 1))
            });
            Value::Object(entries.collect())
        }
    }
}

#[test]
fn no_schema_and_no_object_makes_it_panic() {
    let fixed = sample();
    let mut seed = 7;
    let mut structurals = 0;
    for _ in 0..20_000 {
        let mut schema = random(&mut seed, 5);
        if let Value::Object(schema) = &mut schema {
            schema.insert("type".to_owned(), "object".into());
        }
        let mut object = random(&mut seed, 5);
        if let Ok(random) = structural(&schema, "spec") {
            structurals += 1;
            random.prune(&mut object.clone());
            random.default(&mut object);
            random.validate(&object);
        }
        let mut object = json!({"spec": object});
        let _ = fixed.clean(&mut object);
        fixed.default(&mut object);
        fixed.validate(&object);
    }
    assert!(structurals > 100, "{structurals}");
}

#[test]
fn a_rule_that_cannot_be_evaluated_does_not_hold() {
    let schema = with_rules(&json!({"type": "object", "properties": {"t": {"type": "string"}},
        "x-kubernetes-validations": [
            {"rule": "timestamp(self.t).getHours('Europe/Paris') >= 0"}]}))
    .expect("structural");
    let causes = schema.validate(&json!({"spec": {"t": "2026-01-01T00:00:00Z"}}));
    let text = join_causes(&causes);
    assert!(text.contains("the sandbox cannot evaluate the rule: timestamp(self.t)"), "{text}");
}

#[test]
fn costs_are_estimated_as_the_server_does() {
    let rule = |rule: &str| json!([{"rule": rule}]);
    // Schema of `spec`, and the factor by which the budget is exceeded; empty if it is not.
    let nested = json!({"type": "object", "properties": {"a": {"type": "array", "items": {
        "type": "object", "properties": {"b": {"type": "array", "items": {"type": "object",
            "properties": {"s": {"type": "string", "maxLength": 10}},
            "x-kubernetes-validations": rule("has(self.s) && self.s == 'a'")}}}}}}});
    assert_eq!(with_rules(&nested).map(drop), Ok(()));
    let text = json!({"type": "object", "properties": {"l": {"type": "array", "items": {
        "type": "string", "x-kubernetes-validations": rule("self.matches('^[a-z0-9]+$')")}}}});
    let error = with_rules(&text).expect_err("too expensive");
    assert!(error.contains("exceeds budget by factor of more than 100x"), "{error}");
    let bounded = json!({"type": "object", "properties": {"l": {"type": "array", "maxItems": 100,
        "items": {"type": "string", "maxLength": 100,
            "x-kubernetes-validations": rule("self.matches('^[a-z0-9]+$')")}}}});
    assert_eq!(with_rules(&bounded).map(drop), Ok(()));
}
