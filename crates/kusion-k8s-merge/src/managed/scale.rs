//! Conversion of the records of managers to and from the scale subresource.

use std::borrow::Cow;

use serde_json::Value;

use super::entries::{self, Entry};
use crate::path::PathElement;
use crate::set::Set;

/// The version of the scale subresource.
const SCALE_VERSION: &str = "autoscaling/v1";

/// Where the number of replicas is in `Scale`.
const REPLICAS: [PathElement<'static>; 2] =
    [PathElement::Field("spec"), PathElement::Field("replicas")];

/// Returns where a version of the parent keeps its number of replicas; none for unknown versions.
pub type ReplicasPath<'a> = &'a dyn Fn(&str) -> Option<Vec<PathElement<'static>>>;

/// Returns the records of `Scale` that correspond to those of its parent.
pub fn scale_to_subresource(parent: &Value, path_of: ReplicasPath<'_>) -> Option<Value> {
    let mut own = Vec::new();
    for mut entry in entries::decode(parent).ok()? {
        if path_of(&entry.api_version).is_some_and(|path| entry.fields.has(&path)) {
            entry.fields = replicas_set(&REPLICAS);
            entry.api_version = Cow::Borrowed(SCALE_VERSION);
            own.push(entry);
        }
    }
    entries::encode(own)
}

/// Returns the records of the parent after a write to its `Scale`.
///
/// Records from `Scale` have no time; records of updates never match later, because their version
/// there is another.
pub fn scale_to_parent(
    parent: &Value,
    api_version: &str,
    scale: &Value,
    path_of: ReplicasPath<'_>,
) -> Option<Value> {
    let mut scaled = entries::decode(scale).ok()?;
    let mut kept: Vec<Entry<'_>> = Vec::new();
    for mut entry in entries::decode(parent).ok()? {
        let Some(path) = path_of(&entry.api_version) else { continue };
        if entry.fields.has(&path) {
            match scaled.iter().position(|other| other.same_manager(&entry)) {
                Some(at) => {
                    scaled.remove(at);
                }
                None => entry.fields.subtract(&replicas_set(&path)),
            }
        }
        if !entry.fields.is_empty() {
            kept.push(entry);
        }
    }
    let own_path = path_of(api_version)?;
    for mut entry in scaled {
        if entry.fields.has(&REPLICAS) {
            entry.fields = replicas_set(&own_path);
            entry.api_version = Cow::Owned(api_version.to_owned());
            entry.time = None;
            kept.push(entry);
        }
    }
    entries::encode(kept)
}

fn replicas_set<'a>(path: &[PathElement<'a>]) -> Set<'a> {
    let mut set = Set::new();
    set.insert(path);
    set
}
