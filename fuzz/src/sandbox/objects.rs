//! Objects of built-in kinds: valid ones to start from, and random ones by their types.

use kusion_k8s_schema::{Field, ResourceInfo, Scalar, Type, TypeId, builtin};
use serde_json::{Map, Value, json};
use testkit::Rng;

/// Texts that mean something in some field.
const TEXTS: &[&str] = &[
    "a",
    "b",
    "web",
    "default",
    "",
    "A_b",
    "a.b/c",
    "-",
    "nginx:1",
    "100m",
    "1Gi",
    "-1",
    "1e99",
    "10.0.0.1",
    "::1",
    "10.0.0.0/24",
    "fe80::1%eth0",
    "http",
    "TCP",
    "*/5 * * * *",
    "@daily",
    "50%",
    "101%",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "Always",
    "Never",
    "/etc/x",
    "..",
    "kubernetes.io/tls",
    "standard",
    "Delete",
    "a=b",
    "in (a,b)",
    "UTC",
    "self.x == 1",
    "self.all(x, x.all(y, y > 0))",
    "[a-",
    "(a+)+$",
    "é\u{301}\u{202e}",
    "\u{0}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "YQ==",
];

/// Numbers at which something may happen.
const NUMBERS: &[i64] = &[
    0,
    1,
    2,
    3,
    -1,
    30,
    80,
    443,
    30_000,
    65_535,
    65_536,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_648,
    9_007_199_254_740_993,
    i64::MAX,
    i64::MIN,
];

