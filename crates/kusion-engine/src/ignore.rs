//! Ignored fields, which keep their live values.

use kusion_model::{FieldPath, IgnoreRule, Note, PathStep, Resource};
use serde_json::Value;

/// Sets the ignored fields of a desired resource of a kind to their live values; returns notes for
/// users.
pub(crate) fn take_live_values(
    rules: &[IgnoreRule],
    kind: &str,
    desired: &mut Resource,
    live: &Value,
) -> Vec<Note> {
    let mut notes = Vec::new();
    for rule in rules {
        if rule.kind.as_deref().is_some_and(|it| it != kind) {
            continue;
        }
        let mut paths = Vec::new();
        expand(&rule.path, &desired.attributes, &FieldPath::default(), &mut paths);
        for path in paths {
            let Some(value) = path.find_mut(&mut desired.attributes) else { continue };
            let Some(live) = path.find(live) else { continue };
            if value != live {
                *value = live.clone();
                notes.push(Note::KeepsLive { path, rule: rule.to_string() });
            }
        }
    }
    notes
}

/// Finds the fields of a value that a pattern matches.
fn expand(pattern: &[Option<PathStep>], value: &Value, at: &FieldPath, found: &mut Vec<FieldPath>) {
    match pattern.split_first() {
        None => found.push(at.clone()),
        Some((None, rest)) => {
            for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                expand(rest, item, &at.index(place), found);
            }
        }
        Some((Some(PathStep::Index(index)), rest)) => {
            if let Some(item) = value.get(index) {
                expand(rest, item, &at.index(*index), found);
            }
        }
        Some((Some(PathStep::Key(key)), rest)) => {
            if let Some(field) = value.get(key) {
                expand(rest, field, &at.key(key), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{ResourceId, ResourceType};
    use serde_json::json;

    #[test]
    fn an_ignored_field_keeps_its_live_value() {
        let mut desired = Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new("Test"),
            attributes: json!({"spec": {"replicas": 1, "paused": true}}).into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        let live = json!({"spec": {"replicas": 5, "paused": false}});
        let rule: IgnoreRule = "Job:spec.replicas".parse().expect("the rule is right");
        let rules = std::slice::from_ref(&rule);
        assert_eq!(take_live_values(rules, "Other", &mut desired, &live), []);
        let notes = take_live_values(rules, "Job", &mut desired, &live);
        let path = FieldPath::default().key("spec").key("replicas");
        assert_eq!(notes, [Note::KeepsLive { path, rule: "Job:spec.replicas".into() }]);
        assert_eq!(desired.attributes["spec"], json!({"replicas": 5, "paused": true}));
    }
}
