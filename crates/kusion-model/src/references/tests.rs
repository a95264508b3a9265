//! Tests of references.

use super::*;
use serde_json::json;

const IDS: [&str; 6] = [
    "v1:Namespace:demo",
    "networking.k8s.io/v1:Ingress:demo:web",
    "rbac.authorization.k8s.io/v1:ClusterRole:system:node",
    "v1:ConfigMap:demo:a",
    "v1:ConfigMap:demo:a.data",
    "hashicorp:random:random_password:db",
];

fn index() -> IdIndex {
    let ids: Vec<ResourceId> = IDS.iter().map(|id| ResourceId::new(*id)).collect();
    IdIndex::new(&ids)
}

/// Shows segments: text in quotes, references as `id path`.
fn shown(text: &str) -> String {
    match find(text, &index()) {
        Ok(segments) => {
            let segments = segments.iter().map(|segment| match segment {
                Segment::Text(text) => format!("'{text}'"),
                Segment::Reference(it) => format!("<{} {}>", it.id, it.path),
            });
            segments.collect::<Vec<_>>().join(" ")
        }
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn ids_with_dots_and_colons_are_found() {
    assert_eq!(
        shown("$kusion_path.networking.k8s.io/v1:Ingress:demo:web.spec.rules.0.host"),
        "<networking.k8s.io/v1:Ingress:demo:web spec.rules.0.host>"
    );
    assert_eq!(
        shown("$kusion_path.rbac.authorization.k8s.io/v1:ClusterRole:system:node.metadata.name"),
        "<rbac.authorization.k8s.io/v1:ClusterRole:system:node metadata.name>"
    );
    assert_eq!(
        shown("$kusion_path.hashicorp:random:random_password:db.result"),
        "<hashicorp:random:random_password:db result>"
    );
}

#[test]
fn the_spelling_of_the_slide_is_read() {
    assert_eq!(
        shown("$kusion_path.v1:namespace:demo:metadata.name"),
        "<v1:Namespace:demo metadata.name>"
    );
}

#[test]
fn the_longest_id_with_a_path_wins() {
    assert_eq!(shown("$kusion_path.v1:ConfigMap:demo:a.data.x"), "<v1:ConfigMap:demo:a.data x>");
    assert_eq!(shown("$kusion_path.v1:ConfigMap:demo:a.data"), "<v1:ConfigMap:demo:a data>");
}

#[test]
fn paths_have_indexes_and_quoted_keys() {
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo.metadata.labels[\"a/b.c\"]"),
        "<v1:Namespace:demo metadata.labels[\"a/b.c\"]>"
    );
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo.x[10]['y z'].w"),
        "<v1:Namespace:demo x[10][\"y z\"].w>"
    );
    assert_eq!(shown("$kusion_path.v1:Namespace:demo[\"x\"]"), "<v1:Namespace:demo x>");
}

#[test]
fn several_references_in_a_text() {
    assert_eq!(
        shown(
            "http://$kusion_path.v1:Namespace:demo.metadata.name:80/$kusion_path.v1:ConfigMap:demo:a.kind."
        ),
        "'http://' <v1:Namespace:demo metadata.name> ':80/' <v1:ConfigMap:demo:a kind> '.'"
    );
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo.metadata[\"name\"]-x"),
        "<v1:Namespace:demo metadata.name> '-x'"
    );
}

#[test]
fn an_escape_is_plain_text() {
    assert_eq!(shown("a $$kusion_path.v1:x b"), "'a $kusion_path.v1:x b'");
    assert_eq!(shown("$kusion_paths"), "'$kusion_paths'");
    assert_eq!(shown(""), "''");
}

#[test]
fn errors_say_what_is_meant() {
    assert_eq!(
        shown("x $kusion_path.v1:Namspace:demo.metadata.name y"),
        "error: unresolved reference \
         `$kusion_path.v1:Namspace:demo.metadata.name`: no such resource; did you mean `v1:Namespace:demo`?"
    );
    assert_eq!(
        shown("$kusion_path.totally:other.x"),
        "error: unresolved reference `$kusion_path.totally:other.x`: no such resource"
    );
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo"),
        "error: unresolved reference `$kusion_path.v1:Namespace:demo`: no such resource; \
         did you mean `v1:Namespace:demo`?"
    );
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo[x]"),
        "error: `$kusion_path.v1:Namespace:demo[x]`: expected a number or a quoted key in brackets"
    );
    assert_eq!(
        shown("$kusion_path.v1:Namespace:demo[\"x"),
        "error: `$kusion_path.v1:Namespace:demo[`: missing closing quote"
    );
}

