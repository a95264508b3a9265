//! `authorizer`: what the user of a request, or an account, may do.

use super::eval::{Cel, Failure};
use super::special::Special;
use std::borrow::Cow;
use std::fmt::Debug;

/// Answers whether something is allowed.
pub trait Authorizer: Debug {
    /// Returns whether it is allowed, and why.
    ///
    /// # Errors
    /// It cannot be determined; the reason.
    fn check(&self, query: &AccessQuery) -> Result<(bool, String), String>;

    /// Returns the query for the resource of the request itself, without a verb.
    fn request_resource(&self) -> AccessQuery;
}

/// A question to an [`Authorizer`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessQuery {
    /// Namespace and name of the account that is asked about; `None` for the user of the request.
    pub service_account: Option<(String, String)>,
    /// The path, if no resource is asked for.
    pub path: String,
    /// API group.
    pub group: String,
    /// Plural name.
    pub resource: String,
    /// Subresource; may be empty.
    pub subresource: String,
    /// Namespace; empty for all, and for resources without one.
    pub namespace: String,
    /// Name of the object; may be empty.
    pub name: String,
    /// What is to be done (`get`, `create` …).
    pub verb: String,
    /// The answer, once there is one: whether it is allowed, why, and what went wrong.
    answer: Option<(bool, String, String)>,
}

impl AccessQuery {
    /// Makes the query for a resource and subresource, in a namespace, with a name.
    pub fn of(group: &str, resource: (&str, &str), place: (&str, &str)) -> Self {
        Self {
            group: group.to_owned(),
            resource: resource.0.to_owned(),
            subresource: resource.1.to_owned(),
            namespace: place.0.to_owned(),
            name: place.1.to_owned(),
            ..Self::default()
        }
    }
}

/// Calls a function of a question.
pub(super) fn call<'a>(
    query: &AccessQuery,
    name: &str,
    arguments: &[Cel<'a>],
    authorizer: &'a dyn Authorizer,
) -> Result<Cel<'a>, Failure> {
    let mut next = Box::new(query.clone());
    let texts: Option<Vec<String>> = arguments
        .iter()
        .map(|it| match it {
            Cel::String(text) => Some(text.clone().into_owned()),
            _ => None,
        })
        .collect();
    let text = |text: &str| Ok(Cel::String(Cow::Owned(text.to_owned())));
    match (name, texts.as_deref(), &query.answer) {
        ("allowed", Some([]), Some((allowed, ..))) => return Ok(Cel::Bool(*allowed)),
        ("reason", Some([]), Some((_, reason, _))) => return text(reason),
        ("errored", Some([]), Some((.., error))) => return Ok(Cel::Bool(!error.is_empty())),
        ("error", Some([]), Some((.., error))) => return text(error),
        ("serviceAccount", Some([namespace, name]), None) => {
            next.service_account = Some((namespace.clone(), name.clone()));
        }
        ("check", Some([verb]), None) => {
            next.verb.clone_from(verb);
            let answer = match authorizer.check(&next) {
                Ok((allowed, reason)) => (allowed, reason, String::new()),
                Err(error) => (false, String::new(), error),
            };
            next.answer = Some(answer);
        }
        (_, Some([value]), None) => {
            let field = match name {
                "path" => &mut next.path,
                "group" => &mut next.group,
                "resource" => &mut next.resource,
                "subresource" => &mut next.subresource,
                "namespace" => &mut next.namespace,
                "name" => &mut next.name,
                _ => return Err(Failure::Unknown),
            };
            field.clone_from(value);
        }
        _ => return Err(Failure::Unknown),
    }
    Ok(Cel::Special(Special::Access(next)))
}
