//! What stands between a request and the store: webhooks, policies, priority levels, aggregation.

use super::{Object, child, items, set, set_number, spec};
use serde_json::json;

/// How soon a flow schema without a precedence is looked at.
const PRECEDENCE: i64 = 1000;
/// The share of a priority level that does not name one.
const SHARES: i64 = 30;

/// Hooks that are asked before an object is stored.
pub(super) fn webhooks(kind: &str, object: &mut Object) {
    for hook in items(object, "webhooks") {
        set(hook, "failurePolicy", "Fail");
        set(hook, "timeoutSeconds", 10);
        selectors(hook);
        if kind == "MutatingWebhookConfiguration" {
            set(hook, "reinvocationPolicy", "Never");
        }
        for rule in items(hook, "rules") {
            set(rule, "scope", "*");
        }
        if let Some(service) = child(hook, "clientConfig").and_then(|it| child(it, "service")) {
            set(service, "port", 443);
        }
    }
}

/// Which objects and namespaces a hook or policy looks at: all.
fn selectors(object: &mut Object) {
    set(object, "matchPolicy", "Equivalent");
    set(object, "namespaceSelector", json!({}));
    set(object, "objectSelector", json!({}));
}

/// A validating or mutating admission policy, or the binding of one.
pub(super) fn policy(kind: &str, object: &mut Object) {
    let policy = spec(object);
    let key = if kind.ends_with("PolicyBinding") {
        "matchResources"
    } else if kind.ends_with("Policy") {
        set(policy, "failurePolicy", "Fail");
        "matchConstraints"
    } else {
        return;
    };
    let Some(matched) = child(policy, key) else { return };
    selectors(matched);
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in items(matched, rules) {
            set(rule, "scope", "*");
        }
    }
}

/// An API that another server serves.
pub(super) fn aggregation(object: &mut Object) {
    if let Some(service) = child(spec(object), "service") {
        set(service, "port", 443);
    }
}

/// Which requests belong to a priority level.
pub(super) fn flow_schema(object: &mut Object) {
    set_number(spec(object), "matchingPrecedence", PRECEDENCE);
}

/// How much of the server some requests may take.
pub(super) fn priority_level(object: &mut Object) {
    let level = spec(object);
    if let Some(exempt) = child(level, "exempt") {
        set(exempt, "nominalConcurrencyShares", 0);
        set(exempt, "lendablePercent", 0);
    }
    let Some(limited) = child(level, "limited") else { return };
    set(limited, "nominalConcurrencyShares", SHARES);
    set(limited, "lendablePercent", 0);
    if let Some(queuing) = child(limited, "limitResponse").and_then(|it| child(it, "queuing")) {
        for (key, value) in [("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)] {
            set_number(queuing, key, value);
        }
    }
}
