//! Whether policies, bindings and webhooks are valid, in the words of a server.

use super::env::Env;
use super::{list, text};
#[cfg(test)]
use crate::cel::Problem;
use crate::cel::{self, Ty};
use crate::{Cause, TypeId, TypeTable, names};
use serde_json::{Value, json};

const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const REINVOCATIONS: [&str; 2] = ["IfNeeded", "Never"];
const PATCH_TYPES: [&str; 2] = ["ApplyConfiguration", "JSONPatch"];
const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
/// How many conditions a policy or webhook may have.
const MOST_CONDITIONS: usize = 64;

/// Checks a value of a field that has few of them.
fn choice(object: &Value, key: &str, path: &str, known: &[&str], causes: &mut Vec<Cause>) {
    match object.get(key) {
        Some(Value::String(value)) if !known.contains(&&**value) => {
            causes.push(Cause::not_supported(format!("{path}.{key}"), &json!(value), known));
        }
        _ => {}
    }
}

/// Returns what is wrong with a policy.
pub fn check_policy(policy: &Value) -> Vec<Cause> {
    let spec = &policy["spec"];
    let mut causes = Vec::new();
    choice(spec, "failurePolicy", "spec", &FAILURE_POLICIES, &mut causes);
    if let Some(kind) = spec.get("paramKind").filter(|it| it.is_object()) {
        for key in ["apiVersion", "kind"] {
            if text(kind, key).is_empty() {
                causes.push(Cause::required(format!("spec.paramKind.{key}"), ""));
            }
        }
    }
    match spec.get("matchConstraints").filter(|it| it.is_object()) {
        None => causes.push(Cause::required("spec.matchConstraints", "")),
        Some(found) => {
            let path = "spec.matchConstraints";
            check_constraints(found, path, &mut causes);
            if list(found, "resourceRules").is_empty() {
                causes.push(Cause::required(format!("{path}.resourceRules"), ""));
            }
        }
    }
    let mutating = text(policy, "kind") == "MutatingAdmissionPolicy";
    let mut env = Env::new(spec, Ty::Dyn);
    check_conditions(list(spec, "matchConditions"), "spec.matchConditions", &env, &mut causes);
    if mutating {
        env = env.with_messages();
    }
    check_variables(spec, &mut env, &mut causes);
    if mutating {
        check_mutations(spec, &env, &mut causes);
    } else {
        check_validations(spec, &env, &mut causes);
    }
    causes
}

/// An expression to be checked, and what it must be.
struct Checked<'a, 't> {
    source: &'a Value,
    key: &'a str,
    path: String,
    env: &'a Env<'t>,
    with_variables: bool,
}

impl<'t> Checked<'_, 't> {
    fn text(&self) -> &str {
        text(self.source, self.key)
    }

    fn field(&self) -> String {
        format!("{}.{}", self.path, self.key)
    }

    /// Returns the type of the expression, or what is wrong with it.
    fn ty(&self) -> Result<Ty<'t>, String> {
        let source = self.text().trim();
        let expr = cel::parse(source).map_err(|error| {
            let problem = (
                error.at,
                match &*error.message {
                    message if message.starts_with("invalid argument") => message.to_owned(),
                    message => format!("Syntax error: {message}"),
                },
            );
            cel::located(source, &[problem])
        })?;
        let (ty, mut problems) = cel::infer(&expr, &self.env.names(self.with_variables));
        problems.sort_by_key(|(at, _)| *at);
        if problems.is_empty() { Ok(ty.decided()) } else { Err(cel::located(source, &problems)) }
    }

    /// Checks that the expression has one of these types.
    fn check(&self, expected: &[&str], causes: &mut Vec<Cause>) -> Option<Ty<'t>> {
        let value = json!(self.text());
        match self.ty() {
            Err(why) => {
                let detail = format!("compilation failed: {why}");
                causes.push(Cause::invalid(self.field(), &value, detail));
                None
            }
            Ok(ty) => {
                let found = ty.to_string();
                let found = if found == "null" { "null_type".to_owned() } else { found };
                if !expected.is_empty() && !expected.contains(&&*found) {
                    let expected = match expected {
                        [only] => (*only).to_owned(),
                        _ => format!("one of [{}]", expected.join(" ")),
                    };
                    let detail = format!("must evaluate to {expected} but got {found}");
                    causes.push(Cause::invalid(self.field(), &value, detail));
                }
                Some(ty)
            }
        }
    }
}

