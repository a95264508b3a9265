//! Webhooks: programs at loopback addresses that are asked by HTTP.

use super::call::{self, Endpoint};
use super::forbid;
use super::index::{Hook, Index};
use super::mutate::complete;
use super::request::{Asked, Form};
use crate::Status;
use crate::object::{at, text};
use data_encoding::BASE64;
use kusion_k8s_merge::{PatchError, json_patch};
use serde_json::{Value, json};
use std::time::Duration;

/// The most bytes of a message that a webhook may give.
const LONGEST_MESSAGE: usize = 64 * 1024;
/// Reasons that a response can have; others are left out.
const REASONS: [&str; 12] = [
    "Unauthorized",
    "Forbidden",
    "NotFound",
    "AlreadyExists",
    "Conflict",
    "Gone",
    "Invalid",
    "Timeout",
    "TooManyRequests",
    "BadRequest",
    "MethodNotAllowed",
    "InternalError",
];

/// Asks all webhooks that may refuse an object.
pub(super) fn check(index: &Index, asked: &mut Asked<'_>) -> Result<(), Status> {
    for hook in &index.validating_hooks {
        ask(hook, asked, false)?;
    }
    Ok(())
}

/// Lets a webhook change an object.
pub(super) fn mutate(hook: &Hook, asked: &mut Asked<'_>) -> Result<(), Status> {
    let Some((mut form, patch)) = ask(hook, asked, true)? else { return Ok(()) };
    let Some(patch) = patch.filter(|_| !form.object.is_null()) else { return Ok(()) };
    let made = json_patch(&form.object, &patch).map_err(|error| match error {
        PatchError::Unprocessable(why) => why,
        error => error.to_string(),
    });
    let made = made.and_then(|made| complete(&form.served, made));
    form.object = made.map_err(|why| Status::internal(&why))?;
    asked.take(form);
    Ok(())
}

/// Asks a webhook, if it is meant; returns the form of the request and the patch it answered with.
fn ask(
    hook: &Hook,
    asked: &Asked<'_>,
    mutates: bool,
) -> Result<Option<(Form, Option<Value>)>, Status> {
    let Some(wanted) = asked.selected(&hook.config, "rules") else { return Ok(None) };
    let form = asked.form(&wanted);
    let fails = text(&hook.config, &["failurePolicy"]) != "Ignore";
    let access = asked.access();
    match hook.conditions.hold(&form.subject(asked, &Value::Null, &access)) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(_) if !fails => return Ok(None),
        Err(why) => return Err(forbid(asked, &why)),
    }
    let effects = text(&hook.config, &["sideEffects"]);
    if asked.write.dry_run && !["None", "NoneOnDryRun"].contains(&effects) {
        let why = format!("admission webhook \"{}\" does not support dry run", hook.name);
        return Err(Status::bad_request(why));
    }
    let response = match sent(hook, &form, mutates) {
        Ok(response) => response,
        Err(_) if !fails => return Ok(Some((form, None))),
        Err(why) => {
            let why = format!("failed calling webhook \"{}\": {why}", hook.name);
            return Err(Status::internal(&why));
        }
    };
    for warning in at(&response, &["warnings"]).as_array().into_iter().flatten() {
        asked.write.caller.warn(shortened(warning.as_str().unwrap_or_default()));
    }
    if response["allowed"] != true {
        return Err(denied(&hook.name, &response["status"]));
    }
    match patch(&response) {
        Ok(patch) => Ok(Some((form, patch))),
        Err(_) if !fails => Ok(Some((form, None))),
        Err(why) => Err(Status::internal(&why)),
    }
}

/// Sends a request to a webhook; returns its response.
fn sent(hook: &Hook, form: &Form, mutates: bool) -> Result<Value, String> {
    let endpoint = Endpoint::read(at(&hook.config, &["clientConfig"]))
        .map_err(|why| format!("failed to call webhook: {why}"))?;
    let seconds = at(&hook.config, &["timeoutSeconds"]).as_u64().unwrap_or(10).clamp(1, 30);
    let versions = at(&hook.config, &["admissionReviewVersions"]).as_array();
    let known = |it: &&Value| **it == "v1" || **it == "v1beta1";
    let version = versions.and_then(|all| all.iter().find(known)).and_then(Value::as_str);
    let mut request = form.request.clone();
    request["object"] = form.object.clone();
    request["oldObject"] = form.old.clone();
    let uid = request["uid"].clone();
    let api_version = format!("admission.k8s.io/{}", version.unwrap_or("v1"));
    let review = json!({"kind": "AdmissionReview", "apiVersion": api_version, "request": request});
    let body = call::post(&endpoint, review.to_string(), Duration::from_secs(seconds))
        .map_err(|why| format!("failed to call webhook: {why}"))?;
    let invalid = |why: &str| format!("received invalid webhook response: {why}");
    let answer: Value = serde_json::from_slice(&body).map_err(|error| {
        format!("failed to call webhook: couldn't get version/kind; json parse error: {error}")
    })?;
    let response = answer.get("response").filter(|it| it.is_object());
    let response = response.ok_or_else(|| invalid("webhook response was absent"))?;
    if response["uid"] != uid {
        let (wanted, got) = (&uid, &response["uid"]);
        return Err(invalid(&format!("expected response.uid={wanted}, got {got}")));
    }
    let has_patch = !text(response, &["patch"]).is_empty();
    let kind = text(response, &["patchType"]);
    match (mutates, has_patch, kind) {
        (false, true, _) => Err(invalid("validating webhook may not return response.patch")),
        (false, _, kind) if !kind.is_empty() => {
            Err(invalid("validating webhook may not return response.patchType"))
        }
        (true, true, "") => {
            Err(invalid("webhook returned response.patch but not response.patchType"))
        }
        (true, false, "JSONPatch") => {
            Err(invalid("webhook returned response.patchType but not response.patch"))
        }
        (true, true, kind) if kind != "JSONPatch" => {
            Err(invalid(&format!("webhook returned invalid response.patchType of {kind:?}")))
        }
        _ => Ok(response.clone()),
    }
}

fn patch(response: &Value) -> Result<Option<Value>, String> {
    let encoded = text(response, &["patch"]);
    if encoded.is_empty() {
        return Ok(None);
    }
    let bytes = BASE64.decode(encoded.as_bytes()).map_err(|error| error.to_string())?;
    let patch: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    Ok(Some(patch))
}

/// Words the refusal of a webhook.
fn denied(name: &str, status: &Value) -> Status {
    let (message, reason) = (shortened(text(status, &["message"])), text(status, &["reason"]));
    let start = format!("admission webhook \"{name}\" denied the request");
    let message = match (&*message, reason) {
        ("", "") => format!("{start} without explanation"),
        ("", reason) => format!("{start}: {}", shortened(reason)),
        (message, _) => format!("{start}: {message}"),
    };
    let code = at(status, &["code"]).as_u64().and_then(|it| u16::try_from(it).ok());
    let code = code.filter(|it| (400..600).contains(it)).unwrap_or(400);
    let reason = REASONS.into_iter().find(|it| *it == reason).unwrap_or_default();
    Status { code, reason, message, details: Value::Null }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_MESSAGE).collect()
}
