//! Which requests a policy, a binding or a webhook is about.

use super::{list, text};
use crate::selector;
use serde_json::Value;

/// A request as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// API group.
    pub group: &'a str,
    /// Version of the request.
    pub version: &'a str,
    /// Plural name.
    pub resource: &'a str,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'a str,
    /// Whether the object is in a namespace.
    pub namespaced: bool,
    /// Name of the object; may be empty.
    pub name: &'a str,
    /// The labels of the namespace, or of the object if it is one itself; `None` for other objects
    /// without a namespace.
    pub namespace_labels: Option<&'a Value>,
    /// The new object; may be null.
    pub object: &'a Value,
    /// The stored object; may be null.
    pub old_object: &'a Value,
    /// Group and version of all forms in which the object is served.
    pub versions: &'a [(String, String)],
}

/// Decides whether constraints (`matchConstraints`, `matchResources` or a webhook) select a request;
/// `key` names their list of rules.
///
/// Returns the group and version in which the object is to be seen: those of the request, or of
/// another form of it that the rules name (`matchPolicy: Equivalent`).
pub fn matches<'a>(
    constraints: &Value,
    key: &str,
    request: &Request<'a>,
) -> Option<(&'a str, &'a str)> {
    let labels = request.namespace_labels;
    let namespaces = constraints.get("namespaceSelector").filter(|it| !selector::is_empty(it));
    if let (Some(wanted), Some(labels)) = (namespaces, labels)
        && !selector::matches(wanted, labels)
    {
        return None;
    }
    let objects = constraints.get("objectSelector").filter(|it| !selector::is_empty(it));
    if let Some(wanted) = objects {
        let has = |object: &Value| {
            !object.is_null()
                && selector::matches(
                    wanted,
                    object.pointer("/metadata/labels").unwrap_or(&Value::Null),
                )
        };
        if !has(request.object) && !has(request.old_object) {
            return None;
        }
    }
    let own = (request.group, request.version);
    let excluded = list(constraints, "excludeResourceRules");
    let equivalent = text(constraints, "matchPolicy") != "Exact";
    if excluded.iter().any(|rule| selected(rule, request, equivalent).is_some()) {
        return None;
    }
    // A binding without rules selects all that its policy does.
    match constraints.get(key).and_then(Value::as_array) {
        Some(rules) if !rules.is_empty() => {
            rules.iter().find_map(|rule| selected(rule, request, equivalent))
        }
        _ if key == "resourceRules" => Some(own),
        _ => None,
    }
}

fn selected<'a>(
    rule: &Value,
    request: &Request<'a>,
    equivalent: bool,
) -> Option<(&'a str, &'a str)> {
    let has = |key: &str, wanted: &str| {
        list(rule, key).iter().filter_map(Value::as_str).any(|it| it == "*" || it == wanted)
    };
    let names = list(rule, "resourceNames");
    if !has("operations", request.operation)
        || !names.is_empty() && !names.iter().any(|it| it == request.name)
    {
        return None;
    }
    match text(rule, "scope") {
        "Namespaced" if !request.namespaced => return None,
        "Cluster" if request.namespaced => return None,
        _ => {}
    }
    let is_resource = list(rule, "resources").iter().filter_map(Value::as_str).any(|it| {
        let (resource, below) = it.split_once('/').unwrap_or((it, ""));
        (resource == "*" || resource == request.resource)
            && (below == "*" || below == request.subresource)
    });
    if !is_resource {
        return None;
    }
    let own = (request.group, request.version);
    let others = request.versions.iter().map(|(group, version)| (&**group, &**version));
    let others = others.filter(|_| equivalent);
    std::iter::once(own)
        .chain(others)
        .find(|(group, version)| has("apiGroups", group) && has("apiVersions", version))
}
