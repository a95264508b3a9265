//! Tests of policies: what they say about objects, and which requests they select.

use super::check::problems;
use super::*;
use serde_json::json;

fn subject<'a>(object: &'a Value, request: &'a Value) -> Subject<'a> {
    Subject {
        object,
        old_object: &Value::Null,
        request,
        namespace: &Value::Null,
        params: &Value::Null,
        authorizer: None,
    }
}

fn policy(spec: &Value) -> Policy {
    Policy::read(&json!({"kind": "ValidatingAdmissionPolicy", "spec": spec}))
}

#[test]
fn rules_conditions_and_variables_decide() {
    let policy = policy(&json!({
        "matchConditions": [{"name": "a", "expression": "object.kind == 'A'"}],
        "variables": [
            {"name": "n", "expression": "size(object.list)"},
            {"name": "twice", "expression": "variables.n * 2"},
            {"name": "bad", "expression": "object.nothing"},
        ],
        "validations": [
            {"expression": "object.list.all(n, n > 0) && variables.twice < 6", "message": "too long"},
            {"expression": "object.?name.orValue('x') == 'x'",
                "messageExpression": "'name is ' + object.name", "reason": "Forbidden"},
            {"expression": "!has(object.fail) || variables.bad == 1"},
        ],
    }));
    let found = |object: Value| -> Vec<String> {
        policy
            .validate(&subject(&object, &Value::Null))
            .into_iter()
            .map(|it| format!("{}: {}", it.reason, it.message))
            .collect()
    };
    assert!(found(json!({"kind": "B"})).is_empty());
    assert!(found(json!({"kind": "A", "list": [1, 2]})).is_empty());
    assert_eq!(found(json!({"kind": "A", "list": [1, 2, 3]})), ["Invalid: too long"]);
    assert_eq!(found(json!({"kind": "A", "list": [1], "name": "y"})), ["Forbidden: name is y"]);
    assert_eq!(
        found(json!({"kind": "A", "list": [1], "fail": 1})),
        ["Invalid: expression '!has(object.fail) || variables.bad == 1' resulted in error: \
          composited variable \"bad\" fails to evaluate: no such key: nothing"]
    );
}

#[test]
fn variables_cannot_grow_without_limit() {
    let doubled = |at: usize| {
        let text =
            if at == 0 { "'0123456789'".to_owned() } else { format!("variables.v{}", at - 1) };
        let list = if at == 0 { "[1]".to_owned() } else { format!("variables.l{}", at - 1) };
        [
            json!({"name": format!("v{at}"), "expression": format!("{text} + {text}")}),
            json!({"name": format!("l{at}"), "expression": format!("[{list}, {list}]")}),
        ]
    };
    for rule in ["variables.v60 == ''", "size(variables.l60) == 2"] {
        let policy = policy(&json!({
            "variables": (0..61).flat_map(doubled).collect::<Vec<_>>(),
            "validations": [{"expression": rule}],
        }));
        let found = policy.validate(&subject(&Value::Null, &Value::Null));
        assert!(found[0].message.contains("cost budget"), "{found:?}");
    }
}

#[test]
fn mutations_are_objects_and_patches() {
    let policy = Policy::read(&json!({"kind": "MutatingAdmissionPolicy", "spec": {"mutations": [
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression":
            "Object{spec: Object.spec{replicas: object.spec.replicas + 1, ?x: object.?x}}"}},
        {"patchType": "JSONPatch", "jsonPatch": {"expression":
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]"}},
    ]}}));
    let object = json!({"spec": {"replicas": 1}});
    let subject = subject(&object, &Value::Null);
    assert_eq!(policy.mutation(0, &subject), Ok(Mutation::Apply(json!({"spec": {"replicas": 2}}))));
    let operation = json!([{"op": "add", "path": "/metadata/labels/a~1b", "value": "c"}]);
    assert_eq!(policy.mutation(1, &subject), Ok(Mutation::Patch(operation)));
}

