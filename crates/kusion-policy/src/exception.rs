//! Exceptions from policies.

use crate::matching::{is_any, is_in_cells};
use crate::policy::PolicyError;
use crate::subject::StackFacts;
use kusion_model::{PolicyException, ResourceId};
use kusion_plan::is_match;
use serde::{Deserialize, Serialize};

/// An exception: findings of a policy that count no more until a date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exception {
    /// A pattern of policies. `*` matches any text.
    pub policy: String,
    /// Patterns of ids of resources; all if empty.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Patterns of projects; all if empty.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Patterns of stacks; all if empty.
    #[serde(default)]
    pub stacks: Vec<String>,
    /// The selector of cells; `None` for all.
    #[serde(default)]
    pub cells: Option<String>,
    /// Who is responsible for it.
    pub owner: String,
    /// Why it exists.
    pub reason: String,
    /// The first date on which it counts no more: `2026-12-01`.
    pub expires: String,
}

impl Exception {
    /// Checks what cannot be seen by types.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let wrong = |message: String| Err(PolicyError::new("exceptions", message));
        let policy = &self.policy;
        for (name, value) in [("owner", &self.owner), ("reason", &self.reason)] {
            if value.trim().is_empty() {
                return wrong(format!("the exception from `{policy}` has no {name}"));
            }
        }
        if !is_date(&self.expires) {
            let date = &self.expires;
            return wrong(format!(
                "the exception from `{policy}` has the invalid date `{date}`: expected a date, \
                 such as `2026-12-01`"
            ));
        }
        Ok(())
    }

    /// Whether the date of expiry is at or before `today`.
    pub fn is_expired(&self, today: &str) -> bool {
        self.expires.as_str() <= today
    }

    /// Whether it is about findings of a policy on a resource.
    pub(crate) fn is_about(&self, policy: &str, id: Option<&ResourceId>) -> bool {
        let of_resource = self.resources.is_empty()
            || id.is_some_and(|id| self.resources.iter().any(|it| is_match(it, id.as_str())));
        is_match(&self.policy, policy) && of_resource
    }

    /// Whether it is for a stack.
    pub(crate) fn is_for(&self, stack: &StackFacts) -> Result<bool, PolicyError> {
        Ok(is_any(&self.projects, &stack.project)
            && is_any(&self.stacks, &stack.stack)
            && is_in_cells(self.cells.as_deref(), stack, "exceptions")?)
    }

    /// Returns what findings say about it.
    pub(crate) fn said(&self) -> PolicyException {
        let (owner, reason) = (self.owner.clone(), self.reason.clone());
        PolicyException { owner, reason, expires: self.expires.clone() }
    }
}

/// Whether a text is a date, such as `2026-12-01`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let within = |part: &str, len: usize, range: std::ops::RangeInclusive<u32>| {
        let is_digits = part.len() == len && part.bytes().all(|it| it.is_ascii_digit());
        is_digits && part.parse().is_ok_and(|it| range.contains(&it))
    };
    within(year, 4, 1970..=9999) && within(month, 2, 1..=12) && within(day, 2, 1..=31)
}
