//! The source locations of the leaves of a Spec, as a release stores them.

use crate::{FieldPath, Origin, Origins, ResourceId, Spec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The source locations of the leaves of a Spec. Leaves have no paths here: they are in the order of
/// the Spec that this belongs to, which keeps it small. Values are never part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecOrigins {
    /// All locations, each once.
    places: Vec<Origin>,
    /// For each leaf of a resource, the position of its location from 1; 0 if it is not known.
    leaves: BTreeMap<ResourceId, Vec<u32>>,
}

impl SpecOrigins {
    /// Looks up the locations of all leaves of a Spec. A secret that is sealed in it has the location
    /// of its plain value.
    pub fn of(spec: &Spec, origins: &Origins) -> Self {
        let mut found = Self::default();
        let mut known: BTreeMap<Origin, u32> = BTreeMap::new();
        for resource in &spec.resources {
            let mut numbers = Vec::new();
            each_leaf(&resource.attributes, &FieldPath::default(), &mut |path| {
                let origin = find_around(origins, &resource.id, path);
                numbers.push(origin.map_or(0, |origin| {
                    *known.entry(origin).or_insert_with_key(|origin| {
                        found.places.push(origin.clone());
                        found.places.len() as u32
                    })
                }));
            });
            if numbers.iter().any(|number| *number > 0) {
                found.leaves.insert(resource.id.clone(), numbers);
            }
        }
        found
    }

    /// Returns the locations by path; `spec` is the one that they were looked up for.
    pub fn by_path(&self, spec: &Spec) -> Origins {
        let mut table: BTreeMap<ResourceId, BTreeMap<FieldPath, Origin>> = BTreeMap::new();
        for resource in &spec.resources {
            let Some(numbers) = self.leaves.get(&resource.id) else { continue };
            let mut numbers = numbers.iter();
            let mut paths = BTreeMap::new();
            each_leaf(&resource.attributes, &FieldPath::default(), &mut |path| {
                let number = numbers.next().copied().unwrap_or_default() as usize;
                if let Some(origin) = number.checked_sub(1).and_then(|at| self.places.get(at)) {
                    paths.insert(path.clone(), origin.clone());
                }
            });
            table.insert(resource.id.clone(), paths);
        }
        Origins::new(table)
    }
}

/// A leaf of a Spec, and what set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeafOrigin<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// The path of the leaf in its attributes.
    pub path: FieldPath,
    /// What set it, if that is known.
    pub origin: Option<Origin>,
}

/// Returns the leaves of a Spec with what set them, in their order. Values are not part of it, so
/// secrets need not be hidden.
pub fn leaf_origins<'a>(spec: &'a Spec, origins: &Origins) -> Vec<LeafOrigin<'a>> {
    let mut found = Vec::new();
    for resource in &spec.resources {
        let id = &resource.id;
        each_leaf(&resource.attributes, &FieldPath::default(), &mut |path| {
            let origin = find_around(origins, id, path);
            found.push(LeafOrigin { id, path: path.clone(), origin });
        });
    }
    found
}

/// Returns what set a leaf, else what set the value around it: a secret that is sealed or hidden has
/// leaves that nobody wrote.
fn find_around(origins: &Origins, id: &ResourceId, path: &FieldPath) -> Option<Origin> {
    let mut path = path.clone();
    while !path.0.is_empty() {
        if let Some(found) = origins.find(id, &path) {
            return Some(found);
        }
        path.0.pop();
    }
    None
}

/// Calls a function with the path of each leaf: scalars, and empty lists and maps.
fn each_leaf(value: &Value, path: &FieldPath, each: &mut dyn FnMut(&FieldPath)) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(key, value)| each_leaf(value, &path.key(key), each));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| each_leaf(value, &path.index(at), each));
        }
        _ => each(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resource, ResourceType};
    use serde_json::json;

    fn spec(attributes: Value) -> Spec {
        let resource = Resource {
            id: ResourceId::new("a:b:c:d"),
            resource_type: ResourceType::new("Other"),
            attributes: attributes.into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        Spec { resources: vec![resource], ..Spec::default() }
    }

    #[test]
    fn locations_survive_storing() {
        let path = |keys: &[&str]| keys.iter().fold(FieldPath::default(), |it, key| it.key(key));
        let layer = Origin { layer: Some("env=prod".into()), ..Origin::new("l.k", 4, 1) };
        let inputs = vec![layer.clone()];
        let computed = Origin { inputs, ..Origin::new("model.k", 9, 5) };
        let table = BTreeMap::from([
            (path(&["a"]), layer.clone()),
            (path(&["b", "c"]), computed.clone()),
            (path(&["secret"]), Origin::new("main.k", 3, 1)),
        ]);
        let id = ResourceId::new("a:b:c:d");
        let plain = Origins::new(BTreeMap::from([(id.clone(), table)]));
        // The secret is sealed in the Spec of a release, and the value of `x` has no location.
        let sealed = spec(json!({"a": 1, "b": {"c": []}, "secret": {"cipher": "…"}, "x": 2}));
        let stored = SpecOrigins::of(&sealed, &plain);
        let text = serde_json::to_string(&stored).expect("JSON");
        let read: SpecOrigins = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, stored);
        let found = read.by_path(&sealed);
        assert_eq!(found.find(&id, &path(&["a"])), Some(layer));
        assert_eq!(found.find(&id, &path(&["b"])), Some(computed));
        let secret = found.find(&id, &path(&["secret"]));
        assert_eq!(secret.map(|it| it.to_string()).as_deref(), Some("main.k:3"));
        assert_eq!(found.find(&id, &path(&["x"])), None);
        assert_eq!(text.matches("main.k").count(), 1);
    }

    #[test]
    fn locations_of_another_spec_do_no_harm() {
        let read: SpecOrigins =
            serde_json::from_str(r#"{"places":[],"leaves":{"a:b:c:d":[7]}}"#).expect("JSON");
        let other = spec(json!({"a": 1, "b": 2}));
        let id = ResourceId::new("a:b:c:d");
        assert_eq!(read.by_path(&other).find(&id, &FieldPath::default().key("a")), None);
    }
}