fn check_conditions(conditions: &[Value], path: &str, env: &Env<'_>, causes: &mut Vec<Cause>) {
    if conditions.len() > MOST_CONDITIONS {
        causes.push(Cause::too_many(path, conditions.len(), MOST_CONDITIONS as u64));
    }
    for (at, condition) in conditions.iter().enumerate() {
        let path = format!("{path}[{at}]");
        if text(condition, "expression").trim().is_empty() {
            causes.push(Cause::required(format!("{path}.expression"), ""));
        } else {
            let path = path.clone();
            Checked { source: condition, key: "expression", path, env, with_variables: false }
                .check(&["bool"], causes);
        }
        let name = text(condition, "name");
        if name.is_empty() {
            causes.push(Cause::required(format!("{path}.name"), ""));
        } else if conditions[..at].iter().any(|other| text(other, "name") == name) {
            causes.push(Cause::duplicate(format!("{path}.name"), &json!(name)));
        } else {
            for why in names::qualified_name(name) {
                causes.push(Cause::invalid(format!("{path}.name"), &json!(name), why));
            }
        }
    }
}

fn check_variables(spec: &Value, env: &mut Env<'_>, causes: &mut Vec<Cause>) {
    for (at, variable) in list(spec, "variables").iter().enumerate() {
        let path = format!("spec.variables[{at}]");
        let name = text(variable, "name");
        let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        if name.trim().is_empty() {
            causes.push(Cause::required(format!("{path}.name"), "name is not specified"));
        } else if !is_name {
            let detail = "must be a valid CEL identifier";
            causes.push(Cause::invalid(format!("{path}.name"), &json!(name), detail));
        }
        if text(variable, "expression").trim().is_empty() {
            causes
                .push(Cause::required(format!("{path}.expression"), "expression is not specified"));
            continue;
        }
        let checked =
            Checked { source: variable, key: "expression", path, env, with_variables: true };
        let ty = checked.check(&[], causes).unwrap_or(Ty::Dyn);
        env.declare(name, ty);
    }
}

fn check_validations(spec: &Value, env: &Env<'_>, causes: &mut Vec<Cause>) {
    let (validations, annotations) = (list(spec, "validations"), list(spec, "auditAnnotations"));
    let with_variables = !list(spec, "variables").is_empty();
    if validations.is_empty() && annotations.is_empty() {
        for key in ["validations", "auditAnnotations"] {
            let detail = "validations or auditAnnotations must contain at least one item";
            causes.push(Cause::required(format!("spec.{key}"), detail));
        }
    }
    let of_message = env.without("authorizer");
    for (at, validation) in validations.iter().enumerate() {
        let path = format!("spec.validations[{at}]");
        if text(validation, "expression").trim().is_empty() {
            causes
                .push(Cause::required(format!("{path}.expression"), "expression is not specified"));
        } else {
            let path = path.clone();
            Checked { source: validation, key: "expression", path, env, with_variables }
                .check(&["bool"], causes);
        }
        if let Some(message) = validation.get("message").and_then(Value::as_str) {
            check_message(message, &format!("{path}.message"), causes);
        }
        if !text(validation, "messageExpression").trim().is_empty() {
            let (env, path) = (&of_message, path.clone());
            Checked { source: validation, key: "messageExpression", path, env, with_variables }
                .check(&["string"], causes);
        }
        choice(validation, "reason", &path, &REASONS, causes);
    }
    for (at, annotation) in annotations.iter().enumerate() {
        let path = format!("spec.auditAnnotations[{at}]");
        let key = text(annotation, "key");
        for why in names::qualified_name(&format!("x/{key}")) {
            causes.push(Cause::invalid(format!("{path}.key"), &json!(format!("x/{key}")), why));
        }
        Checked { source: annotation, key: "valueExpression", path, env, with_variables }
            .check(&["string", "null_type"], causes);
    }
}

fn check_message(message: &str, path: &str, causes: &mut Vec<Cause>) {
    if message.trim().is_empty() {
        let detail = "message must be non-empty if specified";
        causes.push(Cause::invalid(path, &json!(message), detail));
    } else if message.contains('\n') {
        causes.push(Cause::invalid(path, &json!(message), "must not contain line breaks"));
    }
}

