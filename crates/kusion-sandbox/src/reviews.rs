//! Reviews: questions that are answered and not stored.

use crate::Status;
use crate::api::Write;
use crate::cluster::Cluster;
use crate::rbac::{Action, User};
use crate::registry::Served;
use serde_json::{Value, json};

/// Answers a review.
pub(crate) fn answer(
    cluster: &Cluster,
    served: &Served,
    user: &User,
    write: &Write<'_>,
    mut review: Value,
) -> Result<Value, Status> {
    crate::write::check_type(served, &mut review)?;
    check_attributes(served, &review)?;
    if served.kind.ends_with("AccessReview") {
        crate::write::record_managers(cluster, served, write, &mut review);
    }
    let asked_namespace = review["spec"]["namespace"].as_str().unwrap_or_default().to_owned();
    if &*served.kind == "SelfSubjectRulesReview" {
        review["spec"] = json!({});
    }
    let status = match &*served.kind {
        "SelfSubjectAccessReview" => access(cluster, user, &review["spec"]),
        "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            access(cluster, &asked_for(&review["spec"]), &review["spec"])
        }
        "SelfSubjectRulesReview" => rules(cluster, user, &asked_namespace),
        "SelfSubjectReview" => {
            review["metadata"] = json!({"creationTimestamp": crate::clock::now()});
            json!({"userInfo": user.shown()})
        }
        "TokenReview" => token_review(&review),
        _ => return Err(Status::method_not_allowed()),
    };
    if review.get("metadata").is_none() {
        review["metadata"] = json!({});
    }
    review["status"] = status;
    Ok(review)
}

/// Whether a user may do what a review asks for.
fn access(cluster: &Cluster, user: &User, spec: &Value) -> Value {
    let of = match &spec["resourceAttributes"] {
        Value::Null => &spec["nonResourceAttributes"],
        resource => resource,
    };
    let text = |key: &str| of[key].as_str().unwrap_or_default();
    let action = Action {
        verb: text("verb"),
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        namespace: text("namespace"),
        name: text("name"),
        path: text("path"),
    };
    match cluster.allows(user, &action) {
        Some(reason) if reason.is_empty() => json!({"allowed": true}),
        Some(reason) => json!({"allowed": true, "reason": reason}),
        None => json!({"allowed": false}),
    }
}

/// The user that a review asks for, with the groups that it names.
fn asked_for(spec: &Value) -> User {
    let text = |key: &str| spec[key].as_str().unwrap_or_default().to_owned();
    let groups = spec["groups"].as_array().into_iter().flatten();
    let groups = groups.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    User { name: text("user"), uid: text("uid"), groups }
}

/// All that a user may do in a namespace.
fn rules(cluster: &Cluster, user: &User, namespace: &str) -> Value {
    let all: Vec<Value> =
        cluster.rules(user, namespace).into_iter().flat_map(|(_, rules)| rules).collect();
    let (paths, resources): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|it| it["nonResourceURLs"].is_array());
    json!({"incomplete": false, "resourceRules": resources, "nonResourceRules": paths})
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
