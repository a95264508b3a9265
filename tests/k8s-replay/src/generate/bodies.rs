//! Random configurations: parts of objects, with few different values so that managers meet.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::kinds::Kind;

/// Returns a configuration of a kind; `complete` ones can stand alone.
pub(super) fn whole(rng: &mut Rng, kind: Kind, complete: bool) -> Value {
    let mut body = json!({"apiVersion": kind.api_version(), "kind": kind.name(), "metadata": {}});
    let labels = complete || rng.u32(0..3) == 0;
    if labels {
        body["metadata"]["labels"] = map(rng);
    }
    // Controllers annotate deployments: the map of annotations is there from the start.
    if complete || rng.u32(0..4) == 0 {
        body["metadata"]["annotations"] = map(rng);
    }
    match kind {
        Kind::ConfigMap => {
            body["data"] = map(rng);
            if rng.u32(0..4) == 0 {
                body["binaryData"] = json!({pick(rng, &["x", "y"]): pick(rng, &["AAA=", "AQI="])});
            }
        }
        Kind::Thing => body["spec"] = thing(rng),
        Kind::Deployment => body["spec"] = deployment(rng, complete),
        Kind::Service => body["spec"] = service(rng, complete),
    }
    body
}

/// Returns a configuration of a status.
pub(super) fn status(rng: &mut Rng, kind: Kind) -> Value {
    let conditions: Vec<Value> = subset(rng, &["A", "B", "C"])
        .into_iter()
        .map(|name| json!({"type": name, "status": pick(rng, &["True", "False"])}))
        .collect();
    let mut status = json!({"conditions": conditions});
    if rng.bool() {
        status["phase"] = json!(pick(rng, &["on", "off"]));
    }
    json!({"apiVersion": kind.api_version(), "kind": kind.name(), "metadata": {}, "status": status})
}

/// Returns one of several texts.
pub(super) fn pick<'t>(rng: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len())]
}

/// Returns some of several texts, in any order, at least one.
pub(super) fn subset<'t>(rng: &mut Rng, texts: &[&'t str]) -> Vec<&'t str> {
    let mut all = texts.to_vec();
    rng.shuffle(&mut all);
    all.truncate(rng.usize(1..=texts.len()));
    all
}

/// Returns a small map of texts.
pub(super) fn map(rng: &mut Rng) -> Value {
    let keys = subset(rng, &["a", "b", "c", "d"]);
    keys.into_iter().map(|key| (key.to_owned(), json!(pick(rng, &["x", "y"])))).collect()
}

/// A field and how its value is made.
pub(super) type Making<'a> = (&'a str, fn(&mut Rng) -> Value);

/// Returns an object with some of several fields.
pub(super) fn some(rng: &mut Rng, fields: &[Making]) -> Value {
    let mut out = Map::new();
    for (name, make) in fields {
        if rng.u32(0..100) < 35 {
            out.insert((*name).to_owned(), make(rng));
        }
    }
    Value::Object(out)
}

fn number(rng: &mut Rng) -> Value {
    json!(rng.u32(0..3))
}

fn letter(rng: &mut Rng) -> Value {
    json!(pick(rng, &["x", "y"]))
}

fn letters(rng: &mut Rng) -> Value {
    json!(subset(rng, &["a", "b", "c", "d"]))
}

fn numbers(rng: &mut Rng) -> Value {
    let mut all = vec![1, 2, 3, 10];
    rng.shuffle(&mut all);
    all.truncate(rng.usize(0..4));
    json!(all)
}

fn free(rng: &mut Rng) -> Value {
    some(
        rng,
        &[
            ("x", number),
            ("y", |rng| json!({"z": letter(rng), "w": letters(rng)})),
            ("l", |rng| json!([{"name": letter(rng)}])),
            ("e", |_| json!({})),
            ("m", |rng| if rng.bool() { map(rng) } else { letters(rng) }),
        ],
    )
}

fn ports(rng: &mut Rng) -> Value {
    let chosen = subset(rng, &["80", "80u", "443", "8080"]);
    let list = chosen.into_iter().map(|text| {
        let mut port = json!({"port": text.trim_end_matches('u').parse::<u32>().unwrap_or(1)});
        if text.ends_with('u') {
            port["protocol"] = json!("UDP");
        } else if rng.bool() {
            port["protocol"] = json!("TCP");
        }
        if rng.bool() {
            port["name"] = letter(rng);
        }
        port
    });
    Value::Array(list.collect())
}

fn items(rng: &mut Rng) -> Value {
    let names = subset(rng, &["i", "j", "k"]);
    let list = names.into_iter().map(|name| {
        let mut item = some(
            rng,
            &[
                ("value", number),
                ("tags", letters),
                ("labels", map),
                ("ports", ports),
                ("args", letters),
            ],
        );
        item["name"] = json!(name);
        item
    });
    Value::Array(list.collect())
}

fn inner(rng: &mut Rng) -> Value {
    some(
        rng,
        &[
            ("a", letter),
            ("b", number),
            ("deep", |rng| some(rng, &[("c", letter), ("list", letters)])),
        ],
    )
}

/// The fields of the custom kind.
pub(super) const THING: &[Making] = &[
    ("number", number),
    ("text", letter),
    ("flag", |rng| json!(rng.bool())),
    ("either", |rng| if rng.bool() { number(rng) } else { letter(rng) }),
    ("level", number),
    ("set", letters),
    ("numbers", numbers),
    ("plain", letters),
    ("map", map),
    ("frozen", map),
    ("free", free),
    ("whole", |rng| some(rng, &[("a", letter), ("b", letter)])),
    ("inner", inner),
    ("items", items),
    ("ports", ports),
];

