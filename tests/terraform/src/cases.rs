//! Changes of resources for comparison with `terraform`: every kind of attribute, unset, null, set,
//! changed and unknown, one at a time and mixed.

use serde_json::{Map, Value};
use testkit::Rng;

/// Stands for a value that is known only after apply.
pub const UNKNOWN: &str = "?";

/// What an unknown value becomes.
pub const KNOWN: &str = "late";

/// A resource that is created and then changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name, which is an attribute, too.
    pub name: String,
    /// Its type.
    pub type_name: &'static str,
    /// The attributes that it is created with.
    pub before: Value,
    /// The attributes that it is changed to; [`UNKNOWN`] texts are unknown.
    pub after: Value,
}

/// The values of an attribute, as JSON texts. Those with `?` are used for changes only.
type Options = (&'static str, &'static [&'static str]);

const PROBE: &[Options] = &[
    ("text", &[r#""a""#, r#""""#, r#""?""#]),
    ("amount", &["1", "0.1", "-7.25", r#""5""#]),
    ("flag", &["true", "false"]),
    ("mode", &[r#""manual""#, r#""other""#, r#""?""#]),
    ("preset", &[r#""own""#, r#""standard""#, r#""?""#]),
    ("secret", &[r#""s1""#, r#""s2""#, r#""?""#]),
    ("write_key", &[r#""k1""#, r#""k2""#]),
    ("zone", &[r#""x""#, r#""y""#, r#""?""#]),
    ("tags", &[r#"{"a":"1"}"#, r#"{"a":"2","b":"3"}"#, "{}", r#"{"a":"?"}"#]),
    ("labels", &[r#"{"l":"1"}"#, r#"{"l":"2"}"#, "{}"]),
    ("items", &[r#"["x","y"]"#, r#"["y"]"#, "[]", r#"["x","?"]"#]),
    ("members", &[r#"["m","k"]"#, r#"["k"]"#, "[]"]),
    ("anything", &[r#""t""#, "3", r#"{"a":[1,"x"]}"#, "[true]"]),
    (
        "disk",
        &[
            r#"[{"size":1}]"#,
            r#"[{"size":1},{"size":2,"device":"/dev/own"}]"#,
            r#"[{"size":3}]"#,
            r#"[{"size":1,"device":"?"}]"#,
        ],
    ),
    (
        "rule",
        &[
            r#"[{"port":80}]"#,
            r#"[{"port":80},{"port":443,"comment":"tls"}]"#,
            r#"[{"port":443,"comment":"other"},{"port":80}]"#,
            r#"[{"port":80,"comment":"?"}]"#,
        ],
    ),
    ("limits", &[r#"{"soft":1}"#, r#"{"soft":2,"hard":3}"#, "{}"]),
];

const LEGACY: &[Options] = &[
    ("text", &[r#""a""#, r#""""#, r#""?""#]),
    ("size", &["1", "0", "7"]),
    ("ratio", &["0.5", "0.1"]),
    ("flag", &["true", "false"]),
    ("preset", &[r#""own""#, r#""standard""#, r#""?""#]),
    ("mode", &[r#""manual""#, r#""other""#, r#""?""#]),
    ("secret", &[r#""s1""#, r#""s2""#]),
    ("write_key", &[r#""k1""#, r#""k2""#]),
    ("zone", &[r#""x""#, r#""y""#, r#""?""#]),
    ("tags", &[r#"{"a":"1"}"#, r#"{"a":"2","b":"3"}"#, "{}", r#"{"a":"?"}"#]),
    ("items", &[r#"["x","y"]"#, r#"["y"]"#, "[]", r#"["x","?"]"#]),
    ("members", &[r#"["m","k"]"#, r#"["k"]"#, "[]"]),
    (
        "disk",
        &[
            r#"[{"size":1}]"#,
            r#"[{"size":1},{"size":2,"device":"/dev/own"}]"#,
            r#"[{"size":3}]"#,
            r#"[{"size":1,"device":"?"}]"#,
        ],
    ),
    (
        "rule",
        &[
            r#"[{"port":80}]"#,
            r#"[{"port":80},{"port":443,"comment":"tls"}]"#,
            r#"[{"port":443,"comment":"other"},{"port":80}]"#,
        ],
    ),
    ("limits", &[r#"[{"soft":1}]"#, r#"[{"soft":2,"hard":3}]"#]),
    ("timeouts", &[r#"{"create":"1m"}"#, r#"{"create":"2m","delete":"3m"}"#]),
];

const NESTED: &[Options] = &[
    (
        "settings",
        &[r#"{"key":"a"}"#, r#"{"key":"a","value":"v"}"#, r#"{"key":"b"}"#, r#"{"key":"?"}"#],
    ),
    (
        "steps",
        &[r#"[{"key":"a"},{"key":"b"}]"#, r#"[{"key":"a","value":"v"}]"#, "[]", r#"[{"key":"?"}]"#],
    ),
    (
        "peers",
        &[
            r#"[{"key":"a"},{"key":"b"}]"#,
            r#"[{"key":"b"},{"key":"c","value":"v"}]"#,
            "[]",
            r#"[{"key":"a","value":"?"}]"#,
        ],
    ),
    (
        "zones",
        &[
            r#"{"z":{"key":"a"}}"#,
            r#"{"z":{"key":"b"},"y":{"key":"c"}}"#,
            "{}",
            r#"{"z":{"key":"?"}}"#,
        ],
    ),
    ("extra", &[r#"{"key":"a"}"#, r#"{"key":"a","value":"v"}"#, r#"{"key":"b"}"#]),
];

const TYPES: &[(&str, &[Options])] =
    &[("probe_object", PROBE), ("legacy_object", LEGACY), ("probe_nested", NESTED)];

/// Returns all cases with one attribute, and some with several.
pub fn all(mixed: usize, seed: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for (type_name, attributes) in TYPES {
        for (attribute, options) in *attributes {
            let before: Vec<Option<&str>> = states(options).filter(|it| is_known(*it)).collect();
            for (place, before) in before.iter().enumerate() {
                for (next, after) in states(options).enumerate() {
                    // Of values that only differ, a third is enough.
                    if place > 1 && next > 1 && (place + next) % 3 != 0 {
                        continue;
                    }
                    let before = object(before.map(|it| (*attribute, it)).into_iter());
                    let after = object(after.map(|it| (*attribute, it)).into_iter());
                    cases.push((*type_name, before, after));
                }
            }
        }
    }
    let mut rng = Rng::new(seed, 0);
    for _ in 0..mixed {
        let (type_name, attributes) = TYPES[rng.below(TYPES.len())];
        let mut pick = |is_change: bool| {
            let mut chosen = Vec::new();
            for (attribute, options) in attributes {
                let states: Vec<Option<&str>> =
                    states(options).filter(|it| is_change || is_known(*it)).collect();
                if let Some(value) = states[rng.below(states.len())] {
                    chosen.push((*attribute, value));
                }
            }
            object(chosen.into_iter())
        };
        let (before, after) = (pick(false), pick(true));
        cases.push((type_name, before, after));
    }
    let numbered = cases.into_iter().enumerate();
    numbered.map(|(n, (type_name, before, after))| case(n, type_name, before, after)).collect()
}

fn case(n: usize, type_name: &'static str, mut before: Value, mut after: Value) -> Case {
    let name = format!("c{n}");
    before["name"] = name.as_str().into();
    after["name"] = name.as_str().into();
    Case { name, type_name, before, after }
}

/// Returns the states of an attribute: unset, null, and each of its values.
fn states<'a>(options: &'a [&'static str]) -> impl Iterator<Item = Option<&'a str>> {
    [None, Some("null")].into_iter().chain(options.iter().map(|it| Some(*it)))
}

fn is_known(state: Option<&str>) -> bool {
    !state.is_some_and(|it| it.contains(UNKNOWN))
}

fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let fields = fields.map(|(name, text)| {
        (name.to_owned(), serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
    });
    Value::Object(fields.collect::<Map<_, _>>())
}
