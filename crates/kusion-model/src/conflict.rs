//! Conflicts with other managers of fields.

use crate::FieldPath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fields of an object that another manager owns and that a change would overwrite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The manager, as named by the infrastructure.
    pub manager: String,
    /// The fields, as written by the infrastructure.
    pub fields: Vec<String>,
    /// The same fields as paths of the object, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<FieldPath>,
    /// When the manager last changed fields of the object, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Conflict {
    /// Creates a conflict from the names of the manager and its fields.
    pub fn new(manager: impl Into<String>, fields: Vec<String>) -> Self {
        Self { manager: manager.into(), fields, ..Self::default() }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` manages {}", self.manager, self.fields.join(", "))?;
        match &self.time {
            Some(time) => write!(f, " (changed at {time})"),
            None => Ok(()),
        }
    }
}
