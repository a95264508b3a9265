//! Random sessions.

use super::{damage, objects};
use kusion_k8s_schema::{ResourceInfo, builtin};
use serde_json::{Value, json};
use testkit::Rng;

const NAMES: &[&str] = &["a", "b", "web", "default"];

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

const ACCEPTS: &[&str] = &[
    "",
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf",
    "*/*;q=0.5,text/html",
];

const QUERIES: &[&str] = &[
    "dryRun=All",
    "fieldManager=x",
    "fieldValidation=Strict",
    "fieldValidation=Ignore",
    "force=true",
    "watch=1",
    "timeoutSeconds=9223372036854775807",
    "timeoutSeconds=0",
    "limit=1",
    "limit=-1",
    "continue=eyJydiI6MSwic3RhcnQiOiJhIn0",
    "resourceVersion=0",
    "resourceVersion=101",
    "resourceVersion=18446744073709551615",
    "resourceVersionMatch=Exact",
    "sendInitialEvents=true",
    "allowWatchBookmarks=true",
    "labelSelector=a%3Db%2C!c",
    "labelSelector=a+in+(b%2Cc)",
    "fieldSelector=metadata.name%3Da",
    "fieldSelector=spec.nodeName!%3D",
    "propagationPolicy=Foreground",
    "gracePeriodSeconds=-9223372036854775808",
    "gracePeriodSeconds=9223372036854775807",
    "sinceSeconds=-9223372036854775808",
    "tailLines=-1",
    "limitBytes=0",
    "pretty=true",
    "includeObject=None",
];

/// Makes a session of requests of all kinds.
pub(crate) fn http(rng: &mut Rng) -> String {
    let mut parts = vec![namespace()];
    if rng.one_in(3) {
        parts.push(create(rng, definition(), "things.x.io"));
    }
    for _ in 0..2 + rng.below(14) {
        let resource = pick(rng);
        let name = *rng.pick(NAMES);
        parts.push(match rng.below(10) {
            0..=3 => create(rng, resource, name),
            4 => patch_of(rng, resource, name, ""),
            5 => custom(rng, name),
            _ => random(rng, resource, name),
        });
    }
    parts.join("\n%%\n")
}

/// Makes a session that creates one object, mostly a valid one, and patches it.
pub(crate) fn patch(rng: &mut Rng) -> String {
    let mut parts = vec![namespace()];
    let resource = pick(rng);
    let is_custom = rng.one_in(6);
    if is_custom {
        parts.push(create_plain(definition(), "things.x.io"));
        parts.push(custom(rng, "a"));
    } else if rng.one_in(4) {
        parts.push(create(rng, resource, "a"));
    } else {
        parts.push(create_plain(resource, "a"));
    }
    for _ in 0..=rng.below(12) {
        let subresource = match rng.below(12) {
            0 => "/status",
            1 => "/scale",
            _ => "",
        };
        parts.push(if is_custom {
            patch_custom(rng)
        } else {
            patch_of(rng, resource, "a", subresource)
        });
    }
    parts.join("\n%%\n")
}

fn namespace() -> String {
    request("POST", "/api/v1/namespaces", "application/json", "", "{\"metadata\":{\"name\":\"a\"}}")
}

fn request(method: &str, target: &str, content: &str, accept: &str, body: &str) -> String {
    format!("{method} {target} {content} {accept}\n{body}")
}

/// Picks a resource; those that people use most of the time.
fn pick(rng: &mut Rng) -> &'static ResourceInfo {
    let all = &builtin().resources;
    loop {
        let resource = rng.pick(all);
        if objects::seed(&resource.kind) != json!({}) || rng.one_in(4) {
            return resource;
        }
    }
}

fn definition() -> &'static ResourceInfo {
    let found = builtin().resource("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    found.expect("a built-in kind")
}

fn collection(resource: &ResourceInfo) -> String {
    let root = match &*resource.group {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let space = if resource.namespaced { "/namespaces/a" } else { "" };
    format!("{root}{space}/{}", resource.plural)
}

fn query(rng: &mut Rng) -> String {
    let parts: Vec<&str> = (0..rng.below(3)).map(|_| *rng.pick(QUERIES)).collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

fn create(rng: &mut Rng, resource: &ResourceInfo, name: &str) -> String {
    let object = objects::object(rng, resource, name);
    let target = format!(
        "{}{}",
        collection(resource),
        if rng.one_in(4) { query(rng) } else { String::new() }
    );
    let (body, content) = body(rng, &object);
    request("POST", &target, content, "", &body)
}

fn create_plain(resource: &ResourceInfo, name: &str) -> String {
    let object = objects::plain(resource, name).to_string();
    request("POST", &collection(resource), "application/json", "", &object)
}

/// Writes an object as JSON or YAML, now and then damaged.
fn body(rng: &mut Rng, value: &Value) -> (String, &'static str) {
    let mut text = value.to_string();
    if rng.one_in(30) {
        text = damage::nested(rng, &text);
    }
    if rng.one_in(12) {
        text = damage::text(rng, text);
    }
    (text, if rng.one_in(5) { "application/yaml" } else { "application/json" })
}

fn custom(rng: &mut Rng, name: &str) -> String {
    let mut spec = json!({"n": rng.below(12), "s": objects::text(rng)});
    if rng.one_in(2) {
        spec["l"] = json!([objects::text(rng), objects::text(rng)]);
        spec["any"] = objects::any(rng, 4);
    }
    let object =
        json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec});
    let (body, content) = body(rng, &object);
    request("POST", "/apis/x.io/v1/namespaces/a/things", content, "", &body)
}

