//! The end of namespaces: pods go first, then everything else, then the namespace.

use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::task::Key;
use crate::controllers::world::{MANAGER, World};
use crate::{Propagation, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The finalizer of the spec that stands for the content.
const FINALIZER: &str = "kubernetes";
/// After which time a namespace that still has content is looked at again.
const RECHECK_MS: i64 = 500;

/// What a namespace still holds.
#[derive(Debug, Default)]
struct Remains {
    resources: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
    failures: Vec<String>,
}

/// Empties a namespace that is being deleted and lets it go.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(namespace) = world.get(Kind::Namespace, "", key.name()) else { return Ok(()) };
    if !meta::is_deleting(&namespace) {
        return Ok(());
    }
    let waits = items(&namespace["spec"]["finalizers"]).iter().any(|it| it == FINALIZER);
    if !waits {
        return Ok(());
    }
    let mut remains = empty(world, key.name(), |kind| kind == Kind::Pod as u32);
    if remains.resources.is_empty() {
        remains = empty(world, key.name(), |_| true);
    } else if world.cache.content(key.name()).any(|(kind, _)| kind != Kind::Pod as u32) {
        remains.failures.push(
            "unexpected items still remain in namespace: ".to_owned()
                + key.name()
                + " for gvr: /v1, Resource=pods",
        );
    }
    if remains.resources.is_empty() {
        return finalize(world, &namespace);
    }
    let mut status = namespace["status"].clone();
    status["phase"] = "Terminating".into();
    let now = world.now_text();
    for condition in conditions(&remains) {
        meta::set_condition(&mut status["conditions"], condition, &now);
    }
    world.update_status(Kind::Namespace, &namespace, status)?;
    world.add_after(key, RECHECK_MS);
    Ok(())
}

fn finalize(world: &World, namespace: &Value) -> Result<(), Status> {
    let mut object = namespace.clone();
    if let Some(list) = meta::list_mut(&mut object, &["spec", "finalizers"]) {
        list.retain(|it| it != FINALIZER);
    }
    match world.update_as(MANAGER, Kind::Namespace, "finalize", object) {
        Err(status) if status.code == 404 => Ok(()),
        other => other.map(drop),
    }
}

/// Deletes the content of chosen kinds and says what is left of it.
fn empty(world: &World, namespace: &str, chosen: impl Fn(u32) -> bool) -> Remains {
    let content: Vec<_> = world
        .cache
        .content(namespace)
        .filter(|(kind, _)| chosen(*kind))
        .map(|(kind, stored)| (kind, Arc::clone(stored)))
        .collect();
    let mut remains = Remains::default();
    for (kind, stored) in content {
        let object = stored.value();
        let resource = world.cache.resource(kind).clone();
        if !meta::is_deleting(&object) {
            let place = crate::controllers::cache::Place {
                kind,
                namespace: namespace.into(),
                name: meta::name(&object).into(),
            };
            let uid = meta::uid(&object);
            if let Err(status) = world.delete_at(&place, uid, Propagation::Background, None) {
                remains.failures.push(status.message);
            }
        }
        let Ok(left) = world.api.get(&resource, namespace, meta::name(&object)) else { continue };
        let resource = format!("{}.{}", resource.plural, resource.group);
        *remains.resources.entry(resource).or_default() += 1;
        for finalizer in items(&left["metadata"]["finalizers"]) {
            *remains.finalizers.entry(text(finalizer).to_owned()).or_default() += 1;
        }
    }
    remains
}

fn conditions(remains: &Remains) -> Vec<Value> {
    let condition = |type_: &str, bad: bool, reason: &str, message: &str| {
        json!({"type": type_, "status": if bad { "True" } else { "False" },
            "reason": reason, "message": message})
    };
    let join = |counts: &BTreeMap<String, usize>, word: &str| {
        let parts: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{name} {word} {count} resource instances"))
            .collect();
        parts.join(", ")
    };
    let mut list = vec![
        condition(
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
    ];
    list.push(if remains.failures.is_empty() {
        condition(
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        )
    } else {
        let message = format!(
            "Failed to delete all resource types, {} remaining: {}",
            remains.failures.len(),
            remains.failures.join(", ")
        );
        condition("NamespaceDeletionContentFailure", true, "ContentDeletionFailed", &message)
    });
    let message = format!("Some resources are remaining: {}", join(&remains.resources, "has"));
    list.push(condition("NamespaceContentRemaining", true, "SomeResourcesRemain", &message));
    list.push(if remains.finalizers.is_empty() {
        condition(
            "NamespaceFinalizersRemaining",
            false,
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        )
    } else {
        let message = format!(
            "Some content in the namespace has finalizers remaining: {}",
            join(&remains.finalizers, "in")
        );
        condition("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", &message)
    });
    list
}
