//! Marks of resources that say what they wait for.

use crate::{Resource, ResourceId};

/// The extension with the ids that must be ready before a resource is created or changed. They are
/// dependencies, too.
pub const WAIT_FOR: &str = "kusion.io/wait-for";
/// The extension of a hook with a fingerprint of the desired resources that it ran for.
pub const HOOK_RUN: &str = "kusion.io/hook-run";

/// Returns the ids that must be ready before a resource is created or changed.
pub fn wait_for(resource: &Resource) -> impl Iterator<Item = &ResourceId> {
    let marked = resource.extensions.get(WAIT_FOR).and_then(|it| it.as_array());
    let is_marked = move |id: &&ResourceId| {
        marked.is_some_and(|ids| ids.iter().any(|it| it.as_str() == Some(id.as_str())))
    };
    resource.depends_on.iter().filter(is_marked)
}
