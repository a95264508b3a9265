//! Garbage collection: dependents follow their owners.

use crate::controllers::cache::Place;
use crate::controllers::meta::{self, items, text};
use crate::controllers::task::{Key, Task};
use crate::controllers::world::World;
use crate::{Propagation, Status};
use serde_json::Value;
use std::sync::Arc;

/// Deletion waits for the dependents.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Dependents are set free before the owner goes.
pub(crate) const ORPHAN: &str = "orphan";

/// How an owner reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The owner exists.
    Solid,
    /// The owner is gone.
    Dangling,
    /// The owner waits for its dependents.
    Waiting,
    /// Nothing is known of its kind; better leave it.
    Unknown,
}

/// Asks for a look at all dependents of an object.
pub(crate) fn visit_dependents(world: &mut World, uid: &str) {
    for place in world.cache.dependents(uid) {
        world.queue.add(Key { task: Task::Collect, place });
    }
}

/// Looks at one object: as an owner that ends, and as a dependent.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(object) = world.cache.at(&key.place) else { return Ok(()) };
    if meta::is_deleting(&object) {
        if meta::has_finalizer(&object, ORPHAN) {
            return orphan_dependents(world, &key.place, &object);
        }
        if meta::has_finalizer(&object, FOREGROUND) {
            return await_dependents(world, &key.place, &object);
        }
        return Ok(());
    }
    if meta::owners(&object).is_empty() {
        return Ok(());
    }
    follow_owners(world, &key.place, &object)
}

/// Takes the owner's reference out of its dependents, then lets the owner go.
fn orphan_dependents(world: &mut World, place: &Place, owner: &Value) -> Result<(), Status> {
    for dependent in world.cache.dependents(meta::uid(owner)) {
        let Some(object) = world.cache.at(&dependent) else { continue };
        drop_references(world, &dependent, &object, |it| it["uid"] == owner["metadata"]["uid"])?;
    }
    release(world, place, owner, ORPHAN)
}

/// Deletes the dependents of an owner that waits for them; lets it go when none blocks it.
fn await_dependents(world: &mut World, place: &Place, owner: &Value) -> Result<(), Status> {
    let mut blocked = false;
    for dependent in world.cache.dependents(meta::uid(owner)) {
        let Some(object) = world.cache.at(&dependent) else { continue };
        let blocks = meta::owners(&object)
            .iter()
            .any(|it| it["uid"] == owner["metadata"]["uid"] && it["blockOwnerDeletion"] == true);
        blocked |= blocks;
        world.queue.add(Key { task: Task::Collect, place: dependent });
    }
    if blocked { Ok(()) } else { release(world, place, owner, FOREGROUND) }
}

fn release(world: &World, place: &Place, owner: &Value, finalizer: &str) -> Result<(), Status> {
    let mut object = owner.clone();
    if !meta::remove_finalizer(&mut object, finalizer) {
        return Ok(());
    }
    ignore_absence(world.update_at(place, object))
}

/// Deletes an object without living owners, or takes out the references that are of no use.
fn follow_owners(world: &mut World, place: &Place, object: &Arc<Value>) -> Result<(), Status> {
    let standings: Vec<(String, Standing)> = meta::owners(object)
        .iter()
        .map(|it| (text(&it["uid"]).to_owned(), standing(world, place, it)))
        .collect();
    let has = |wanted: Standing| standings.iter().any(|(_, it)| *it == wanted);
    if has(Standing::Unknown) {
        return Ok(());
    }
    if has(Standing::Solid) {
        if !has(Standing::Dangling) && !has(Standing::Waiting) {
            return Ok(());
        }
        return drop_references(world, place, object, |reference| {
            standings.iter().any(|(uid, it)| reference["uid"] == **uid && *it != Standing::Solid)
        });
    }
    let uid = meta::uid(object);
    let propagation = if has(Standing::Waiting) && world.cache.has_dependents(uid) {
        Propagation::Foreground
    } else if meta::has_finalizer(object, ORPHAN) {
        Propagation::Orphan
    } else if meta::has_finalizer(object, FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    world.delete_at(place, uid, propagation, None)
}

fn standing(world: &World, place: &Place, reference: &Value) -> Standing {
    let (uid, name) = (text(&reference["uid"]), text(&reference["name"]));
    let (api_version, kind) = (text(&reference["apiVersion"]), text(&reference["kind"]));
    let known = world.cache.place_of(uid);
    let fits = known.filter(|it| {
        &*it.name == name && (it.namespace.is_empty() || it.namespace == place.namespace)
    });
    if let Some(owner) = fits.and_then(|it| world.cache.at(it)) {
        let waits = meta::is_deleting(&owner) && meta::has_finalizer(&owner, FOREGROUND);
        return if waits { Standing::Waiting } else { Standing::Solid };
    }
    let Some(facts) = world.api.resource_of(api_version, kind) else { return Standing::Unknown };
    if facts.namespaced && place.namespace.is_empty() {
        // A cluster-scoped object cannot belong to a namespaced one: nothing can be said.
        return Standing::Unknown;
    }
    Standing::Dangling
}

fn drop_references(
    world: &World,
    place: &Place,
    object: &Value,
    unwanted: impl Fn(&Value) -> bool,
) -> Result<(), Status> {
    if !items(&object["metadata"]["ownerReferences"]).iter().any(&unwanted) {
        return Ok(());
    }
    let mut object = object.clone();
    if let Some(list) = meta::list_mut(&mut object, &["metadata", "ownerReferences"]) {
        list.retain(|it| !unwanted(it));
        if list.is_empty() {
            meta::remove(&mut object["metadata"], "ownerReferences");
        }
    }
    ignore_absence(world.update_at(place, object))
}

fn ignore_absence(result: Result<(), Status>) -> Result<(), Status> {
    match result {
        Err(status) if status.code == 404 => Ok(()),
        other => other,
    }
}
