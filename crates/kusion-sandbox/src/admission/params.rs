//! The objects that bindings pass to policies.

use super::request::Asked;
use crate::api::{ResourceFacts, Scope, Selection};
use crate::object::{at, text};
use kusion_k8s_schema::selector;
use serde_json::Value;
use std::sync::Arc;

/// Returns the resource of the parameters of a policy; `None` if it has none.
///
/// # Errors
/// There is no such kind: no binding of the policy can be used. The reason.
pub(super) fn kind(asked: &Asked<'_>, policy: &Value) -> Result<Option<ResourceFacts>, String> {
    let kind = at(policy, &["spec", "paramKind"]);
    if kind.is_null() {
        return Ok(None);
    }
    let (version, name) = (text(kind, &["apiVersion"]), text(kind, &["kind"]));
    let facts = asked.cluster.api().resource_of(version, name).ok_or_else(|| {
        let version =
            if version.contains('/') { version.to_owned() } else { format!("/{version}") };
        format!(
            "failed to configure policy: failed to find resource referenced by paramKind: \
             '{version}, Kind={name}'"
        )
    })?;
    Ok(Some(facts))
}

/// Returns the parameters of a binding: one that is null if the policy has none; none at all if
/// they are missing and that is allowed.
///
/// # Errors
/// The binding cannot be used; the reason.
pub(super) fn of(
    asked: &Asked<'_>,
    kind: Option<&ResourceFacts>,
    binding: &Value,
) -> Result<Vec<Arc<Value>>, String> {
    let reference = at(binding, &["spec", "paramRef"]);
    let Some(facts) = kind.filter(|_| !reference.is_null()) else {
        return Ok(vec![Arc::new(Value::Null)]);
    };
    let api = asked.cluster.api();
    let given = text(reference, &["namespace"]);
    let namespace = match (facts.namespaced, given) {
        (false, "") => "",
        (false, _) => {
            return Err(
                "failed to configure binding: paramRef.namespace must not be provided for \
                        a cluster-scoped `paramKind`"
                    .to_owned(),
            );
        }
        (true, "") if !asked.served.namespaced => {
            return Err("failed to configure binding: cannot use namespaced paramRef in policy \
                        binding that matches cluster-scoped resources"
                .to_owned());
        }
        (true, "") => asked.namespace_name(),
        (true, given) => given,
    };
    let mut found: Vec<Arc<Value>> = match text(reference, &["name"]) {
        "" => {
            let scope = if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace) };
            let all = api.list(&facts.resource, scope, Selection::default());
            let mut all = all.map(|it| it.0).unwrap_or_default();
            let wanted = at(reference, &["selector"]);
            all.retain(|it| selector::matches(wanted, at(it, &["metadata", "labels"])));
            all
        }
        name => api.get(&facts.resource, namespace, name).into_iter().collect(),
    };
    if found.is_empty() && text(reference, &["parameterNotFoundAction"]) == "Deny" {
        return Err("failed to configure binding: no params found for policy binding with `Deny` \
                    parameterNotFoundAction"
            .to_owned());
    }
    found.sort_by(|left, right| {
        at(left, &["metadata", "name"]).as_str().cmp(&at(right, &["metadata", "name"]).as_str())
    });
    Ok(found)
}
