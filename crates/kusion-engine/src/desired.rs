//! The desired resources of a stack.

use kusion_model::{Resource, ResourceId, Spec};
use std::collections::BTreeMap;

/// The desired resources by id, with plain secrets.
pub(crate) type Desired = BTreeMap<ResourceId, Resource>;

/// Sorts the resources of a Spec by id.
pub(crate) fn desired(spec: &Spec) -> Desired {
    spec.resources.iter().map(|it| (it.id.clone(), it.clone())).collect()
}
