//! Values that one resource takes from another.

use crate::error::{EngineError, Finding};
use crate::observe::LiveObjects;
use crate::wanted::Wanted;
use kusion_model::{FieldPath, Resource, ResourceId, Step};
use serde_json::Value;
use std::collections::BTreeMap;

/// The resources that references can mean.
#[derive(Debug, Default)]
pub(crate) struct References {}

/// Whether a value holds references that are not resolved.
pub(crate) fn has_references(_value: &Value) -> bool {
    false
}

impl References {
    /// Resolves what other resources say of themselves, and keeps the rest.
    pub(crate) fn of(_wanted: &mut Wanted) -> Result<Self, EngineError> {
        Ok(Self {})
    }

    pub(crate) fn index(_wanted: &Wanted) -> Self {
        Self {}
    }

    /// Puts resources into rounds: each refers to those of earlier rounds only.
    pub(crate) fn rounds(&self, wanted: &Wanted) -> Vec<Vec<ResourceId>> {
        vec![wanted.keys().cloned().collect()]
    }

    /// Resolves what is known before anything is done.
    pub(crate) fn resolve_known(
        &self,
        _resource: &mut Resource,
        _steps: &BTreeMap<ResourceId, Step>,
        _live: &LiveObjects,
    ) -> Result<(), EngineError> {
        Ok(())
    }

    /// Resolves everything, by objects that exist.
    pub(crate) fn resolve_live(
        &self,
        _resource: &mut Resource,
        _lookup: impl Fn(&ResourceId, &FieldPath) -> Option<Value>,
    ) -> Result<(), Finding> {
        Ok(())
    }
}