fn check_mutations(spec: &Value, env: &Env<'_>, causes: &mut Vec<Cause>) {
    let mutations = list(spec, "mutations");
    let with_variables = !list(spec, "variables").is_empty();
    if mutations.is_empty() {
        let detail = "mutations must contain at least one item";
        causes.push(Cause::required("spec.mutations", detail));
    }
    for (at, mutation) in mutations.iter().enumerate() {
        let path = format!("spec.mutations[{at}]");
        let (key, expected) = match text(mutation, "patchType") {
            "ApplyConfiguration" => ("applyConfiguration", "Object"),
            "JSONPatch" => ("jsonPatch", "list(JSONPatch)"),
            "" => {
                causes.push(Cause::required(format!("{path}.patchType"), ""));
                continue;
            }
            other => {
                let path = format!("{path}.patchType");
                causes.push(Cause::not_supported(path, &json!(other), &PATCH_TYPES));
                continue;
            }
        };
        let path = format!("{path}.{key}");
        let source = mutation.get(key).unwrap_or(&Value::Null);
        if text(source, "expression").trim().is_empty() {
            causes.push(Cause::required(format!("{path}.expression"), ""));
            continue;
        }
        Checked { source, key: "expression", path, env, with_variables }.check(&[expected], causes);
    }
    if text(spec, "reinvocationPolicy").is_empty() {
        causes.push(Cause::required("spec.reinvocationPolicy", ""));
    }
    choice(spec, "reinvocationPolicy", "spec", &REINVOCATIONS, causes);
}

/// Checks what selects requests.
fn check_constraints(constraints: &Value, path: &str, causes: &mut Vec<Cause>) {
    choice(constraints, "matchPolicy", path, &MATCH_POLICIES, causes);
    for key in ["resourceRules", "excludeResourceRules"] {
        for (at, rule) in list(constraints, key).iter().enumerate() {
            check_rule(rule, &format!("{path}.{key}[{at}]"), causes);
        }
    }
}

fn check_rule(rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    let lists = [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ];
    for (key, name) in lists {
        let found = list(rule, key);
        let path = format!("{path}.{key}");
        if found.is_empty() {
            causes.push(Cause::required(path, ""));
            continue;
        }
        if found.len() > 1 && found.iter().any(|it| it == "*") {
            let detail = format!("if '*' is present, must not specify other {name}");
            causes.push(Cause::invalid(path.clone(), &json!(found), detail));
        }
        for (at, value) in found.iter().enumerate() {
            let value = value.as_str().unwrap_or_default();
            if key == "operations" && !OPERATIONS.contains(&value) {
                let path = format!("{path}[{at}]");
                causes.push(Cause::not_supported(path, &json!(value), &OPERATIONS));
            } else if key == "apiVersions" && value.is_empty() {
                causes.push(Cause::required(format!("{path}[{at}]"), ""));
            }
        }
    }
    check_resources(list(rule, "resources"), &format!("{path}.resources"), causes);
    choice(rule, "scope", path, &SCOPES, causes);
}

fn check_resources(found: &[Value], path: &str, causes: &mut Vec<Cause>) {
    if found.is_empty() {
        causes.push(Cause::required(path, ""));
        return;
    }
    let all: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
    let both = |expected: &str| all.contains(&expected);
    if both("*/*") && all.len() > 1 {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(path, &json!(found), detail));
        return;
    }
    for (at, name) in all.iter().enumerate() {
        let Some((resource, below)) = name.split_once('/') else { continue };
        for (wider, is_wider) in
            [(format!("{resource}/*"), below != "*"), (format!("*/{below}"), resource != "*")]
        {
            if is_wider && both(&wider) {
                let detail = format!("if '{wider}' is present, must not specify {name}");
                causes.push(Cause::invalid(format!("{path}[{at}]"), &json!(name), detail));
            }
        }
    }
    let plain = all.iter().filter(|it| !it.contains('/')).count();
    if both("*") && plain > 1 {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(path, &json!(found), detail));
    }
}

/// Returns what is wrong with the binding of a policy.
pub fn check_binding(binding: &Value) -> Vec<Cause> {
    let spec = &binding["spec"];
    let mut causes = Vec::new();
    if text(spec, "policyName").is_empty() {
        causes.push(Cause::required("spec.policyName", ""));
    }
    if let Some(reference) = spec.get("paramRef").filter(|it| it.is_object()) {
        let (name, selector) = (text(reference, "name"), reference.get("selector"));
        if name.is_empty() && selector.is_none() {
            causes.push(Cause::required(
                "spec.paramRef",
                "one of name or selector must be specified",
            ));
        } else if !name.is_empty() && selector.is_some() {
            let detail = "name and selector are mutually exclusive";
            causes.push(Cause::forbidden("spec.paramRef.name", detail));
            causes.push(Cause::forbidden("spec.paramRef.selector", detail));
        }
        if text(reference, "parameterNotFoundAction").is_empty() {
            causes.push(Cause::required("spec.paramRef.parameterNotFoundAction", ""));
        }
        let actions = ["Deny", "Allow"];
        choice(reference, "parameterNotFoundAction", "spec.paramRef", &actions, &mut causes);
    }
    if let Some(found) = spec.get("matchResources").filter(|it| it.is_object()) {
        check_constraints(found, "spec.matchResources", &mut causes);
    }
    if text(binding, "kind") == "ValidatingAdmissionPolicyBinding" {
        check_actions(list(spec, "validationActions"), &mut causes);
    }
    causes
}