#[test]
fn values_keep_their_type_or_become_text() {
    let attributes = json!({"a": {"ports": [{"port": 80}], "on": true, "list": [1]}});
    let lookup = |reference: &Reference| match reference.find(&attributes) {
        _ if reference.path.0[0] == PathStep::Key("status".into()) => Ok(Lookup::Later),
        Some(value) => Ok(Lookup::Known(value.clone())),
        None => {
            Err(ReferenceError::NoValue { id: reference.id.clone(), path: reference.path.clone() })
        }
    };
    let value = json!({
        "port": "$kusion_path.v1:Namespace:demo.a.ports.0.port",
        "index": "$kusion_path.v1:Namespace:demo.a.ports[0]",
        "text": ["p=$kusion_path.v1:Namespace:demo.a.ports[0].port on=$kusion_path.v1:Namespace:demo.a.on"],
        "later": "ip $kusion_path.v1:Namespace:demo.status.ip",
        "n": 1,
    });
    let resolved = resolve(&value, &index(), lookup).expect("all is known");
    assert_eq!(
        resolved.value,
        json!({
            "port": 80, "index": {"port": 80}, "text": ["p=80 on=true"],
            "later": "ip $kusion_path.v1:Namespace:demo.status.ip", "n": 1,
        })
    );
    assert_eq!(resolved.unknown, [FieldPath::default().key("later")]);
    let error = |text: &str| resolve(&json!(text), &index(), lookup).expect_err("an error");
    assert_eq!(
        error("$kusion_path.v1:Namespace:demo.a.x").to_string(),
        "`v1:Namespace:demo` has no `a.x`"
    );
    assert_eq!(
        error("x $kusion_path.v1:Namespace:demo.a.list").to_string(),
        "`a.list` of `v1:Namespace:demo` is a list, which cannot be part of a string"
    );
}

#[test]
fn odd_texts_do_no_harm() {
    for text in [
        "$kusion_path.",
        "$kusion_path.v1",
        "$kusion_path.:",
        "$kusion_path.ü:ü.ü",
        "$$",
        "$kusion_path",
        "$kusion_path.v1:Namespace:demo.",
        "$kusion_path.v1:Namespace:demo..",
        "$kusion_path.v1:Namespace:demo[",
        "$kusion_path.v1:Namespace:demo[\"\\",
        "$$kusion_path$kusion_path.",
        "$kusion_path.v1:Namespace:demo:[0",
    ] {
        let _ = find(text, &index());
        let _ = find(text, &IdIndex::default());
    }
    let mut deep = json!("x");
    for _ in 0..1000 {
        deep = json!([deep]);
    }
    let found = resolve(&deep, &index(), |_| Ok(Lookup::Later));
    assert_eq!(found, Err(ReferenceError::TooDeep));
    // Taking it apart level by level, as a deep value falls apart by recursion.
    while let Value::Array(mut items) = deep {
        deep = items.pop().unwrap_or_default();
    }
}

#[test]
fn other_spellings_are_written_out() {
    let id = ResourceId::new("v1:ConfigMap:shop:a");
    let mut ids = IdIndex::new([&id]);
    ids.insert("v1:ConfigMap:a", &id);
    let check = |text: &str, expected: &str| {
        let mut value = serde_json::json!({"x": [text]});
        spell_out(&mut value, &ids);
        assert_eq!(value["x"][0], expected, "{text}");
    };
    check("$kusion_path.v1:ConfigMap:a.data.x", "$kusion_path.v1:ConfigMap:shop:a.data.x");
    check(
        "é $kusion_path.v1:configmap:a:data.x-$kusion_path.v1:ConfigMap:a.data.y.",
        "é $kusion_path.v1:ConfigMap:shop:a:data.x-$kusion_path.v1:ConfigMap:shop:a.data.y.",
    );
    for same in [
        "$kusion_path.v1:ConfigMap:shop:a.data.x",
        "$$kusion_path.v1:ConfigMap:a.data.x",
        "$kusion_path",
        "$kusion_path.",
        "$kusion_pathé.v1:ConfigMap:a.data.x",
        "$kusion_path.v1:ConfigMap:b.data.x",
    ] {
        check(same, same);
    }
}
