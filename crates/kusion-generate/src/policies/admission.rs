//! `ValidatingAdmissionPolicy` objects in YAML, evaluated before a server would.

use crate::GenerateError;
use crate::find::unreadable;
use crate::origins::shown;
use crate::scope::split;
use base_system::System;
use kusion_k8s_schema::{builtin, policy, selector};
use kusion_model::{FieldPath, PolicyFinding, PolicyLevel};
use kusion_policy::{Found, Policy, Subject, SubjectResource};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The largest size of a file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// The objects of a folder: policies, bindings and parameters.
#[derive(Default)]
pub(super) struct AdmissionPolicies {
    policies: Vec<AdmissionPolicy>,
    bindings: Vec<Value>,
    /// All other objects, which may be parameters.
    others: Vec<Value>,
}

struct AdmissionPolicy {
    name: String,
    object: Value,
    compiled: policy::Policy,
}

impl AdmissionPolicies {
    /// Reads the YAML files of a folder.
    pub(super) fn read(
        system: &dyn System,
        files: &[PathBuf],
        work_dir: &Path,
    ) -> Result<Self, GenerateError> {
        let mut read = Self::default();
        for path in files {
            let text = system.read_to_string(path).map_err(unreadable(path))?;
            let file = shown(work_dir, path).to_owned();
            let wrong = |line: Option<u32>, message: String| GenerateError::File {
                path: file.clone(),
                line,
                message,
            };
            if text.len() > MAX_BYTES {
                return Err(wrong(None, format!("the file has more than {MAX_BYTES} bytes")));
            }
            for document in yaml_serde::Deserializer::from_str(&text) {
                let object = Value::deserialize(document).map_err(|error| {
                    let line = error.location().and_then(|at| u32::try_from(at.line()).ok());
                    wrong(line, error.to_string())
                })?;
                read.add(object).map_err(|message| {
                    let line = text.lines().position(|it| it.contains("authorizer"));
                    wrong(line.and_then(|it| u32::try_from(it + 1).ok()), message)
                })?;
            }
        }
        Ok(read)
    }

    fn add(&mut self, object: Value) -> Result<(), String> {
        match object["kind"].as_str() {
            Some("ValidatingAdmissionPolicy") => {
                let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                if name.is_empty() {
                    return Err("a ValidatingAdmissionPolicy has no `metadata.name`".to_owned());
                }
                if uses_authorizer(&object["spec"]) {
                    return Err(format!(
                        "the policy `{name}` uses `authorizer`, which only a cluster can answer; \
                         apply it to the cluster instead"
                    ));
                }
                let compiled = policy::Policy::read(&object);
                self.policies.push(AdmissionPolicy { name, object, compiled });
            }
            Some("ValidatingAdmissionPolicyBinding") => self.bindings.push(object),
            Some(_) => self.others.push(object),
            None if object.is_null() => {}
            None => return Err("expected an object with `apiVersion` and `kind`".to_owned()),
        }
        Ok(())
    }

    /// Returns the policies, for lists.
    pub(super) fn listed(&self) -> Vec<Policy> {
        let listed = |it: &AdmissionPolicy| {
            let denies = self.bindings_of(it).any(|binding| has_action(binding, "Deny"));
            let level = if denies { PolicyLevel::Deny } else { PolicyLevel::Warn };
            Policy::of_other_language(&it.name, "ValidatingAdmissionPolicy", level)
        };
        self.policies.iter().map(listed).collect()
    }

    fn bindings_of<'b>(&'b self, policy: &'b AdmissionPolicy) -> impl Iterator<Item = &'b Value> {
        self.bindings.iter().filter(|it| it["spec"]["policyName"] == policy.name.as_str())
    }