fn check_actions(actions: &[Value], causes: &mut Vec<Cause>) {
    let path = "spec.validationActions";
    if actions.is_empty() {
        causes.push(Cause::required(path, "at least one validation action is required"));
    }
    for (at, action) in actions.iter().enumerate() {
        let name = action.as_str().unwrap_or_default();
        if !ACTIONS.contains(&name) {
            causes.push(Cause::not_supported(format!("{path}[{at}]"), action, &ACTIONS));
        } else if actions[..at].contains(action) {
            causes.push(Cause::duplicate(format!("{path}[{at}]"), action));
        }
    }
    if ["Deny", "Warn"].iter().all(|name| actions.iter().any(|it| it == name)) {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        causes.push(Cause::invalid(path, &json!(actions), detail));
    }
}

/// Returns what is wrong with the webhooks of a configuration.
pub fn check_webhooks(configuration: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mutating = text(configuration, "kind") == "MutatingWebhookConfiguration";
    let hooks = list(configuration, "webhooks");
    let env = Env::new(&Value::Null, Ty::Dyn);
    for (at, hook) in hooks.iter().enumerate() {
        let path = format!("webhooks[{at}]");
        let name = text(hook, "name");
        check_hook_name(name, &format!("{path}.name"), &mut causes);
        for (at, rule) in list(hook, "rules").iter().enumerate() {
            check_rule(rule, &format!("{path}.rules[{at}]"), &mut causes);
        }
        choice(hook, "failurePolicy", &path, &FAILURE_POLICIES, &mut causes);
        choice(hook, "matchPolicy", &path, &MATCH_POLICIES, &mut causes);
        let effects = ["None", "NoneOnDryRun"];
        if text(hook, "sideEffects").is_empty() {
            let detail = format!("must specify one of {}", effects.join(", "));
            causes.push(Cause::required(format!("{path}.sideEffects"), &detail));
        } else {
            choice(hook, "sideEffects", &path, &effects, &mut causes);
        }
        if let Some(seconds) = hook.get("timeoutSeconds").and_then(Value::as_i64)
            && !(1..=30).contains(&seconds)
        {
            let detail = "the timeout value must be between 1 and 30 seconds";
            causes.push(Cause::invalid(format!("{path}.timeoutSeconds"), &json!(seconds), detail));
        }
        if mutating {
            choice(hook, "reinvocationPolicy", &path, &REINVOCATIONS, &mut causes);
        }
        check_client(&hook["clientConfig"], &format!("{path}.clientConfig"), &mut causes);
        let conditions = list(hook, "matchConditions");
        check_conditions(conditions, &format!("{path}.matchConditions"), &env, &mut causes);
        check_review_versions(list(hook, "admissionReviewVersions"), &path, &mut causes);
        if hooks[..at].iter().any(|other| text(other, "name") == name) {
            causes.push(Cause::duplicate(format!("{path}.name"), &json!(name)));
        }
    }
    causes
}

fn check_hook_name(name: &str, path: &str, causes: &mut Vec<Cause>) {
    if name.is_empty() {
        causes.push(Cause::required(path, ""));
        return;
    }
    let problems = names::dns1123_subdomain(name);
    for why in &problems {
        causes.push(Cause::invalid(path, &json!(name), why));
    }
    if problems.is_empty() && name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        causes.push(Cause::invalid(path, &json!(name), detail));
    }
}

fn check_review_versions(versions: &[Value], path: &str, causes: &mut Vec<Cause>) {
    let path = format!("{path}.admissionReviewVersions");
    if versions.is_empty() {
        let detail = "must specify one of v1, v1beta1";
        causes.push(Cause::required(path, detail));
    } else if !versions.iter().any(|it| it == "v1" || it == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(path, &json!(versions), detail));
    }
}

