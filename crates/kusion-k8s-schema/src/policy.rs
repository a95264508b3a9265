//! Admission policies: which objects they are about, and what they say about one.
//!
//! [`Policy`] is a `ValidatingAdmissionPolicy` or `MutatingAdmissionPolicy` that is ready to be
//! evaluated, [`Subject`] the request that it judges, [`matches`] decides whether it is
//! about that request.
//! Nothing here reads other objects: who calls brings parameters and the namespace.

mod check;
mod env;
mod matching;

pub use check::{
    TypedKind, check_binding, check_policy, check_webhooks, named_resources, type_warnings,
};
pub use matching::{Request, matches};

use crate::cel::{self, Authorizer, Cel, Expr, Failure, Scope};
use serde_json::Value;
use std::sync::Arc;

/// The longest message of an expression, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;
/// What is said of expressions that use what this crate does not know.
const NOT_SUPPORTED: &str = "it uses a function that is not supported here";

/// A policy that is ready to be evaluated.
#[derive(Debug)]
pub struct Policy {
    conditions: Vec<Source>,
    variables: Vec<(String, Arc<Expr>)>,
    validations: Vec<Validation>,
    mutations: Vec<(bool, Source)>,
    /// Whether an error of an expression denies the request.
    fails: bool,
}

/// An expression and its text.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    /// `None` if the text is not an expression.
    expr: Option<Arc<Expr>>,
}

#[derive(Debug)]
struct Validation {
    rule: Source,
    message: String,
    message_expr: Option<Source>,
    reason: String,
}

/// What a policy is evaluated with; each may be null.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The object as it would be stored.
    pub object: &'a Value,
    /// The object as it is stored.
    pub old_object: &'a Value,
    /// The request, in the form of an `AdmissionRequest`.
    pub request: &'a Value,
    /// The namespace of the object.
    pub namespace: &'a Value,
    /// The parameter of the policy.
    pub params: &'a Value,
    /// Who answers questions about access.
    pub authorizer: Option<&'a dyn Authorizer>,
}

/// Why a policy does not admit an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// What is wrong.
    pub message: String,
    /// The reason of the response (`Invalid`, `Forbidden`, `RequestEntityTooLarge`).
    pub reason: String,
}

/// A change that a policy makes to an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Mutation {
    /// A partial object, merged as server-side apply does.
    Apply(Value),
    /// Operations of a JSON patch.
    Patch(Value),
}

impl Source {
    pub(crate) fn read(object: &Value, key: &str) -> Option<Self> {
        let text = object.get(key)?.as_str()?.trim().to_owned();
        let expr = cel::parse(&text).ok().map(Arc::new);
        Some(Self { text, expr })
    }

