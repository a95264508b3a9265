//! Policies as data.

use crate::exception::Exception;
use kusion_model::PolicyLevel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The key of the rule of a policy, which is a function.
const RULE: &str = "find";
/// The variable with exceptions.
const EXCEPTIONS: &str = "exceptions";
/// How deep packs may nest.
const MAX_DEPTH: usize = 4;

/// What a policy is about, and so what its rule is called with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Each desired resource, or live object.
    #[default]
    Resource,
    /// Each change of a plan.
    Change,
    /// All desired resources of a stack together.
    Stack,
    /// A plan as a whole.
    Release,
    /// Each layer of a stack with cells.
    Layer,
}

impl Target {
    /// Returns the name, as policies write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Change => "change",
            Self::Stack => "stack",
            Self::Release => "release",
            Self::Layer => "layer",
        }
    }
}

/// A policy without its rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The name: the variable, or `pack/rule`.
    pub name: String,
    #[serde(flatten)]
    settings: Settings,
}

/// What a policy says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Settings {
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    on: Target,
    level: PolicyLevel,
    #[serde(skip_serializing_if = "String::is_empty")]
    role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    fix: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<String>,
}

impl Policy {
    /// Creates a policy whose rule is in another language, for lists.
    pub fn of_other_language(name: &str, description: &str, level: PolicyLevel) -> Self {
        let description = description.to_owned();
        let settings = Settings { description, level, ..Settings::default() };
        Self { name: name.to_owned(), settings }
    }

    /// Returns the title; the name if it has none.
    pub fn title(&self) -> &str {
        if self.settings.title.is_empty() { &self.name } else { &self.settings.title }
    }

    /// Returns the description; may be empty.
    pub fn description(&self) -> &str {
        &self.settings.description
    }

    /// Returns what it is about.
    pub fn target(&self) -> Target {
        self.settings.on
    }

    /// Returns what its findings lead to.
    pub fn level(&self) -> PolicyLevel {
        self.settings.level
    }

    /// Returns the role that approves findings, for the level `approve`.
    pub fn role(&self) -> &str {
        &self.settings.role
    }

    /// Returns the message of findings that have none.
    pub fn message(&self) -> &str {
        if self.settings.message.is_empty() { self.title() } else { &self.settings.message }
    }

    /// Returns how to fix findings that do not say so; may be empty.
    pub fn fix(&self) -> &str {
        &self.settings.fix
    }

    /// Returns the patterns of kinds; all if empty.
    pub fn kinds(&self) -> &[String] {
        &self.settings.kinds
    }

    /// Returns the labels that a resource must have, with patterns of their values.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.settings.labels
    }

    /// Returns the patterns of projects; all if empty.
    pub fn projects(&self) -> &[String] {
        &self.settings.projects
    }

    /// Returns the patterns of stacks; all if empty.
    pub fn stacks(&self) -> &[String] {
        &self.settings.stacks
    }

    /// Returns the selector of cells; `None` for all stacks, also those without cells.
    pub fn cells(&self) -> Option<&str> {
        self.settings.cells.as_deref()
    }

    /// Returns the keys that lead to it.
    pub fn path(&self) -> Vec<&str> {
        self.name.split('/').collect()
    }
}

/// Policies that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// The variable that is wrong.
    pub variable: String,
    /// The problem.
    pub message: String,
}

impl PolicyError {
    pub(crate) fn new(variable: &str, message: impl Into<String>) -> Self {
        Self { variable: variable.to_owned(), message: message.into() }
    }
}

/// Policies and exceptions that are evaluated together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicySet {
    /// The policies, in the order of their names.
    pub policies: Vec<Policy>,
    /// The exceptions, as written.
    pub exceptions: Vec<Exception>,
}

impl PolicySet {
    /// Reads the variables of a program. `has_rule` says whether there is a function at a path of
    /// keys.
    ///
    /// A map with the function `find` is a policy, a map of policies is a pack, and `exceptions` is
    /// a list of exceptions. Names that begin with `_` are left out.
    ///
    /// # Errors
    ///
    /// If a variable is anything else, or a setting is unknown or invalid.
    pub fn read(data: &Value, has_rule: &dyn Fn(&[&str]) -> bool) -> Result<Self, PolicyError> {
        let mut set = Self::default();
        let none = Map::new();
        for (name, value) in data.as_object().unwrap_or(&none) {
            if name.starts_with('_') {
                continue;
            }
            if name == EXCEPTIONS {
                let exceptions: Vec<Exception> = read(EXCEPTIONS, EXCEPTIONS, value)?;
                exceptions.iter().try_for_each(Exception::check)?;
                set.exceptions = exceptions;
                continue;
            }
            let mut path = vec![name.as_str()];
            set.add(&mut path, value, has_rule)?;
        }
        set.policies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(set)
    }

    fn add<'v>(
        &mut self,
        path: &mut Vec<&'v str>,
        value: &'v Value,
        has_rule: &dyn Fn(&[&str]) -> bool,
    ) -> Result<(), PolicyError> {
        let (variable, name) = (path[0], path.join("/"));
        let rule: Vec<&str> = path.iter().copied().chain([RULE]).collect();
        if has_rule(&rule) {
            let policy = Policy { settings: read(variable, &name, value)?, name };
            check_policy(&policy).map_err(|message| PolicyError::new(variable, message))?;
            self.policies.push(policy);
            return Ok(());
        }
        let Some(fields) = value.as_object().filter(|it| !it.is_empty() && path.len() < MAX_DEPTH)
        else {
            let message = format!(
                "`{name}` is neither a policy nor a pack: a policy is a map with a function \
                 `{RULE}`, such as `{RULE} = lambda it {{ [] }}`; names that begin with `_` are \
                 left out"
            );
            return Err(PolicyError::new(variable, message));
        };
        for (key, value) in fields.iter().filter(|(key, _)| !key.starts_with('_')) {
            path.push(key);
            self.add(path, value, has_rule)?;
            path.pop();
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned>(variable: &str, name: &str, value: &Value) -> Result<T, PolicyError> {
    T::deserialize(value).map_err(|error| PolicyError::new(variable, format!("`{name}`: {error}")))
}

fn check_policy(policy: &Policy) -> Result<(), String> {
    let name = &policy.name;
    if name.split('/').any(|part| part.contains(['/', '\n'])) || name.len() > 200 {
        return Err(format!("`{name}` is not a valid name of a policy"));
    }
    match (policy.level(), policy.role().is_empty(), policy.target()) {
        (PolicyLevel::Approve, true, _) => {
            Err(format!("`{name}` has the level `approve`, but no `role` that may approve it"))
        }
        (PolicyLevel::Fix, _, target) if target != Target::Resource => Err(format!(
            "`{name}` has the level `fix`, which is for policies on resources, but it is on a {}",
            target.name()
        )),
        _ => Ok(()),
    }
}
