//! Offline checks of resources.

use crate::explain;
use crate::key::ObjectKey;
use kusion_k8s_schema::{Finding, builtin, check as decode, names};
use kusion_model::{FieldPath, Problem, Resource};
use serde_json::Value;

/// Returns the problems of a resource: unknown fields, wrong types, invalid names. Only built-in
/// kinds are checked.
pub(crate) fn check(resource: &Resource) -> Vec<Problem> {
    let attributes = &resource.attributes;
    let Some(key) = ObjectKey::of_object(attributes) else {
        let missing = ["apiVersion", "kind"]
            .into_iter()
            .filter(|name| attributes.get(name).and_then(Value::as_str).is_none_or(str::is_empty));
        let mut missing: Vec<&str> = missing.collect();
        if missing.is_empty() {
            missing.push("metadata.name");
        }
        let whole = FieldPath::default();
        let problem = |name| Problem::new(whole.clone(), format!("missing {name}"));
        return missing.into_iter().map(problem).collect();
    };
    let (group, version) = key.group_version();
    let mut found = Vec::new();
    let api = builtin();
    let namespaced = match api.resource_of_kind(group, version, &key.kind) {
        Some(served) => served.namespaced,
        None => !key.namespace.is_empty(),
    };
    if let Some(ty) = api.type_of(group, version, &key.kind) {
        match decode(&api.types, ty, attributes) {
            Ok(findings) => found.extend(findings.iter().map(|it| of_finding(attributes, it))),
            Err(message) => {
                let problem = explain::of_decoding(&message);
                let other = || Problem::new(FieldPath::default(), message);
                found.push(explain::placed(attributes, problem.unwrap_or_else(other)));
            }
        }
    }
    if let Some(metadata) = attributes.get("metadata") {
        // A missing namespace is filled in when it is applied, and one too many is ignored.
        let mut metadata = metadata.clone();
        if let Value::Object(fields) = &mut metadata {
            if !namespaced {
                fields.remove("namespace");
            } else if key.namespace.is_empty() {
                fields.insert("namespace".to_owned(), "default".into());
            }
        }
        let rule = names::name_rule(group, &key.kind);
        let causes = names::object_meta(&metadata, namespaced, rule);
        found.extend(causes.iter().map(|it| explain::of_cause(&it.field, &it.message)));
    }
    found
}

fn of_finding(object: &Value, finding: &Finding) -> Problem {
    let Finding::Unknown(field) = finding else {
        return Problem::new(FieldPath::default(), finding.to_string());
    };
    explain::placed(object, explain::unknown(field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{ResourceId, ResourceType};
    use serde_json::{Map, json};

    fn found(attributes: Value) -> Vec<String> {
        let problems = check(&Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new(kusion_k8s_schema::RESOURCE_TYPE),
            attributes: attributes.into(),
            depends_on: Vec::new(),
            extensions: Map::new(),
        });
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_object_passes() {
        let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "new"}, "data": {"a": "b"}});
        assert_eq!(found(wanted), [] as [&str; 0]);
    }

    #[test]
    fn unknown_fields_wrong_types_and_bad_names_are_named() {
        let wanted = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "a"}, "spec": {"replica": 3}});
        assert_eq!(found(wanted), ["unknown field `spec.replica` (did you mean `replicas`?)"]);
        let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a"}, "data": {"a": 1}});
        assert_eq!(found(wanted).len(), 1);
        let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "A_b"}});
        assert!(found(wanted)[0].contains("metadata.name"), "the name is checked");
        assert_eq!(found(json!({"kind": "ConfigMap"})), ["missing apiVersion"]);
    }

    #[test]
    fn the_namespace_of_a_cluster_scoped_object_is_ignored() {
        let wanted = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "a", "namespace": "b"}});
        assert_eq!(found(wanted), [] as [&str; 0]);
    }

    #[test]
    fn custom_kinds_are_checked_by_name_only() {
        let wanted = json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "a"}, "spec": {"any": 1}});
        assert_eq!(found(wanted), [] as [&str; 0]);
    }
}
