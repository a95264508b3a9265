//! Findings of providers.

use crate::error::{ProviderError, printable};
use crate::wire::messages::{self, Selector};
use kusion_cty::{Path, Step};
use std::fmt;

/// A finding of a provider, safe to show once secrets are hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error; else a warning.
    pub is_error: bool,
    /// What is wrong.
    pub summary: String,
    /// More about it; may be empty.
    pub detail: String,
    /// The attribute that it is about.
    pub path: Option<Path>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.summary)?;
        if !self.detail.is_empty() && self.detail != self.summary {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl From<messages::Diagnostic> for Diagnostic {
    fn from(message: messages::Diagnostic) -> Self {
        Self {
            // An unknown severity is taken for an error.
            is_error: message.severity != 2,
            summary: printable(&message.summary),
            detail: printable(&message.detail),
            path: message.attribute.map(path).filter(|it| !it.0.is_empty()),
        }
    }
}

/// Converts a path.
pub(crate) fn path(message: messages::AttributePath) -> Path {
    let steps = message.steps.into_iter().filter_map(|step| {
        Some(match step.selector? {
            Selector::Attribute(name) => Step::Attribute(printable(&name).into()),
            Selector::Key(key) => Step::Key(printable(&key).into()),
            Selector::Index(index) => Step::Index(usize::try_from(index).ok()?),
        })
    });
    Path(steps.collect())
}

/// Returns the warnings among findings.
///
/// # Errors
///
/// All findings, if one of them is an error.
pub(crate) fn warnings(found: Vec<messages::Diagnostic>) -> Result<Vec<Diagnostic>, ProviderError> {
    let found: Vec<Diagnostic> = found.into_iter().map(Into::into).collect();
    if found.iter().any(|it| it.is_error) { Err(ProviderError::Refused(found)) } else { Ok(found) }
}
