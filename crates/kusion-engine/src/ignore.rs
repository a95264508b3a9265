//! Ignored fields, which keep their live values.

use kusion_model::{IgnoreRule, Note, Resource};
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
        for path in rule.path.find(&desired.attributes) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{FieldPath, ResourceId, ResourceType};
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