fn check_client(client: &Value, path: &str, causes: &mut Vec<Cause>) {
    let url = client.get("url").and_then(Value::as_str);
    let service = client.get("service").filter(|it| it.is_object());
    match (url, service) {
        (None, None) | (Some(_), Some(_)) => {
            let detail = "exactly one of url or service is required";
            causes.push(Cause::required(path, detail));
        }
        (Some(url), None) => {
            check_url(url, &format!("{path}.url"), causes);
        }
        (None, Some(service)) => {
            for key in ["name", "namespace"] {
                if text(service, key).is_empty() {
                    causes.push(Cause::required(format!("{path}.service.{key}"), ""));
                }
            }
        }
    }
}

fn check_url(url: &str, path: &str, causes: &mut Vec<Cause>) {
    const FORM: &str = "desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme; {FORM}");
        causes.push(Cause::invalid(path, &json!(scheme), detail));
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.is_empty() {
        let detail = format!("host must be specified; {FORM}");
        causes.push(Cause::invalid(path, &json!(host), detail));
    }
    let parts = [
        (user, "user information is not permitted in the URL"),
        (fragment, "fragments are not permitted in the URL"),
        (query, "query parameters are not permitted in the URL"),
    ];
    for (part, detail) in parts {
        if !part.is_empty() {
            causes.push(Cause::invalid(path, &json!(part), detail));
        }
    }
}

/// A kind with the type of its objects.
#[derive(Debug, Clone, Copy)]
pub struct TypedKind<'t> {
    /// API group.
    pub group: &'t str,
    /// Version.
    pub version: &'t str,
    /// The kind.
    pub kind: &'t str,
    /// The types of the kind.
    pub types: &'t TypeTable,
    /// The type of its objects.
    pub root: TypeId,
}

/// Returns the resources that the rules of a policy name without wildcards: group, version and
/// plural name.
pub fn named_resources(policy: &Value) -> Vec<(String, String, String)> {
    let words = |rule: &Value, key: &str| -> Vec<String> {
        list(rule, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut found = Vec::new();
    for rule in list(&policy["spec"]["matchConstraints"], "resourceRules") {
        for group in words(rule, "apiGroups") {
            for version in words(rule, "apiVersions") {
                for resource in words(rule, "resources") {
                    found.push((group.clone(), version.clone(), resource));
                }
            }
        }
    }
    found
}

/// Checks the expressions of a policy against the types of the kinds that it names, as servers do
/// for the status of policies. Returns field references and warnings.
pub fn type_warnings(policy: &Value, kinds: &[TypedKind<'_>]) -> Vec<(String, String)> {
    let spec = &policy["spec"];
    let mut kinds: Vec<(String, Ty<'_>)> = kinds
        .iter()
        .map(|it| {
            let shown = format!("{}/{}, Kind={}", it.group, it.version, it.kind);
            (shown, Ty::of_schema(it.types, it.root))
        })
        .collect();
    kinds.sort_by(|left, right| left.0.cmp(&right.0));
    kinds.dedup_by(|left, right| left.0 == right.0);
    let envs: Vec<(String, Env<'_>)> = kinds
        .into_iter()
        .map(|(shown, ty)| {
            let mut env = Env::new(spec, ty);
            check_variables(spec, &mut env, &mut Vec::new());
            (shown, env)
        })
        .collect();
    let with_variables = !list(spec, "variables").is_empty();
    let mut warnings = Vec::new();
    for (at, validation) in list(spec, "validations").iter().enumerate() {
        for key in ["expression", "messageExpression"] {
            if text(validation, key).trim().is_empty() {
                continue;
            }
            let path = format!("spec.validations[{at}]");
            let found: Vec<String> = envs
                .iter()
                .filter_map(|(shown, env)| {
                    let path = path.clone();
                    let checked = Checked { source: validation, key, path, env, with_variables };
                    let why = checked.ty().err()?;
                    Some(format!("{shown}: {why}\n"))
                })
                .collect();
            if !found.is_empty() {
                warnings.push((format!("{path}.{key}"), found.join("\n")));
            }
        }
    }
    warnings
}

/// Returns whether an expression is valid where policies see any object.
#[cfg(test)]
pub(super) fn problems(source: &str) -> Vec<Problem> {
    let env = Env::new(&Value::Null, Ty::Dyn).with_messages();
    match cel::parse(source) {
        Ok(expr) => cel::infer(&expr, &env.names(false)).1,
        Err(error) => vec![(error.at, error.message)],
    }
}