fn thing(rng: &mut Rng) -> Value {
    let mut spec = some(rng, THING);
    match rng.u32(0..40) {
        0 => spec["text"] = Value::Null,
        1 => spec["map"] = Value::Null,
        2 => spec["items"] = Value::Null,
        3 => spec["set"] = json!(["a", "b", "a"]),
        4 => spec["set"] = json!([]),
        5 => spec["items"] = json!([]),
        6 => spec["map"] = json!({}),
        7 => spec["inner"] = json!({"deep": {}}),
        8 => spec["items"] = json!([{"name": "i"}, {"name": "i", "value": 1}]),
        9 => spec["unknown"] = json!(1),
        _ => {}
    }
    spec
}

fn container(rng: &mut Rng, name: &str) -> Value {
    let mut container = some(
        rng,
        &[
            ("args", letters),
            ("imagePullPolicy", |rng| json!(pick(rng, &["Always", "IfNotPresent"]))),
            ("env", env),
            ("ports", container_ports),
            ("resources", resources),
            ("workingDir", |_| json!("/w")),
            ("securityContext", |rng| some(rng, &[("runAsUser", number)])),
        ],
    );
    container["name"] = json!(name);
    container["image"] = json!(pick(rng, &["x", "y"]));
    container
}

fn env(rng: &mut Rng) -> Value {
    let names = subset(rng, &["A", "B", "C"]);
    let list = names.into_iter().map(|name| json!({"name": name, "value": letter(rng)}));
    Value::Array(list.collect())
}

fn container_ports(rng: &mut Rng) -> Value {
    let chosen = subset(rng, &["80", "443", "53"]);
    let list = chosen.into_iter().map(|text| {
        let mut port = json!({"containerPort": text.parse::<u32>().unwrap_or(1)});
        if text == "53" {
            port["protocol"] = json!("UDP");
        }
        if rng.bool() {
            port["name"] = json!(format!("p{text}"));
        }
        port
    });
    Value::Array(list.collect())
}

fn resources(rng: &mut Rng) -> Value {
    some(
        rng,
        &[
            ("limits", |rng| json!({"cpu": pick(rng, &["1", "1500m", "2"])})),
            ("requests", |rng| json!({"memory": pick(rng, &["1Mi", "1024Ki", "2Mi"])})),
        ],
    )
}

fn pod(rng: &mut Rng, complete: bool) -> Value {
    let mut names = subset(rng, &["c", "d", "e"]);
    if complete && !names.contains(&"c") {
        names.push("c");
    }
    let containers: Vec<Value> = names.into_iter().map(|name| container(rng, name)).collect();
    let mut pod = some(
        rng,
        &[
            ("nodeSelector", map),
            ("terminationGracePeriodSeconds", number),
            ("restartPolicy", |_| json!("Always")),
            ("hostNetwork", |_| json!(false)),
            ("securityContext", |rng| some(rng, &[("runAsUser", number), ("fsGroup", number)])),
            ("volumes", |rng| {
                let names = subset(rng, &["v", "w"]);
                names.into_iter().map(|name| json!({"name": name, "emptyDir": {}})).collect()
            }),
            ("tolerations", |_| json!([{"key": "k", "operator": "Exists"}])),
        ],
    );
    pod["containers"] = json!(containers);
    pod
}

/// The fields of a deployment that any manager may set alone.
pub(super) const DEPLOYMENT: &[Making] = &[
    ("replicas", number),
    ("minReadySeconds", number),
    ("revisionHistoryLimit", number),
    ("strategy", |rng| match rng.u32(0..3) {
        0 => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}),
        1 => json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        _ => json!({"type": "RollingUpdate"}),
    }),
];

fn deployment(rng: &mut Rng, complete: bool) -> Value {
    let mut spec = some(rng, DEPLOYMENT);
    spec["paused"] = json!(true);
    if complete || rng.u32(0..100) < 70 {
        let mut labels = map(rng);
        labels["app"] = json!("x");
        spec["template"] = json!({"metadata": {"labels": labels}, "spec": pod(rng, complete)});
    }
    if complete || rng.u32(0..100) < 50 {
        spec["selector"] = json!({"matchLabels": {"app": "x"}});
    }
    spec
}

fn service_ports(rng: &mut Rng) -> Value {
    let chosen = subset(rng, &["80", "443", "53"]);
    let list = chosen.into_iter().map(|text| {
        let name = format!("{}{text}", pick(rng, &["a", "b"]));
        let mut port = json!({"port": text.parse::<u32>().unwrap_or(1), "name": name});
        if text == "53" {
            port["protocol"] = json!("UDP");
        }
        if rng.bool() {
            port["targetPort"] = if rng.bool() { json!(8080) } else { json!("http") };
        }
        port
    });
    Value::Array(list.collect())
}

/// The fields of a service that any manager may set alone.
pub(super) const SERVICE: &[Making] = &[
    ("ports", service_ports),
    ("selector", map),
    ("publishNotReadyAddresses", |rng| json!(rng.bool())),
    ("sessionAffinity", |rng| json!(pick(rng, &["None", "ClientIP"]))),
    ("externalIPs", |rng| json!(subset(rng, &["10.1.1.1", "10.1.1.2"]))),
];

fn service(rng: &mut Rng, complete: bool) -> Value {
    let mut spec = some(rng, SERVICE);
    if complete || rng.bool() {
        spec["clusterIP"] = json!("None");
    }
    if complete {
        spec["ports"] = service_ports(rng);
    }
    spec
}
