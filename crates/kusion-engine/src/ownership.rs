//! The owners of live objects, as the stack of an operation sees them.

use crate::scope::Scope;
use kusion_model::{Resource, ResourceId};
use kusion_plan::{Ownership, is_match};
use kusion_runtime::Live;

impl Scope {
    /// Returns whose the live object of a resource is. Ids that match a pattern of `take_over` are
    /// taken over.
    pub(crate) fn ownership(
        &self,
        resource: &Resource,
        live: Option<&Live>,
        take_over: &[String],
    ) -> Ownership {
        let Some(live) = live else { return Ownership::Own };
        let owner = live.owner.as_ref();
        if owner.is_some_and(|it| it.is(&self.owner)) {
            return Ownership::Own;
        }
        if self.describe(resource).is_shared {
            return Ownership::Shared;
        }
        match owner {
            None => Ownership::Own,
            Some(owner) if is_taken_over(&resource.id, take_over) => {
                Ownership::TakenOver(owner.clone())
            }
            Some(owner) => Ownership::Foreign(owner.clone()),
        }
    }
}

/// Returns whether the object of a resource is taken over from other owners.
pub(crate) fn is_taken_over(id: &ResourceId, take_over: &[String]) -> bool {
    take_over.iter().any(|it| is_match(it, id.as_str()))
}
