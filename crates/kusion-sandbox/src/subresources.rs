//! Creates below an object: bindings, evictions and tokens.

use crate::api::{Api, Deletion, Resource, Scope, Selection, Write};
use crate::pods::eviction::{self, Verdict};
use crate::registry::Served;
use crate::write::Failed;
use crate::{Status, clock, object};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

/// Answers a create below an object.
pub(crate) fn create(
    api: &Api,
    served: &Served,
    namespace: &str,
    name: &str,
    body: &Value,
    write: &Write<'_>,
) -> Result<Value, Status> {
    match write.subresource {
        "binding" => bind(api, served, namespace, name, body, write),
        "eviction" => evict(api, namespace, name, body, write),
        "token" => token(api, namespace, name, body),
        other => Err(crate::http::not_simulated(other)),
    }
}

/// Returns the `Status` of a success.
pub(crate) fn success(code: u16) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code})
}

fn bind(
    api: &Api,
    served: &Served,
    namespace: &str,
    name: &str,
    body: &Value,
    write: &Write<'_>,
) -> Result<Value, Status> {
    let node = object::text(body, &["target", "name"]);
    loop {
        let stored = api.cluster().get(served, namespace, name)?;
        let old = stored.value();
        let (group, plural) = (&served.resource.group, &served.resource.plural);
        if object::is_terminating(&old) {
            let why = format!("pod {name} is being deleted, cannot be assigned to a host");
            return Err(Status::conflict(group, plural, name, &why));
        }
        let bound = object::text(&old, &["spec", "nodeName"]);
        if !bound.is_empty() {
            let why = format!("pod {name} is already assigned to node \"{bound}\"");
            return Err(Status::conflict(group, plural, name, &why));
        }
        let mut new = (*old).clone();
        object::child_mut(&mut new, "spec").insert("nodeName".to_owned(), node.into());
        let condition = json!({
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": null,
            "lastTransitionTime": clock::now(),
        });
        let conditions =
            object::child_mut(&mut new, "status").entry("conditions").or_insert_with(|| json!([]));
        if let Some(list) = conditions.as_array_mut() {
            list.retain(|it| it["type"] != "PodScheduled");
            list.push(condition);
        }
        if write.dry_run {
            return Ok(success(201));
        }
        match api.cluster().commit_update(served, &stored, new) {
            Err(Failed::Race) => {}
            Err(Failed::Status(status)) => return Err(status),
            Ok(_) => return Ok(success(201)),
        }
    }
}

fn evict(
    api: &Api,
    namespace: &str,
    name: &str,
    body: &Value,
    write: &Write<'_>,
) -> Result<Value, Status> {
    let options = &body["deleteOptions"];
    let deletion = Deletion {
        grace_seconds: options["gracePeriodSeconds"].as_i64(),
        uid: options["preconditions"]["uid"].as_str().map(str::to_owned),
        resource_version: options["preconditions"]["resourceVersion"].as_str().map(str::to_owned),
        dry_run: write.dry_run,
        ..Deletion::default()
    };
    let pods = Resource::new("", "v1", "pods");
    let budgets = Resource::new("policy", "v1", "poddisruptionbudgets");
    loop {
        let pod = api.get(&pods, namespace, name)?;
        let (list, _) = api.list(&budgets, Scope::Namespace(namespace), Selection::default())?;
        if let Verdict::AllowAfter(idx, status) = eviction::decide(&pod, &list, &clock::now())?
            && !write.dry_run
        {
            let mut budget = (*list[idx]).clone();
            budget["status"] = *status;
            let name = object::name(&budget).to_owned();
            let write = Write { subresource: "status", ..Write::default() };
            match api.update(&budgets, namespace, &name, budget, &write) {
                Err(status) if status.is_conflict() => continue,
                result => result?,
            };
        }
        api.delete(&pods, namespace, name, &deletion)?;
        return Ok(success(201));
    }
}

fn token(api: &Api, namespace: &str, name: &str, body: &Value) -> Result<Value, Status> {
    let account = api.get(&Resource::new("", "v1", "serviceaccounts"), namespace, name)?;
    let seconds = body["spec"]["expirationSeconds"].as_i64().unwrap_or(3600);
    let expires = clock::after(seconds);
    let mut claims = claims(namespace, name, object::uid(&account));
    claims["expires"] = expires.as_str().into();
    let mut answer = body.clone();
    answer["apiVersion"] = "authentication.k8s.io/v1".into();
    answer["kind"] = "TokenRequest".into();
    let meta = object::meta_mut(&mut answer);
    meta.insert("name".to_owned(), name.into());
    meta.insert("namespace".to_owned(), namespace.into());
    meta.insert("creationTimestamp".to_owned(), clock::now().into());
    object::child_mut(&mut answer, "spec").insert("expirationSeconds".to_owned(), seconds.into());
    answer["status"] = json!({
        "token": token_of(&claims),
        "expirationTimestamp": expires,
    });
    Ok(answer)
}

/// Returns the token of an account that does not expire.
pub(crate) fn legacy_token(namespace: &str, name: &str, uid: &str) -> String {
    token_of(&claims(namespace, name, uid))
}

fn claims(namespace: &str, name: &str, uid: &str) -> Value {
    json!({
        "iss": "https://kubernetes.default.svc",
        "sub": format!("system:serviceaccount:{namespace}:{name}"),
        "uid": uid,
    })
}

fn token_of(claims: &Value) -> String {
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    format!("{}.{}.sandbox", part(&json!({"alg": "none", "typ": "JWT"})), part(claims))
}

/// Returns the user of a token that [`create`] gave out.
pub(crate) fn token_user(token: &str) -> Option<Value> {
    let claims = token.split('.').nth(1)?;
    let claims: Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(claims.as_bytes()).ok()?).ok()?;
    let user = claims["sub"].as_str()?;
    let namespace = user.split(':').nth(2)?;
    Some(json!({
        "username": user,
        "uid": claims["uid"],
        "groups": [
            "system:serviceaccounts",
            format!("system:serviceaccounts:{namespace}"),
            "system:authenticated",
        ],
    }))
}