fn patch_custom(rng: &mut Rng) -> String {
    let content = *rng.pick(PATCHES);
    let part = json!({"spec": {"n": rng.below(12), "any": objects::any(rng, 3)}});
    let body = match content {
        "application/json-patch+json" => operations(rng, &part).to_string(),
        "application/apply-patch+yaml" => {
            let mut part = part;
            part["apiVersion"] = "x.io/v1".into();
            part["kind"] = "Thing".into();
            part["metadata"] = json!({"name": "a"});
            part.to_string()
        }
        _ => part.to_string(),
    };
    let target = "/apis/x.io/v1/namespaces/a/things/a?fieldManager=x";
    request("PATCH", target, content, "", &body)
}

fn patch_of(rng: &mut Rng, resource: &ResourceInfo, name: &str, subresource: &str) -> String {
    let content = *rng.pick(PATCHES);
    let mut part = objects::seed(&resource.kind);
    objects::graft(rng, resource.ty, &mut part);
    let value = match content {
        "application/json-patch+json" => operations(rng, &part),
        "application/apply-patch+yaml" => {
            let mut part = objects::object(rng, resource, name);
            objects::graft(rng, resource.ty, &mut part);
            part
        }
        "application/strategic-merge-patch+json" => directives(rng, part),
        _ => part,
    };
    let mut text = value.to_string();
    if rng.one_in(15) {
        text = damage::text(rng, text);
    }
    let force = if rng.one_in(2) { "&force=true" } else { "" };
    let manager = *rng.pick(&["x", "y", "kubectl"]);
    let target = match content {
        "application/apply-patch+yaml" => {
            format!("{}/{name}{subresource}?fieldManager={manager}{force}", collection(resource))
        }
        _ => format!("{}/{name}{subresource}{}", collection(resource), query(rng)),
    };
    request("PATCH", &target, content, "", &text)
}

/// Adds the directives of strategic merge patches.
fn directives(rng: &mut Rng, mut part: Value) -> Value {
    if let Value::Object(map) = &mut part {
        if rng.one_in(4) {
            let word = *rng.pick(&["replace", "delete", "merge", "odd"]);
            map.insert("$patch".to_owned(), word.into());
        }
        if rng.one_in(4) {
            map.insert("$retainKeys".to_owned(), json!(["a", objects::text(rng)]));
        }
        if rng.one_in(4) {
            map.insert(
                "$setElementOrder/containers".to_owned(),
                json!([{"name": "c"}, objects::text(rng)]),
            );
        }
        if rng.one_in(4) {
            map.insert("$deleteFromPrimitiveList/finalizers".to_owned(), json!(["a", 1]));
        }
        for inner in map.values_mut() {
            if inner.is_object() || rng.one_in(2) {
                let taken = inner.take();
                *inner = directives(rng, taken);
            }
        }
    } else if let Value::Array(items) = &mut part {
        for item in items.iter_mut() {
            let taken = item.take();
            *item = directives(rng, taken);
        }
    }
    part
}

/// Makes a JSON patch whose places are mostly those of a value.
fn operations(rng: &mut Rng, value: &Value) -> Value {
    let mut places = vec![String::new(), "/metadata/labels".to_owned(), "/metadata".to_owned()];
    pointers(value, &mut String::new(), &mut places);
    let place = |rng: &mut Rng| {
        let at = rng.pick(&places).clone();
        match rng.below(6) {
            0 => format!("{at}/-"),
            1 => format!("{at}/{}", objects::text(rng)),
            2 => format!("{at}/{}", rng.below(3)),
            _ => at,
        }
    };
    let most = if rng.one_in(10) { 60 } else { 5 };
    (0..=rng.below(most))
        .map(|_| {
            let op =
                *rng.pick(&["add", "remove", "replace", "test", "move", "copy", "copy", "odd"]);
            let (path, from) = (place(rng), place(rng));
            json!({"op": op, "path": path, "from": from, "value": objects::any(rng, 2)})
        })
        .collect()
}

fn pointers(value: &Value, path: &mut String, places: &mut Vec<String>) {
    places.push(path.clone());
    let length = path.len();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                pointers(inner, path, places);
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                path.push('/');
                path.push_str(&at.to_string());
                pointers(inner, path, places);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn random(rng: &mut Rng, resource: &ResourceInfo, name: &str) -> String {
    let mut target = collection(resource);
    if !rng.one_in(3) {
        target = format!("{target}/{name}");
    }
    if !resource.subresources.is_empty() && rng.one_in(3) {
        target = format!("{target}/{}", rng.pick(&resource.subresources).name);
    }
    target += &query(rng);
    if rng.one_in(10) {
        target = damage::text(rng, target).replace([' ', '\n'], "");
    }
    let object = objects::object(rng, resource, name);
    let (body, content) = body(rng, &object);
    let method = *rng.pick(METHODS);
    let accept = *rng.pick(ACCEPTS);
    request(method, &target, content, accept, &body)
}
