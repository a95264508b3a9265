//! Which dependents belong to a controller: adopt what matches, release what no longer does.

use super::kind::Kind;
use super::meta;
use super::selector;
use super::world::World;
use crate::Status;
use serde_json::Value;
use std::sync::Arc;

/// Returns the dependents of one kind that belong to `owner` after adopting and releasing.
pub(crate) fn claim(
    world: &World,
    owner_kind: Kind,
    owner: &Value,
    kind: Kind,
    label_selector: &Value,
) -> Result<Vec<Arc<Value>>, Status> {
    let alive = !meta::is_deleting(owner);
    let mut claimed = Vec::new();
    for child in world.cache.children(meta::uid(owner), kind) {
        if !meta::is_controlled_by(&child, owner) {
            continue;
        }
        if selector::matches(label_selector, &child["metadata"]["labels"]) {
            claimed.push(child);
        } else if alive {
            release(world, kind, owner, &child)?;
        }
    }
    if !alive {
        return Ok(claimed);
    }
    for orphan in world.cache.orphans(kind, meta::namespace(owner)) {
        if meta::is_deleting(&orphan)
            || !selector::matches(label_selector, &orphan["metadata"]["labels"])
        {
            continue;
        }
        if let Some(adopted) = adopt(world, owner_kind, owner, kind, &orphan)? {
            claimed.push(adopted);
        }
    }
    Ok(claimed)
}

/// Makes `owner` the controller of an orphan; none when the orphan is gone.
pub(crate) fn adopt(
    world: &World,
    owner_kind: Kind,
    owner: &Value,
    kind: Kind,
    orphan: &Value,
) -> Result<Option<Arc<Value>>, Status> {
    let mut object = orphan.clone();
    let reference = meta::controller_reference(owner_kind, owner);
    meta::push(&mut object["metadata"], "ownerReferences", reference);
    match world.update(kind, object) {
        Ok(object) => Ok(Some(object)),
        Err(status) if status.code == 404 => Ok(None),
        Err(status) => Err(status),
    }
}

/// Takes the reference to `owner` out of a dependent.
pub(crate) fn release(
    world: &World,
    kind: Kind,
    owner: &Value,
    child: &Value,
) -> Result<(), Status> {
    let mut object = child.clone();
    if let Some(list) = meta::list_mut(&mut object, &["metadata", "ownerReferences"]) {
        list.retain(|it| it["uid"] != owner["metadata"]["uid"]);
        if list.is_empty() {
            meta::remove(&mut object["metadata"], "ownerReferences");
        }
    }
    meta::remove_finalizer(&mut object, super::job::TRACKING);
    match world.update(kind, object) {
        Ok(_) => Ok(()),
        Err(status) if status.code == 404 || status.code == 422 => Ok(()),
        Err(status) => Err(status),
    }
}