    /// Evaluates all policies on a subject: on the changes of a plan, else on all resources as if
    /// they were created.
    pub(super) fn check(&self, subject: &Subject<'_>) -> Vec<Found> {
        let mut found = Vec::new();
        if self.policies.is_empty() {
            return found;
        }
        let is_plan = !matches!(subject.operation, "check" | "scan");
        for resource in &subject.resources {
            if is_plan && !resource.action.is_change() {
                continue;
            }
            let Some(asked) = Asked::new(subject, resource, is_plan) else { continue };
            for policy in &self.policies {
                self.judge(policy, &asked, subject, &mut found);
            }
        }
        found
    }

    fn judge(
        &self,
        policy: &AdmissionPolicy,
        asked: &Asked<'_>,
        subject: &Subject<'_>,
        found: &mut Vec<Found>,
    ) {
        if !asked.is_selected(&policy.object["spec"]["matchConstraints"]) {
            return;
        }
        for binding in self.bindings_of(policy) {
            let own = &binding["spec"]["matchResources"];
            if !own.is_null() && !asked.is_selected(own) {
                continue;
            }
            let messages = match self.params(policy, binding, asked, subject) {
                Ok(params) => params.iter().flat_map(|it| asked.validate(policy, it)).collect(),
                Err(message) if policy.compiled.fails() => vec![message],
                Err(_) => Vec::new(),
            };
            let level = match (has_action(binding, "Deny"), has_action(binding, "Warn")) {
                (true, _) => PolicyLevel::Deny,
                (false, true) => PolicyLevel::Warn,
                (false, false) => continue,
            };
            for message in messages {
                let finding = PolicyFinding {
                    policy: policy.name.clone(),
                    level,
                    message,
                    resource: Some(asked.resource.id.clone()),
                    path: FieldPath::default(),
                    origin: None,
                    fix: String::new(),
                    role: String::new(),
                    exception: None,
                };
                found.push(Found { finding, value: None });
            }
        }
    }

    /// Returns the parameters of a binding: objects of the folder or of the stack; one that is null
    /// for a policy without parameters.
    fn params(
        &self,
        policy: &AdmissionPolicy,
        binding: &Value,
        asked: &Asked<'_>,
        subject: &Subject<'_>,
    ) -> Result<Vec<Value>, String> {
        let (kind, chosen) = (&policy.object["spec"]["paramKind"], &binding["spec"]["paramRef"]);
        if kind.is_null() || chosen.is_null() {
            return Ok(vec![Value::Null]);
        }
        let in_stack = subject.resources.iter().filter_map(|it| it.desired.as_deref());
        let namespace = chosen["namespace"].as_str().unwrap_or(asked.namespace());
        let fits = |object: &&Value| {
            let meta = &object["metadata"];
            let place = meta["namespace"].as_str().unwrap_or_default();
            let is_chosen = match chosen["name"].as_str() {
                Some(name) => meta["name"] == name,
                None => selector::matches(&chosen["selector"], &meta["labels"]),
            };
            object["apiVersion"] == kind["apiVersion"]
                && object["kind"] == kind["kind"]
                && (place.is_empty() || place == namespace)
                && is_chosen
        };
        let params: Vec<Value> = self.others.iter().chain(in_stack).filter(fits).cloned().collect();
        if params.is_empty() && chosen["parameterNotFoundAction"] != "Allow" {
            return Err(
                "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned()
            );
        }
        Ok(params)
    }
}

/// A request that a server would get.
struct Asked<'a> {
    resource: &'a SubjectResource<'a>,
    object: &'a Value,
    old: &'a Value,
    operation: &'static str,
    group: String,
    version: String,
    plural: String,
    namespaced: bool,
    request: Value,
    namespace_object: Value,
}