    pub(crate) fn evaluate<'a>(&self, scope: &mut Scope<'a>) -> Result<Cel<'a>, String> {
        let found = match &self.expr {
            Some(expr) => cel::evaluate(expr, scope),
            None => Err(Failure::Unknown),
        };
        found.map_err(|failure| {
            let why = match failure {
                Failure::Error(why) => why,
                Failure::Unknown => NOT_SUPPORTED.to_owned(),
                Failure::Cost => {
                    return "validation failed due to running out of cost budget, no further \
                            validation rules will be run"
                        .to_owned();
                }
            };
            format!("expression '{}' resulted in error: {why}", self.text)
        })
    }
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Policy {
    /// Reads a policy object.
    pub fn read(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let validation = |it: &Value| {
            Some(Validation {
                rule: Source::read(it, "expression")?,
                message: text(it, "message").trim().to_owned(),
                message_expr: Source::read(it, "messageExpression"),
                reason: match text(it, "reason") {
                    "" => "Invalid".to_owned(),
                    reason => reason.to_owned(),
                },
            })
        };
        let mutation = |it: &Value| {
            let key = if text(it, "patchType") == "JSONPatch" {
                "jsonPatch"
            } else {
                "applyConfiguration"
            };
            Some((key == "jsonPatch", Source::read(it.get(key)?, "expression")?))
        };
        let variable =
            |it: &Value| Some((text(it, "name").to_owned(), Source::read(it, "expression")?.expr?));
        Self {
            conditions: conditions(list(spec, "matchConditions")),
            variables: list(spec, "variables").iter().filter_map(variable).collect(),
            validations: list(spec, "validations").iter().filter_map(validation).collect(),
            mutations: list(spec, "mutations").iter().filter_map(mutation).collect(),
            fails: text(spec, "failurePolicy") != "Ignore",
        }
    }

    /// Returns whether errors of the policy deny the request (`failurePolicy: Fail`).
    pub fn fails(&self) -> bool {
        self.fails
    }

    fn scope<'a>(&self, subject: &Subject<'a>) -> Scope<'a> {
        let mut scope = scope(subject);
        for (name, expr) in &self.variables {
            scope = scope.with_variable(name, expr);
        }
        scope
    }

    /// Returns why the policy does not admit an object; nothing if it does.
    pub fn validate(&self, subject: &Subject<'_>) -> Vec<Denial> {
        let mut scope = self.scope(subject);
        let error = |message: String| Denial { message, reason: "Invalid".to_owned() };
        match applies(&self.conditions, &mut scope) {
            Ok(true) => {}
            Err(message) if self.fails => return vec![error(message)],
            Ok(false) | Err(_) => return Vec::new(),
        }
        let mut denials = Vec::new();
        for validation in &self.validations {
            match validation.rule.evaluate(&mut scope) {
                Ok(Cel::Bool(true)) => {}
                Ok(_) => denials.push(Denial {
                    message: validation.shown(&mut scope),
                    reason: validation.reason.clone(),
                }),
                Err(message) if self.fails => denials.push(error(message)),
                Err(_) => {}
            }
        }
        denials
    }

    /// Returns whether the conditions of the policy hold.
    ///
    /// # Errors
    /// One cannot be evaluated, and none is false; the message.
    pub fn applies(&self, subject: &Subject<'_>) -> Result<bool, String> {
        applies(&self.conditions, &mut self.scope(subject))
    }

    /// Returns how many changes the policy makes.
    pub fn n_mutations(&self) -> usize {
        self.mutations.len()
    }

    /// Returns a change that the policy makes to an object.
    ///
    /// # Errors
    /// It cannot be evaluated; the message.
    pub fn mutation(&self, at: usize, subject: &Subject<'_>) -> Result<Mutation, String> {
        let (is_patch, source) = self.mutations.get(at).ok_or("there is no such mutation")?;
        let found = source.evaluate(&mut self.scope(subject))?.to_json();
        let found = found.ok_or_else(|| {
            format!("expression '{}' resulted in error: the value has no form in JSON", source.text)
        })?;
        Ok(if *is_patch { Mutation::Patch(found) } else { Mutation::Apply(found) })
    }
}

/// The conditions of a policy or webhook, ready to be evaluated.
#[derive(Debug)]
pub struct Conditions(Vec<Source>);

impl Conditions {
    /// Reads the list `matchConditions`.
    pub fn read(list: &Value) -> Self {
        Self(conditions(list.as_array().map_or(&[], Vec::as_slice)))
    }

    /// Returns whether all conditions hold.
    ///
    /// # Errors
    /// One cannot be evaluated, and none is false; the message.
    pub fn hold(&self, subject: &Subject<'_>) -> Result<bool, String> {
        applies(&self.0, &mut scope(subject))
    }
}

fn conditions(list: &[Value]) -> Vec<Source> {
    list.iter().filter_map(|it| Source::read(it, "expression")).collect()
}

fn scope<'a>(subject: &Subject<'a>) -> Scope<'a> {
    let scope = Scope::default()
        .with("object", subject.object.into())
        .with("oldObject", subject.old_object.into())
        .with("request", subject.request.into())
        .with("namespaceObject", subject.namespace.into())
        .with("params", subject.params.into());
    match subject.authorizer {
        Some(authorizer) => scope.with_authorizer(authorizer),
        None => scope,
    }
}

/// Returns whether all conditions hold; one that is false decides, whatever else fails.
fn applies(conditions: &[Source], scope: &mut Scope<'_>) -> Result<bool, String> {
    let mut failure = None;
    for condition in conditions {
        match condition.evaluate(scope) {
            Ok(Cel::Bool(true)) => {}
            Ok(_) => return Ok(false),
            Err(why) => {
                failure.get_or_insert(why);
            }
        }
    }
    failure.map_or(Ok(true), Err)
}

impl Validation {
    /// Returns the message of a rule that does not hold.
    fn shown(&self, scope: &mut Scope<'_>) -> String {
        let made = self.message_expr.as_ref().and_then(|it| match it.evaluate(scope) {
            Ok(Cel::String(text)) => Some(text.trim().to_owned()),
            _ => None,
        });
        let fits = |it: &String| {
            !it.is_empty() && it.len() <= LONGEST_MESSAGE && !it.contains(['\n', '\r'])
        };
        made.filter(fits).unwrap_or_else(|| match &*self.message {
            "" => format!("failed expression: {}", self.rule.text),
            message => message.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
