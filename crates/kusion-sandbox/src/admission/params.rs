//! The objects that bindings pass to policies.

use super::request::Asked;
use crate::api::{Scope, Selection};
use crate::object::{at, text};
use kusion_k8s_schema::selector;
use serde_json::Value;
use std::sync::Arc;

/// Why a policy or a binding cannot be used.
pub(super) enum Misconfigured {
    /// The policy: no binding of it can be used.
    Policy(String),
    /// The binding only.
    Binding(String),
}

/// Returns the parameters of a binding: one that is null if the policy has none; none at all if
/// they are missing and that is allowed.
pub(super) fn of(
    asked: &Asked<'_>,
    policy: &Value,
    binding: &Value,
) -> Result<Vec<Arc<Value>>, Misconfigured> {
    let (kind, reference) =
        (at(policy, &["spec", "paramKind"]), at(binding, &["spec", "paramRef"]));
    if kind.is_null() || reference.is_null() {
        return Ok(vec![Arc::new(Value::Null)]);
    }
    let api = asked.cluster.api();
    let (version, name) = (text(kind, &["apiVersion"]), text(kind, &["kind"]));
    let Some(facts) = api.resource_of(version, name) else {
        let version =
            if version.contains('/') { version.to_owned() } else { format!("/{version}") };
        return Err(Misconfigured::Policy(format!(
            "failed to configure policy: failed to find resource referenced by paramKind: \
             '{version}, Kind={name}'"
        )));
    };
    let given = text(reference, &["namespace"]);
    let namespace = match (facts.namespaced, given) {
        (false, "") => "",
        (false, _) => {
            return Err(Misconfigured::Binding(
                "failed to configure binding: paramRef.namespace must not be provided for a \
                 cluster-scoped `paramKind`"
                    .to_owned(),
            ));
        }
        (true, "") if !asked.served.namespaced => {
            return Err(Misconfigured::Binding(
                "failed to configure binding: cannot use namespaced paramRef in policy binding \
                 that matches cluster-scoped resources"
                    .to_owned(),
            ));
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
        return Err(Misconfigured::Binding(
            "failed to configure binding: no params found for policy binding with `Deny` \
             parameterNotFoundAction"
                .to_owned(),
        ));
    }
    found.sort_by(|left, right| {
        at(left, &["metadata", "name"]).as_str().cmp(&at(right, &["metadata", "name"]).as_str())
    });
    Ok(found)
}
