//! Policies and webhooks that change objects.

use super::index::{Bound, Index};
use super::params;
use super::request::Asked;
use super::webhooks;
use crate::Status;
use crate::api::PatchKind;
use crate::object::{self, at, text};
use crate::registry::Served;
use kusion_k8s_merge::{PatchError, json_patch};
use kusion_k8s_schema::policy::Mutation;
use serde_json::{Value, json};

/// Lets all of them change the object, in order; those that want to see later changes run twice.
pub(super) fn run(index: &Index, asked: &mut Asked<'_>) -> Result<(), Status> {
    if !index.changes() {
        return Ok(());
    }
    let mut seen = Vec::new();
    for bound in &index.mutating {
        apply(bound, asked)?;
        seen.push(asked.object.clone());
    }
    let mut hooks_seen = Vec::new();
    for hook in &index.mutating_hooks {
        webhooks::mutate(hook, asked)?;
        hooks_seen.push(asked.object.clone());
    }
    for (bound, before) in index.mutating.iter().zip(&seen) {
        let again = text(&bound.policy, &["spec", "reinvocationPolicy"]) == "IfNeeded";
        if again && *before != asked.object {
            apply(bound, asked)?;
        }
    }
    for (hook, before) in index.mutating_hooks.iter().zip(&hooks_seen) {
        let again = text(&hook.config, &["reinvocationPolicy"]) == "IfNeeded";
        if again && *before != asked.object {
            webhooks::mutate(hook, asked)?;
        }
    }
    Ok(())
}

fn apply(bound: &Bound, asked: &mut Asked<'_>) -> Result<(), Status> {
    let constraints = at(&bound.policy, &["spec", "matchConstraints"]);
    if asked.object.is_null() {
        return Ok(());
    }
    let Some(wanted) = asked.selected(constraints, "resourceRules") else { return Ok(()) };
    for binding in &bound.bindings {
        let own = at(binding, &["spec", "matchResources"]);
        if !own.is_null() && asked.selected(own, "resourceRules").is_none() {
            continue;
        }
        let params = params::kind(asked, &bound.policy)
            .and_then(|kind| params::of(asked, kind.as_ref(), binding));
        let result = params.and_then(|params| {
            params.iter().try_for_each(|param| apply_with(bound, asked, &wanted, param))
        });
        match result {
            Err(why) if bound.compiled.fails() => {
                let (policy, binding) = (&bound.name, object::name(binding));
                let message =
                    format!("policy '{policy}' with binding '{binding}' denied request: {why}");
                let mut details = super::forbid(asked, "").details;
                details["causes"] = json!([{"message": message}]);
                return Err(Status { code: 403, reason: "Invalid", message, details });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes the changes of a policy with one parameter; nothing is changed if one of them fails.
fn apply_with(
    bound: &Bound,
    asked: &mut Asked<'_>,
    wanted: &(String, String),
    param: &Value,
) -> Result<(), String> {
    let mut form = asked.form(wanted);
    let holds = bound.compiled.applies(&form.subject(asked, param, &asked.access()))?;
    if !holds {
        return Ok(());
    }
    for at in 0..bound.compiled.n_mutations() {
        let mutation = {
            let access = asked.access();
            bound.compiled.mutation(at, &form.subject(asked, param, &access))?
        };
        if let Some(made) = changed(&form.served, &form.object, &mutation)? {
            form.object = complete(&form.served, made)?;
        }
    }
    asked.take(form);
    Ok(())
}

/// Returns an object after a change; `None` if a test of a patch fails.
fn changed(served: &Served, object: &Value, mutation: &Mutation) -> Result<Option<Value>, String> {
    match mutation {
        Mutation::Patch(patch) => match json_patch(object, patch) {
            Ok(made) => Ok(Some(made)),
            Err(PatchError::Unprocessable(why)) if why.starts_with("testing ") => Ok(None),
            Err(PatchError::Unprocessable(why)) => Err(format!("JSON Patch: {why}")),
            Err(error) => Err(format!("JSON Patch: {error}")),
        },
        Mutation::Apply(config) => {
            let typed = served.typed().ok_or("the kind has no schema")?;
            let mut config = config.clone();
            for key in ["apiVersion", "kind"] {
                config[key] = object[key].clone();
            }
            let texts = |problems: &[kusion_k8s_merge::Problem]| {
                let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
                all.join("\n")
            };
            let problems = typed.check(&config);
            if !problems.is_empty() {
                let why = texts(&problems);
                return Err(format!(
                    "error applying patch: failed to convert patch object to typed object: {why}"
                ));
            }
            let mut made = typed
                .merge(object, &config)
                .map_err(|it| format!("error applying patch: {}", texts(&it)))?;
            // Records of managers are not merged, and stay.
            let records = at(object, &["metadata", "managedFields"]);
            if !records.is_null() {
                made["metadata"]["managedFields"] = records.clone();
            }
            Ok(Some(made))
        }
    }
}

/// Brings a changed object into the form of its kind, and fills in defaults.
pub(super) fn complete(served: &Served, mut object: Value) -> Result<Value, String> {
    let sent = object.clone();
    crate::write::normalize(served, PatchKind::Json, &sent, &mut object)
        .map_err(|status| status.message)?;
    crate::defaults::apply_merged(served, &mut object);
    Ok(object)
}
