//! Conditions that the server itself writes: of APIs, flow schemas, policies and definitions.

use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, text};
use crate::controllers::task::Key;
use crate::controllers::world::World;
use crate::registry::Served;
use kusion_k8s_schema::policy::{TypedKind, named_resources, type_warnings};
use serde_json::{Value, json};
use std::sync::Arc;

/// The field manager of the server.
const SERVER: &str = "kube-apiserver";
/// The field manager of the part of the server that shares its capacity.
const FAIRNESS: &str = "api-priority-and-fairness-config-consumer-v1";
/// The annotation without which a group of Kubernetes itself cannot be defined.
pub(crate) const APPROVAL: &str = "api-approved.kubernetes.io";
const APPROVAL_CONDITION: &str = "KubernetesAPIApprovalPolicyConformant";

/// Writes the conditions of an object.
pub(crate) fn sync(world: &mut World, key: &Key, kind: Kind) -> Result<(), Status> {
    let Some(object) = world.get(kind, "", key.name()) else { return Ok(()) };
    if meta::is_deleting(&object) {
        return Ok(());
    }
    let (manager, condition) = match kind {
        Kind::APIService => (SERVER, Some(available(world, &object))),
        Kind::FlowSchema => (FAIRNESS, Some(dangling(world, &object))),
        Kind::CustomResourceDefinition => (SERVER, approval(&object)),
        Kind::ValidatingAdmissionPolicy => return checked(world, &object),
        _ => return Ok(()),
    };
    let Some(condition) = condition else { return Ok(()) };
    let mut status = object["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status_as(manager, kind, &object, status)
}

fn available(world: &World, api: &Value) -> Value {
    let service = &api["spec"]["service"];
    let (namespace, name) = (text(&service["namespace"]), text(&service["name"]));
    let (status, reason, message) = if service.is_null() {
        ("True", "Local", "Local APIServices are always available".to_owned())
    } else if !world.cache.has(Kind::Service, namespace, name) {
        let message = format!("service/{name} in {namespace:?} is not present");
        ("False", "ServiceNotFound", message)
    } else {
        let message = format!(
            "failing or missing response from service/{name} in {namespace:?}: the sandbox runs no \
             processes"
        );
        ("False", "FailedDiscoveryCheck", message)
    };
    json!({"type": "Available", "status": status, "reason": reason, "message": message})
}

fn dangling(world: &World, schema: &Value) -> Value {
    let name = text(&schema["spec"]["priorityLevelConfiguration"]["name"]);
    let start =
        format!("This FlowSchema references the PriorityLevelConfiguration object named {name:?}");
    let (status, reason, message) = if world.cache.has(Kind::PriorityLevelConfiguration, "", name) {
        ("False", "Found", format!("{start} and it exists"))
    } else {
        ("True", "NotFound", format!("{start} but there is no such object"))
    };
    json!({"type": "Dangling", "status": status, "reason": reason, "message": message})
}

/// Whether the definition of a kind in a group of Kubernetes itself was approved; none in others.
fn approval(definition: &Value) -> Option<Value> {
    // The names are accepted first.
    if !is_protected(text(&definition["spec"]["group"]))
        || meta::condition(definition, "Established").is_none()
    {
        return None;
    }
    let value = meta::annotation(definition, APPROVAL).unwrap_or_default();
    let (status, reason, message) = if value.starts_with("unapproved") {
        ("False", "UnapprovedAnnotation", format!("not approved: {value:?}"))
    } else {
        ("True", "ApprovedAnnotation", format!("approved in {value}"))
    };
    Some(json!({"type": APPROVAL_CONDITION, "status": status, "reason": reason,
        "message": message}))
}

/// Whether a group belongs to Kubernetes itself.
pub(crate) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|own| {
        group.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// Notes that a policy was looked at, and what does not fit the types of the kinds it names.
fn checked(world: &World, policy: &Value) -> Result<(), Status> {
    let mut status = policy["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["observedGeneration"] = meta::generation(policy).into();
    let registry = &world.api.cluster().registry;
    let served: Vec<Arc<Served>> = named_resources(policy)
        .iter()
        .filter_map(|(group, version, plural)| registry.find(group, version, plural))
        .collect();
    let kinds: Vec<TypedKind<'_>> = served
        .iter()
        .filter_map(|it| {
            let typed = it.typed()?;
            let (group, version) = (&*it.resource.group, &*it.resource.version);
            let (types, root) = (typed.table, typed.ty);
            Some(TypedKind { group, version, kind: &it.kind, types, root })
        })
        .collect();
    let warnings: Vec<Value> = type_warnings(policy, &kinds)
        .into_iter()
        .map(|(field, warning)| json!({"fieldRef": field, "warning": warning}))
        .collect();
    status["typeChecking"] =
        if warnings.is_empty() { json!({}) } else { json!({"expressionWarnings": warnings}) };
    world.update_status(Kind::ValidatingAdmissionPolicy, policy, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_kubernetes_are_protected() {
        for group in ["k8s.io", "gateway.networking.k8s.io", "x.kubernetes.io"] {
            assert!(is_protected(group), "{group}");
        }
        for group in ["example.com", "myk8s.io", ""] {
            assert!(!is_protected(group), "{group}");
        }
    }

    #[test]
    fn an_approved_definition_says_so() {
        let definition = |value: &str| {
            json!({"metadata": {"annotations": {APPROVAL: value}}, "spec": {"group": "a.k8s.io"},
                "status": {"conditions": [{"type": "Established", "status": "True"}]}})
        };
        let condition = approval(&definition("https://x")).unwrap();
        assert_eq!(
            (&condition["status"], &condition["message"]),
            (&"True".into(), &"approved in https://x".into())
        );
        let condition = approval(&definition("unapproved, a test")).unwrap();
        assert_eq!(condition["reason"], "UnapprovedAnnotation");
    }
}
