//! Reviews: questions that are answered and not stored. Everything is allowed.

use crate::Status;
use crate::cluster::Cluster;
use crate::registry::Served;
use serde_json::{Value, json};

/// The name of the user that holds the token of the sandbox.
pub(crate) const USER: &str = "admin";

/// Returns the user that every accepted client is.
pub(crate) fn user() -> Value {
    json!({"username": USER, "uid": "1", "groups": ["system:masters", "system:authenticated"]})
}

/// Answers a review.
pub(crate) fn answer(
    _cluster: &Cluster,
    served: &Served,
    _namespace: &str,
    mut review: Value,
) -> Result<Value, Status> {
    crate::write::check_type(served, &mut review)?;
    check_attributes(served, &review)?;
    if &*served.kind == "SelfSubjectRulesReview" {
        review["spec"] = json!({});
    }
    let status = match &*served.kind {
        "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            json!({"allowed": true, "reason": "everything is allowed in the sandbox"})
        }
        "SelfSubjectRulesReview" => json!({
            "incomplete": false,
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }),
        "SelfSubjectReview" => json!({"userInfo": user()}),
        "TokenReview" => token_review(&review),
        _ => return Err(Status::method_not_allowed()),
    };
    if review.get("metadata").is_none() {
        review["metadata"] = json!({});
    }
    review["status"] = status;
    Ok(review)
}

/// A question about access names a resource or a path.
fn check_attributes(served: &Served, review: &Value) -> Result<(), Status> {
    let asks = served.kind.ends_with("AccessReview");
    let spec = &review["spec"];
    if !asks || spec["resourceAttributes"].is_null() != spec["nonResourceAttributes"].is_null() {
        return Ok(());
    }
    let cause = crate::Cause::new(
        "FieldValueInvalid",
        "spec.resourceAttributes",
        "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be \
         specified",
    );
    Err(Status::invalid(&served.resource.group, "", "", &[cause]))
}

fn token_review(review: &Value) -> Value {
    match crate::subresources::token_user(review["spec"]["token"].as_str().unwrap_or_default()) {
        Some(user) => {
            json!({"authenticated": true, "user": user, "audiences": ["https://kubernetes.default.svc"]})
        }
        None => json!({"user": {}, "error": "invalid bearer token"}),
    }
}