#[test]
fn types_are_checked_as_the_server_does() {
    let cases = [
        ("object.spec.x > 1 && object.a in ['b']", ""),
        ("object.spec.x > 1 && 2", "expected type 'bool' but found 'int'"),
        ("'a' + 1 == 'b'", "found no matching overload for '_+_' applied to '(string, int)'"),
        ("self.x == 1", "undeclared reference to 'self' (in container '')"),
        ("object.foo() == 1", "undeclared reference to 'foo' (in container '')"),
        ("object.x == [1, 'a'].size()", "expected type 'int' but found 'string'"),
        ("request.foo == 1", "undefined field 'foo'"),
        ("size(1) == 2", "found no matching overload for 'size' applied to '(int)'"),
        ("!1", "found no matching overload for '!_' applied to '(int)'"),
        (
            "request.userInfo.groups[0] == 1",
            "found no matching overload for '_==_' applied to '(string, int)'",
        ),
        ("authorizer.path('/x').check('get').allowed()", ""),
        ("b'abc' == b'abc' && quantity('1').isLessThan(quantity('2'))", ""),
        ("has(object)", "invalid argument to has() macro"),
        ("object.items.map(x, x.y).exists(i, i == 1)", ""),
        ("format.dns1123Label().validate(object.a).hasValue()", ""),
        ("optional.of(1).optMap(v, v + 1).orValue(0) == 2", ""),
    ];
    for (source, wanted) in cases {
        let found = problems(source);
        assert_eq!(found.first().map_or("", |it| &*it.1), wanted, "{source}");
    }
}

#[test]
fn policies_are_checked_against_types_of_kinds() {
    let policy = json!({"spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
            "operations": ["CREATE"], "resources": ["deployments"]}]},
        "validations": [{"expression": "object.spec.replicas == 'a'"},
            {"expression": "object.spec.replicas > 1"}],
    }});
    let builtin = crate::builtin();
    let named = named_resources(&policy);
    let (group, version, resource) = &named[0];
    let info = builtin.resource(group, version, resource).unwrap();
    let kind = TypedKind { group, version, kind: &info.kind, types: &builtin.types, root: info.ty };
    let found = type_warnings(&policy, &[kind]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "spec.validations[0].expression");
    assert_eq!(
        found[0].1,
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' \
         applied to '(int, string)'\n | object.spec.replicas == 'a'\n | .....................^\n"
    );
}

#[test]
fn requests_are_selected_by_rules_and_labels() {
    let (object, labels) = (json!({"metadata": {"labels": {"a": "b"}}}), json!({"team": "x"}));
    let versions =
        [("apps".to_owned(), "v1".to_owned()), ("apps".to_owned(), "v1beta1".to_owned())];
    let request = Request {
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "",
        operation: "CREATE",
        namespaced: true,
        name: "web",
        namespace_labels: Some(&labels),
        object: &object,
        old_object: &Value::Null,
        versions: &versions,
    };
    let constraints = |resource: &str, version: &str, more: Value| {
        let mut made = json!({"resourceRules": [{"apiGroups": ["apps"], "apiVersions": [version],
            "operations": ["CREATE"], "resources": [resource]}]});
        made.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        made
    };
    let found = |it: &Value| matches(it, "resourceRules", &request).map(|it| it.1);
    assert_eq!(found(&constraints("deployments", "v1", json!({}))), Some("v1"));
    assert_eq!(found(&constraints("deployments/*", "v1", json!({}))), Some("v1"));
    assert_eq!(found(&constraints("deployments/scale", "v1", json!({}))), None);
    assert_eq!(found(&constraints("*", "v1beta1", json!({}))), Some("v1beta1"));
    assert_eq!(found(&constraints("*", "v1beta1", json!({"matchPolicy": "Exact"}))), None);
    let selector = |value: &str| json!({"objectSelector": {"matchLabels": {"a": value}}});
    assert_eq!(found(&constraints("*", "v1", selector("b"))), Some("v1"));
    assert_eq!(found(&constraints("*", "v1", selector("c"))), None);
    let namespaces = json!({"namespaceSelector": {"matchLabels": {"team": "y"}}});
    assert_eq!(found(&constraints("*", "v1", namespaces)), None);
    let excluded = json!({"excludeResourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
        "operations": ["*"], "resources": ["*"], "resourceNames": ["web"]}]});
    assert_eq!(found(&constraints("*", "v1", excluded)), None);
}
