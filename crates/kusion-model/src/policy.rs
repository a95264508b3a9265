//! What policies find in plans, and decisions about it.

use crate::{FieldPath, Origin, ResourceId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a finding of a policy leads to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PolicyLevel {
    /// It is shown.
    Warn,
    /// The policy changes the desired resource before the plan is made, which the plan shows. Where
    /// it cannot, it is a warning.
    Fix,
    /// The plan runs only after a user in a role has approved it.
    Approve,
    /// The plan does not run.
    #[default]
    Deny,
}

impl PolicyLevel {
    /// Returns the name, as policies write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Fix => "fix",
            Self::Approve => "approve",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for PolicyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An exception that a finding falls under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyException {
    /// Who is responsible for it.
    pub owner: String,
    /// Why it exists.
    pub reason: String,
    /// The first date on which it counts no more: `2026-12-01`.
    pub expires: String,
}

/// Something that a policy finds. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyFinding {
    /// The name of the policy: `pack/rule`.
    pub policy: String,
    /// What it leads to.
    pub level: PolicyLevel,
    /// What is wrong.
    pub message: String,
    /// The resource; `None` for findings about a whole stack or release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceId>,
    /// The field of the resource; empty if no single field is wrong.
    #[serde(default, skip_serializing_if = "is_root")]
    pub path: FieldPath,
    /// The source location of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// How to fix it; empty if the policy does not say so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    /// The role that must approve it, at the level [`PolicyLevel::Approve`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// The exception that it falls under: it leads to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<PolicyException>,
}

fn is_root(path: &FieldPath) -> bool {
    path.0.is_empty()
}

impl PolicyFinding {
    /// Returns whether a plan with this finding does not run, given the decisions about the plan.
    pub fn blocks(&self, decisions: &[PolicyDecision]) -> bool {
        self.exception.is_none()
            && match self.level {
                PolicyLevel::Warn | PolicyLevel::Fix => false,
                PolicyLevel::Deny => true,
                PolicyLevel::Approve => !decisions.iter().any(|it| it.role == self.role),
            }
    }

    /// Returns what is wrong, on what, and where the value is set, in one line.
    pub fn text(&self) -> String {
        let id = self.resource.as_ref().map_or(String::new(), |id| format!("{id}: "));
        let place = match (&self.origin, self.path.0.is_empty()) {
            (Some(origin), _) => format!(" ({origin})"),
            (None, false) => format!(" (`{}`)", self.path),
            (None, true) => String::new(),
        };
        format!("{id}{}{place}", self.message)
    }
}

/// The approval of a saved plan by a user in a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDecision {
    /// The role.
    pub role: String,
    /// The user.
    pub actor: String,
    /// When, in milliseconds since the Unix epoch.
    pub time: u64,
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The evaluation of policies on a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRecord {
    /// The time that policies saw, in milliseconds since the Unix epoch.
    pub now: u64,
    /// The user that policies saw.
    pub actor: String,
    /// The findings, those that block a plan first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<PolicyFinding>,
    /// The decisions about the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<PolicyDecision>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(level: PolicyLevel) -> PolicyFinding {
        PolicyFinding {
            policy: "p".to_owned(),
            level,
            message: "m".to_owned(),
            resource: None,
            path: FieldPath::default(),
            origin: None,
            fix: String::new(),
            role: "sre".to_owned(),
            exception: None,
        }
    }

    #[test]
    fn an_approval_counts_for_its_role_only_and_never_for_a_denial() {
        let by = |role: &str| {
            let (role, actor) = (role.to_owned(), "ann".to_owned());
            [PolicyDecision { role, actor, time: 1, reason: String::new() }]
        };
        assert!(finding(PolicyLevel::Approve).blocks(&[]));
        assert!(finding(PolicyLevel::Approve).blocks(&by("dev")));
        assert!(!finding(PolicyLevel::Approve).blocks(&by("sre")));
        assert!(finding(PolicyLevel::Deny).blocks(&by("sre")));
        assert!(!finding(PolicyLevel::Warn).blocks(&[]));
    }
}
