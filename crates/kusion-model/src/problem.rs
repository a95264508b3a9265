//! Problems of resources, field by field.

use crate::{FieldPath, Origin};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A problem with one field of a resource. Contains no secrets once it is part of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The field; empty for the whole resource.
    pub path: FieldPath,
    /// The problem, in plain words; names the field.
    pub message: String,
    /// A similar name that exists, if the name of the field or a value is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The source location of the field, or of the closest field above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl Problem {
    /// Creates a problem without suggestion and source location.
    pub fn new(path: FieldPath, message: impl Into<String>) -> Self {
        Self { path, message: message.into(), ..Self::default() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.suggestion {
            Some(name) => write!(f, " (did you mean `{name}`?)"),
            None => Ok(()),
        }
    }
}