impl<'a> Asked<'a> {
    fn new(
        subject: &Subject<'a>,
        resource: &'a SubjectResource<'a>,
        is_plan: bool,
    ) -> Option<Self> {
        let object = resource.desired.as_deref().unwrap_or(&Value::Null);
        let old = resource.old.as_deref().filter(|_| is_plan).unwrap_or(&Value::Null);
        let any = if object.is_null() { old } else { object };
        let (group, version) = split(any["apiVersion"].as_str()?);
        let kind = any["kind"].as_str()?;
        let known = builtin().resource_of_kind(group, version, kind);
        let plural =
            known.map_or_else(|| format!("{}s", kind.to_lowercase()), |it| it.plural.to_string());
        let namespace = any["metadata"]["namespace"].as_str().unwrap_or_default();
        let namespaced = known.map_or(!namespace.is_empty(), |it| it.namespaced);
        let operation = match (object.is_null(), old.is_null()) {
            (true, _) => "DELETE",
            (false, true) => "CREATE",
            (false, false) => "UPDATE",
        };
        let name = any["metadata"]["name"].as_str().unwrap_or_default();
        let gvk = json!({"group": group, "version": version, "kind": kind});
        let gvr = json!({"group": group, "version": version, "resource": plural});
        let request = json!({
            "kind": gvk, "requestKind": gvk, "resource": gvr, "requestResource": gvr,
            "subResource": "", "requestSubResource": "", "name": name, "namespace": namespace,
            "operation": operation, "dryRun": false, "options": {},
            "userInfo": {"username": subject.actor, "uid": "", "groups": [], "extra": {}},
        });
        let namespace_object =
            if namespaced { namespace_of(subject, namespace) } else { Value::Null };
        let (group, version) = (group.to_owned(), version.to_owned());
        Some(Self {
            resource,
            object,
            old,
            operation,
            group,
            version,
            plural,
            namespaced,
            request,
            namespace_object,
        })
    }

    fn namespace(&self) -> &str {
        self.request["namespace"].as_str().unwrap_or_default()
    }

    fn is_selected(&self, constraints: &Value) -> bool {
        let labels = match (self.namespaced, &*self.plural) {
            (true, _) => Some(&self.namespace_object["metadata"]["labels"]),
            (false, "namespaces") => Some(&self.object["metadata"]["labels"]),
            (false, _) => None,
        };
        let request = policy::Request {
            group: &self.group,
            version: &self.version,
            resource: &self.plural,
            subresource: "",
            operation: self.operation,
            namespaced: self.namespaced,
            name: self.request["name"].as_str().unwrap_or_default(),
            namespace_labels: labels,
            object: self.object,
            old_object: self.old,
            versions: &[],
        };
        policy::matches(constraints, "resourceRules", &request).is_some()
    }

    fn validate(&self, policy: &AdmissionPolicy, params: &Value) -> Vec<String> {
        let subject = policy::Subject {
            object: self.object,
            old_object: self.old,
            request: &self.request,
            namespace: &self.namespace_object,
            params,
            authorizer: None,
        };
        policy.compiled.validate(&subject).into_iter().map(|it| it.message).collect()
    }
}

/// Returns the namespace of an object: that of the stack, else one with the label of its name.
fn namespace_of(subject: &Subject<'_>, name: &str) -> Value {
    let is_it = |it: &&Value| it["kind"] == "Namespace" && it["metadata"]["name"] == name;
    let found = subject.resources.iter().filter_map(|it| it.desired.as_deref()).find(is_it);
    let mut object = found.cloned().unwrap_or_else(|| json!({"metadata": {"name": name}}));
    let labels = &mut object["metadata"]["labels"];
    if !labels.is_object() {
        *labels = json!({});
    }
    labels["kubernetes.io/metadata.name"] = name.into();
    object
}

fn has_action(binding: &Value, name: &str) -> bool {
    let actions = binding["spec"]["validationActions"].as_array();
    actions.is_some_and(|it| it.iter().any(|action| action == name))
}

/// Whether an expression of a policy asks for permissions.
fn uses_authorizer(spec: &Value) -> bool {
    match spec {
        Value::String(text) => {
            let is_word = |char: char| char.is_alphanumeric() || char == '_';
            text.split(|char| !is_word(char)).any(|word| word == "authorizer")
        }
        Value::Array(items) => items.iter().any(uses_authorizer),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key != "message" && key != "name" && uses_authorizer(value)),
        _ => false,
    }
}
