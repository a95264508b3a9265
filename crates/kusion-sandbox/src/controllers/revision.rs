//! The versions of a template that `StatefulSets` and `DaemonSets` have had (`ControllerRevision`).

use super::kind::Kind;
use super::meta::{self, int, text};
use super::ownership::adopt;
use super::selector;
use super::template::{hash, revision_hash};
use super::world::World;
use crate::Status;
use serde_json::{Value, json};
use std::sync::Arc;

/// The label of revisions (and of pods) that names the version.
pub(crate) const LABEL: &str = "controller-revision-hash";

/// The revisions of a set.
#[derive(Debug)]
pub(crate) struct Revisions {
    /// That of the present template.
    pub update: Arc<Value>,
    /// All, by number.
    pub all: Vec<Arc<Value>>,
}

impl Revisions {
    /// The revision with a name.
    pub(crate) fn named(&self, name: &str) -> Option<&Arc<Value>> {
        self.all.iter().find(|it| meta::name(it) == name)
    }
}

/// The template that a revision keeps, without what marks it as a patch.
pub(crate) fn template_of(revision: &Value) -> Value {
    let mut template = revision["data"]["spec"]["template"].clone();
    meta::remove(&mut template, "$patch");
    template
}

/// Finds or makes the revision of the present template. `collisions` is `collisionCount` of the
/// status; it grows when another object has taken the name.
pub(crate) fn ensure(
    world: &World,
    kind: Kind,
    set: &Value,
    collisions: &mut i64,
) -> Result<Revisions, Status> {
    let mut all = world.cache.children(meta::uid(set), Kind::ControllerRevision);
    if all.is_empty() {
        all = adopted(world, kind, set)?;
    }
    all.sort_by_key(|it| (number(it), meta::name(it).to_owned()));
    let mut template = set["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    let data = json!({"spec": {"template": template}});
    let next = all.last().map_or(0, |it| number(it)) + 1;
    if let Some(idx) = all.iter().rposition(|it| it["data"] == data) {
        if idx + 1 == all.len() {
            let update = all[idx].clone();
            return Ok(Revisions { update, all });
        }
        let mut again = (*all.remove(idx)).clone();
        again["revision"] = next.into();
        let update = world.update(Kind::ControllerRevision, again)?;
        all.push(update.clone());
        return Ok(Revisions { update, all });
    }
    let update = create(world, kind, set, &data, next, collisions)?;
    all.push(update.clone());
    Ok(Revisions { update, all })
}

/// Takes over the revisions that a set of the same labels has left behind.
fn adopted(world: &World, kind: Kind, set: &Value) -> Result<Vec<Arc<Value>>, Status> {
    let orphans: Vec<Arc<Value>> = world
        .cache
        .in_namespace(Kind::ControllerRevision, meta::namespace(set))
        .filter(|it| {
            meta::controller(it).is_none()
                && !meta::is_deleting(it)
                && selector::matches(&set["spec"]["selector"], &it["metadata"]["labels"])
        })
        .collect();
    let mut all = Vec::new();
    for orphan in orphans {
        all.extend(adopt(world, kind, set, Kind::ControllerRevision, &orphan)?);
    }
    Ok(all)
}

fn number(revision: &Value) -> i64 {
    int(&revision["revision"], 0)
}

fn create(
    world: &World,
    kind: Kind,
    set: &Value,
    data: &Value,
    number: i64,
    collisions: &mut i64,
) -> Result<Arc<Value>, Status> {
    loop {
        let hash = match kind {
            Kind::StatefulSet => revision_hash(data, *collisions),
            _ => hash(&set["spec"]["template"], *collisions),
        };
        let name = format!("{}-{hash}", meta::name(set));
        let mut labels = set["spec"]["template"]["metadata"]["labels"].clone();
        if !labels.is_object() {
            labels = json!({});
        }
        let label = if kind == Kind::DaemonSet { LABEL } else { "controller.kubernetes.io/hash" };
        labels[label] = hash.as_str().into();
        let mut metadata = json!({
            "name": name,
            "namespace": meta::namespace(set),
            "labels": labels,
            "ownerReferences": [meta::controller_reference(kind, set)],
        });
        if set["metadata"]["annotations"].is_object() {
            metadata["annotations"] = set["metadata"]["annotations"].clone();
        }
        let object = json!({"metadata": metadata, "data": data, "revision": number});
        match world.create(Kind::ControllerRevision, meta::namespace(set), object) {
            Err(status) if status.is_already_exists() => {
                let resource = Kind::ControllerRevision.resource();
                let known = world.api.get(resource, meta::namespace(set), &name)?;
                if known["data"] == *data && meta::is_controlled_by(&known, set) {
                    return Ok(known);
                }
                *collisions += 1;
            }
            result => return result,
        }
    }
}

/// Deletes the oldest revisions beyond the limit that nothing uses.
pub(crate) fn prune(
    world: &World,
    set: &Value,
    revisions: &Revisions,
    used: impl Fn(&Value) -> bool,
) -> Result<(), Status> {
    let limit = int(&set["spec"]["revisionHistoryLimit"], 10);
    let idle: Vec<&Arc<Value>> = revisions
        .all
        .iter()
        .filter(|it| meta::name(it) != meta::name(&revisions.update) && !used(it))
        .collect();
    let surplus = (idle.len() as i64 - limit).max(0) as usize;
    for revision in idle.into_iter().take(surplus) {
        world.delete(Kind::ControllerRevision, revision)?;
    }
    Ok(())
}

/// The hash in the labels of a revision of a `DaemonSet`.
pub(crate) fn label_of(revision: &Value) -> &str {
    text(&revision["metadata"]["labels"][LABEL])
}
