//! Policies that refuse objects.

use super::forbid;
use super::index::{Bound, Index};
use super::params;
use super::request::{Asked, Form};
use crate::Status;
use crate::api::ResourceFacts;
use crate::object::{self, at};
use kusion_k8s_schema::policy::Denial;
use serde_json::{Value, json};

/// Asks all policies; the first denial is the answer, warnings are told in any case.
pub(super) fn check(index: &Index, asked: &Asked<'_>) -> Result<(), Status> {
    let mut first = None;
    for bound in &index.validating {
        let Some(wanted) =
            asked.selected(at(&bound.policy, &["spec", "matchConstraints"]), "resourceRules")
        else {
            continue;
        };
        let form = asked.form(&wanted);
        let kind = match params::kind(asked, &bound.policy) {
            Ok(kind) => kind,
            Err(why) => {
                let name = &bound.name;
                let why = format!("ValidatingAdmissionPolicy '{name}' denied request: {why}");
                if bound.compiled.fails() {
                    first.get_or_insert_with(|| denial(why));
                }
                continue;
            }
        };
        for binding in &bound.bindings {
            let (is_config, denials) = match judged(bound, kind.as_ref(), binding, asked, &form) {
                Ok(denials) => (false, denials),
                Err(_) if !bound.compiled.fails() => continue,
                Err(why) => (true, vec![denial(why)]),
            };
            for denial in denials {
                report(bound, binding, asked, denial, is_config, &mut first);
            }
        }
    }
    first.map_or(Ok(()), |denial| Err(refusal(asked, &denial)))
}

fn denial(message: String) -> Denial {
    Denial { message, reason: "Invalid".to_owned() }
}

/// Evaluates a policy with all parameters of a binding.
fn judged(
    bound: &Bound,
    kind: Option<&ResourceFacts>,
    binding: &Value,
    asked: &Asked<'_>,
    form: &Form,
) -> Result<Vec<Denial>, String> {
    let constraints = at(binding, &["spec", "matchResources"]);
    if !constraints.is_null() && asked.selected(constraints, "resourceRules").is_none() {
        return Ok(Vec::new());
    }
    let access = asked.access();
    let mut denials = Vec::new();
    for param in &params::of(asked, kind, binding)? {
        denials.extend(bound.compiled.validate(&form.subject(asked, param, &access)));
    }
    Ok(denials)
}

/// Does what a binding says about a denial: deny or warn.
fn report(
    bound: &Bound,
    binding: &Value,
    asked: &Asked<'_>,
    denial: Denial,
    is_config: bool,
    first: &mut Option<Denial>,
) {
    let actions = at(binding, &["spec", "validationActions"]).as_array();
    let has = |name: &str| actions.into_iter().flatten().any(|it| it == name);
    let place = format!("'{}' with binding '{}'", bound.name, object::name(binding));
    if has("Warn") && !is_config {
        let text =
            format!("Validation failed for ValidatingAdmissionPolicy {place}: {}", denial.message);
        asked.write.caller.warn(text);
    }
    if has("Deny") || is_config {
        let message =
            format!("ValidatingAdmissionPolicy {place} denied request: {}", denial.message);
        first.get_or_insert(Denial { message, reason: denial.reason });
    }
}

fn refusal(asked: &Asked<'_>, denial: &Denial) -> Status {
    let mut status = forbid(asked, &denial.message);
    (status.code, status.reason) = match &*denial.reason {
        "Unauthorized" => (401, "Unauthorized"),
        "Forbidden" => (403, "Forbidden"),
        "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
        _ => (422, "Invalid"),
    };
    status.details["causes"] = json!([{"message": denial.message}]);
    status
}