/// Returns a valid object of a kind that is often used, if the kind is one.
pub(super) fn seed(kind: &str) -> Value {
    let pod = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}],
            "resources": {"requests": {"cpu": "10m"}}, "env": [{"name": "A", "value": "1"}]}]},
    });
    let selector = json!({"matchLabels": {"app": "web"}});
    match kind {
        "Pod" => pod,
        "ConfigMap" => json!({"data": {"a": "1", "b": "2"}}),
        "Secret" => json!({"data": {"a": "YQ=="}, "type": "Opaque"}),
        "Deployment" | "ReplicaSet" | "DaemonSet" => {
            json!({"spec": {"selector": selector, "template": pod}})
        }
        "StatefulSet" => json!({"spec": {"selector": selector, "serviceName": "web",
            "template": pod, "volumeClaimTemplates": [{"metadata": {"name": "v"},
            "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}}]}}),
        "Job" => {
            let mut pod = pod;
            pod["spec"]["restartPolicy"] = "Never".into();
            json!({"spec": {"template": pod}})
        }
        "CronJob" => json!({"spec": {"schedule": "* * * * *", "jobTemplate": seed("Job")}}),
        "Service" => json!({"spec": {"selector": {"app": "web"},
            "ports": [{"port": 80, "targetPort": "http"}]}}),
        "Ingress" => json!({"spec": {"defaultBackend": {"service": {"name": "web",
            "port": {"number": 80}}}}}),
        "PersistentVolumeClaim" => json!({"spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}),
        "HorizontalPodAutoscaler" => json!({"spec": {"maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"}}}),
        "PodDisruptionBudget" => json!({"spec": {"minAvailable": 1, "selector": selector}}),
        "ResourceQuota" => json!({"spec": {"hard": {"pods": "2", "requests.cpu": "1"}}}),
        "LimitRange" => json!({"spec": {"limits": [{"type": "Container",
            "default": {"cpu": "1"}}]}}),
        "Role" | "ClusterRole" => json!({"rules": [{"apiGroups": [""], "resources": ["pods"],
            "verbs": ["get"]}]}),
        "CustomResourceDefinition" => definition(),
        _ => json!({}),
    }
}

fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
    "x-kubernetes-validations": [{"rule": "self.n < 10 || has(self.s)"}],
    "properties": {
        "n": {"type": "integer", "minimum": 0, "default": 1},
        "s": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 20},
        "l": {"type": "array", "maxItems": 5, "items": {"type": "string"},
            "x-kubernetes-list-type": "set"},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
    }}}});
    json!({"metadata": {"name": "things.x.io"}, "spec": {"group": "x.io", "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}]}})
}

/// Returns an object of a resource: a valid one, one with random fields, or a random one.
pub(super) fn object(rng: &mut Rng, resource: &ResourceInfo, name: &str) -> Value {
    let start = if rng.one_in(6) { value(rng, resource.ty, 5) } else { seed(&resource.kind) };
    let mut object = named(start, name);
    for _ in 0..rng.below(4) {
        graft(rng, resource.ty, &mut object);
    }
    with_kind(resource, object)
}

/// Returns an object of a resource without random fields.
pub(super) fn plain(resource: &ResourceInfo, name: &str) -> Value {
    with_kind(resource, named(seed(&resource.kind), name))
}

fn named(mut object: Value, name: &str) -> Value {
    if !object.is_object() {
        object = json!({});
    }
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    if object["metadata"]["name"].is_null() {
        object["metadata"]["name"] = name.into();
    }
    object
}

fn with_kind(resource: &ResourceInfo, mut object: Value) -> Value {
    object["kind"] = (*resource.kind).into();
    let group = if resource.group.is_empty() { "" } else { "/" };
    object["apiVersion"] = format!("{}{group}{}", resource.group, resource.version).into();
    object
}

/// Sets a random field somewhere below.
pub(super) fn graft(rng: &mut Rng, ty: TypeId, target: &mut Value) {
    match (builtin().types.get(ty), target) {
        (Type::Struct(shape), Value::Object(map)) if !shape.fields.is_empty() => {
            let there: Vec<&Field> =
                shape.fields.iter().filter(|field| map.contains_key(&*field.name)).collect();
            if !there.is_empty() && !rng.one_in(3) {
                let field = *rng.pick(&there);
                if let Some(inner) = map.get_mut(&*field.name) {
                    return graft(rng, field.ty, inner);
                }
            }
            let field = rng.pick(&shape.fields);
            map.insert(field.name.to_string(), field_value(rng, field, 3));
        }
        (Type::List(list), Value::Array(items)) if !items.is_empty() && !rng.one_in(4) => {
            let at = rng.below(items.len());
            graft(rng, list.element, &mut items[at]);
        }
        (_, target) => *target = value(rng, ty, 3),
    }
}

fn field_value(rng: &mut Rng, field: &Field, depth: usize) -> Value {
    if field.choices.is_empty() || rng.one_in(8) {
        return value(rng, field.ty, depth);
    }
    (**rng.pick(&field.choices)).into()
}

/// Returns a random value of a type.
pub(super) fn value(rng: &mut Rng, ty: TypeId, depth: usize) -> Value {
    if rng.one_in(40) {
        return any(rng, 2);
    }
    match builtin().types.get(ty) {
        Type::Any => any(rng, depth.min(3)),
        Type::Scalar(scalar) => single(rng, *scalar),
        Type::Struct(shape) => {
            let mut map = Map::new();
            for field in &shape.fields {
                let likely = if field.required { 1 } else { 6 };
                if depth > 0 && rng.one_in(likely) {
                    map.insert(field.name.to_string(), field_value(rng, field, depth - 1));
                }
            }
            Value::Object(map)
        }
        Type::Map(mapping) => (0..rng.below(3))
            .map(|_| (text(rng), value(rng, mapping.element, depth.saturating_sub(1))))
            .collect::<Map<_, _>>()
            .into(),
        Type::List(list) => {
            let n = if depth == 0 { 0 } else { rng.below(3) };
            (0..n).map(|_| value(rng, list.element, depth - 1)).collect()
        }
    }
}

fn single(rng: &mut Rng, scalar: Scalar) -> Value {
    match scalar {
        Scalar::Integer | Scalar::Int32 | Scalar::Number => (*rng.pick(NUMBERS)).into(),
        Scalar::Boolean => rng.one_in(2).into(),
        Scalar::IntOrString if rng.one_in(2) => (*rng.pick(NUMBERS)).into(),
        _ => text(rng).into(),
    }
}

/// Returns a text that means something somewhere.
pub(super) fn text(rng: &mut Rng) -> String {
    (*rng.pick(TEXTS)).to_owned()
}

/// Returns any JSON.
pub(super) fn any(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => rng.one_in(2).into(),
        2 => (*rng.pick(NUMBERS)).into(),
        3 => json!(1.5),
        4 => text(rng).into(),
        5 => (0..rng.below(4)).map(|_| any(rng, depth - 1)).collect(),
        _ => (0..rng.below(4))
            .map(|_| (text(rng), any(rng, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
    }
}
