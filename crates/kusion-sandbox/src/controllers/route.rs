//! From an event to the work that follows from it.

use super::cache::{KindId, Place};
use super::kind::{KINDS, Kind};
use super::meta::{self, text};
use super::selector;
use super::task::{Key, Task};
use super::world::World;
use crate::lifecycle::{accounts, aggregation, collector};
use crate::pods::{claims, scheduler};
use crate::{Event, EventKind};
use serde_json::Value;
use std::sync::Arc;

/// Takes an event into the cache and asks for the work that it calls for.
pub(crate) fn take(world: &mut World, event: &Event) {
    let (object, old) = (event.object(), event.previous());
    let place = world.cache.apply(event);
    let old = old.as_deref();
    let gone = event.kind == EventKind::Deleted;
    let new = (!gone).then_some(&*object);
    if let Some(kind) = KINDS.get(place.kind as usize).copied() {
        route(world, kind, &object, old, new);
    }
    collect(world, &place, &object, old, gone);
    follow_namespace(world, &place, gone);
    follow_quotas(world, &place, old, new);
}

/// Work of the garbage collector.
fn collect(world: &mut World, place: &Place, object: &Value, old: Option<&Value>, gone: bool) {
    if gone {
        collector::visit_dependents(world, meta::uid(object));
        for owner in meta::owners(object) {
            // An owner that waits for its dependents may be free now.
            if let Some(place) = world.cache.place_of(text(&owner["uid"])).cloned() {
                world.queue.add(Key { task: Task::Collect, place });
            }
        }
        return;
    }
    let ending = meta::is_deleting(object)
        && (meta::has_finalizer(object, collector::FOREGROUND)
            || meta::has_finalizer(object, collector::ORPHAN));
    let owned = !meta::owners(object).is_empty()
        && old.is_none_or(|it| meta::owners(it) != meta::owners(object));
    if ending || owned {
        world.queue.add(Key { task: Task::Collect, place: place.clone() });
    }
    if let Some(old) = old {
        for owner in meta::owners(old) {
            if !meta::owners(object).iter().any(|it| it["uid"] == owner["uid"])
                && let Some(place) = world.cache.place_of(text(&owner["uid"])).cloned()
            {
                world.queue.add(Key { task: Task::Collect, place });
            }
        }
    }
}

/// A namespace that ends waits for its content.
fn follow_namespace(world: &mut World, place: &Place, gone: bool) {
    if place.namespace.is_empty() {
        return;
    }
    let ending = world
        .cache
        .get(Kind::Namespace, "", &place.namespace)
        .is_some_and(|it| meta::is_deleting(&it));
    if ending && (gone || place.kind != Kind::Event as KindId) {
        world.queue.add(Key::new(Task::Namespace, Kind::Namespace, "", &place.namespace));
    }
}

/// Quotas are counted anew when something goes or ends; what comes is counted at the door.
fn follow_quotas(world: &mut World, place: &Place, old: Option<&Value>, new: Option<&Value>) {
    if place.namespace.is_empty() || place.kind == Kind::Event as KindId {
        return;
    }
    let matters = match (old, new) {
        (_, None) | (None, Some(_)) => true,
        (Some(old), Some(new)) => {
            place.kind == Kind::ResourceQuota as KindId
                || (place.kind == Kind::Pod as KindId
                    && meta::is_pod_finished(old) != meta::is_pod_finished(new))
                || (place.kind == Kind::Service as KindId && old["spec"] != new["spec"])
        }
    };
    if matters {
        let quotas: Vec<Arc<Value>> = world.list(Kind::ResourceQuota, &place.namespace);
        for quota in quotas {
            world.add(Task::Quota, Kind::ResourceQuota, &quota);
        }
    }
}

fn route(world: &mut World, kind: Kind, object: &Value, old: Option<&Value>, new: Option<&Value>) {
    match kind {
        Kind::Pod => route_pod(world, object, old, new),
        Kind::Node => {
            world.add(Task::Node, kind, object);
            scheduler::retry_all(world);
            let sets: Vec<Arc<Value>> = world.cache.all(Kind::DaemonSet).collect();
            let changed = old.is_none_or(|it| {
                new.is_none_or(|new| {
                    it["spec"] != new["spec"]
                        || it["metadata"]["labels"] != new["metadata"]["labels"]
                })
            });
            for set in sets.into_iter().filter(|_| changed) {
                world.add(Task::DaemonSet, Kind::DaemonSet, &set);
            }
        }
        Kind::Namespace => {
            world.add(Task::Namespace, kind, object);
            world.add(Task::Accounts, kind, object);
        }
        Kind::Secret if accounts::is_token(object) => world.add(Task::Token, kind, object),
        Kind::ServiceAccount | Kind::ConfigMap => {
            if kind == Kind::ServiceAccount && new.is_none() {
                for secret in world.list(Kind::Secret, meta::namespace(object)) {
                    if accounts::is_token(&secret) {
                        world.add(Task::Token, Kind::Secret, &secret);
                    }
                }
            }
            let name = if kind == Kind::ConfigMap { accounts::ROOT_CA } else { accounts::ACCOUNT };
            if meta::name(object) == name {
                let namespace = meta::namespace(object);
                world.queue.add(Key::new(Task::Accounts, Kind::Namespace, "", namespace));
            }
        }
        Kind::Deployment => world.add(Task::Deployment, kind, object),
        Kind::ReplicaSet => {
            world.add(Task::ReplicaSet, kind, object);
            route_owner(world, kind, object, old);
        }
        Kind::ReplicationController => {
            world.add(Task::ReplicationController, kind, object);
            budgets(world, meta::namespace(object));
        }
        Kind::StatefulSet => world.add(Task::StatefulSet, kind, object),
        Kind::DaemonSet => world.add(Task::DaemonSet, kind, object),
        Kind::Job => {
            world.add(Task::Job, kind, object);
            world.add(Task::Expiry, kind, object);
            route_owner(world, kind, object, old);
        }
        Kind::CronJob => world.add(Task::CronJob, kind, object),
        Kind::ClusterRole => aggregation::role_changed(world),
        Kind::HorizontalPodAutoscaler => world.add(Task::Autoscaler, kind, object),
        Kind::PodDisruptionBudget => world.add(Task::Disruption, kind, object),
        Kind::Service => {
            world.add(Task::Endpoints, kind, object);
            world.add(Task::Slices, kind, object);
            world.add(Task::Balancer, kind, object);
            let (namespace, name) = (meta::namespace(object), meta::name(object));
            world.queue.add(Key::new(Task::Mirror, Kind::Endpoints, namespace, name));
            if old.is_none() || new.is_none() {
                all_conditions(world, Kind::APIService);
            }
        }
        Kind::Endpoints => {
            world.add(Task::Mirror, kind, object);
            if new.is_none() {
                let (namespace, name) = (meta::namespace(object), meta::name(object));
                world.queue.add(Key::new(Task::Endpoints, Kind::Service, namespace, name));
            }
        }
        Kind::EndpointSlice => {
            if let Some(service) = meta::label(object, "kubernetes.io/service-name") {
                let namespace = meta::namespace(object);
                world.queue.add(Key::new(Task::Slices, Kind::Service, namespace, service));
            }
        }
        Kind::ControllerRevision => route_owner(world, kind, object, old),
        Kind::Ingress => world.add(Task::Ingress, kind, object),
        Kind::PersistentVolumeClaim => {
            world.add(Task::Claim, kind, object);
            world.add(Task::Protect, kind, object);
            scheduler::retry_all(world);
        }
        Kind::PersistentVolume => route_volume(world, object),
        Kind::ResourceQuota => world.add(Task::Quota, kind, object),
        Kind::ResourceClaim
        | Kind::ResourceClaimTemplate
        | Kind::DeviceClass
        | Kind::ResourceSlice => route_devices(world, kind, object),
        Kind::APIService
        | Kind::FlowSchema
        | Kind::CustomResourceDefinition
        | Kind::ValidatingAdmissionPolicy => world.add(Task::Conditions, kind, object),
        Kind::PriorityLevelConfiguration => all_conditions(world, Kind::FlowSchema),
        _ => {}
    }
}

/// Asks for another look at the conditions of all objects of a kind.
fn all_conditions(world: &mut World, kind: Kind) {
    let all: Vec<Arc<Value>> = world.cache.all(kind).collect();
    for object in all {
        world.add(Task::Conditions, kind, &object);
    }
}

fn route_devices(world: &mut World, kind: Kind, object: &Value) {
    if kind == Kind::ResourceClaim {
        world.add(Task::DeviceClaim, kind, object);
    }
    scheduler::retry_all(world);
}

fn route_volume(world: &mut World, volume: &Value) {
    world.add(Task::Volume, Kind::PersistentVolume, volume);
    world.add(Task::Protect, Kind::PersistentVolume, volume);
    let claims: Vec<Arc<Value>> = world
        .cache
        .all(Kind::PersistentVolumeClaim)
        .filter(|it| it["status"]["phase"] != "Bound")
        .collect();
    for claim in claims {
        world.add(Task::Claim, Kind::PersistentVolumeClaim, &claim);
    }
}

fn route_pod(world: &mut World, pod: &Value, old: Option<&Value>, new: Option<&Value>) {
    if world.load.note(old, new) {
        scheduler::retry_all(world);
    }
    if new.is_none() || meta::is_pod_finished(pod) {
        claims::pod_ended(world, pod);
    }
    let namespace = meta::namespace(pod);
    if new.is_some() {
        if text(&pod["spec"]["nodeName"]).is_empty() {
            world.add(Task::Schedule, Kind::Pod, pod);
        } else {
            world.add(Task::Pod, Kind::Pod, pod);
        }
    } else {
        world.kubelet.forget(meta::uid(pod));
        world.counted.forget(meta::uid(pod));
        for volume in meta::items(&pod["spec"]["volumes"]) {
            let claim = text(&volume["persistentVolumeClaim"]["claimName"]);
            if !claim.is_empty() {
                let kind = Kind::PersistentVolumeClaim;
                world.queue.add(Key::new(Task::Protect, kind, namespace, claim));
            }
        }
    }
    route_owner(world, Kind::Pod, pod, old);
    let relevant = old.is_none_or(|it| {
        new.is_none()
            || it["metadata"]["labels"] != pod["metadata"]["labels"]
            || it["metadata"]["deletionTimestamp"] != pod["metadata"]["deletionTimestamp"]
            || it["status"]["podIP"] != pod["status"]["podIP"]
            || it["status"]["phase"] != pod["status"]["phase"]
            || meta::is_pod_ready(it) != meta::is_pod_ready(pod)
            || it["spec"]["nodeName"] != pod["spec"]["nodeName"]
    });
    if relevant {
        services(world, namespace, pod, old);
        budgets_of(world, pod, old);
    }
}

/// The services that select a pod, now or before.
fn services(world: &mut World, namespace: &str, pod: &Value, old: Option<&Value>) {
    let selected: Vec<Arc<Value>> = world
        .cache
        .in_namespace(Kind::Service, namespace)
        .filter(|it| {
            let wanted = &it["spec"]["selector"];
            wanted.as_object().is_some_and(|it| !it.is_empty())
                && (selector::map_matches(wanted, &pod["metadata"]["labels"])
                    || old
                        .is_some_and(|it| selector::map_matches(wanted, &it["metadata"]["labels"])))
        })
        .collect();
    for service in selected {
        world.add(Task::Endpoints, Kind::Service, &service);
        world.add(Task::Slices, Kind::Service, &service);
    }
}

fn budgets_of(world: &mut World, pod: &Value, old: Option<&Value>) {
    let covering: Vec<Arc<Value>> = world
        .cache
        .in_namespace(Kind::PodDisruptionBudget, meta::namespace(pod))
        .filter(|it| {
            let wanted = &it["spec"]["selector"];
            selector::matches(wanted, &pod["metadata"]["labels"])
                || old.is_some_and(|it| selector::matches(wanted, &it["metadata"]["labels"]))
        })
        .collect();
    for budget in covering {
        world.add(Task::Disruption, Kind::PodDisruptionBudget, &budget);
    }
}

fn budgets(world: &mut World, namespace: &str) {
    for budget in world.list(Kind::PodDisruptionBudget, namespace) {
        world.add(Task::Disruption, Kind::PodDisruptionBudget, &budget);
    }
}

/// The task that a controller of a kind has.
fn task_of(kind: Kind) -> Option<Task> {
    match kind {
        Kind::Deployment => Some(Task::Deployment),
        Kind::ReplicaSet => Some(Task::ReplicaSet),
        Kind::ReplicationController => Some(Task::ReplicationController),
        Kind::StatefulSet => Some(Task::StatefulSet),
        Kind::DaemonSet => Some(Task::DaemonSet),
        Kind::Job => Some(Task::Job),
        Kind::CronJob => Some(Task::CronJob),
        _ => None,
    }
}

/// The controller of an object, now and before; for an orphan, those that could adopt it.
fn route_owner(world: &mut World, kind: Kind, object: &Value, old: Option<&Value>) {
    let namespace = meta::namespace(object);
    let add = |world: &mut World, reference: &Value| {
        let owner = Kind::named(text(&reference["apiVersion"]), text(&reference["kind"]));
        if let Some(owner) = owner
            && let Some(task) = task_of(owner)
        {
            world.queue.add(Key::new(task, owner, namespace, text(&reference["name"])));
        }
    };
    if let Some(reference) = meta::controller(object) {
        add(world, reference);
        if kind == Kind::Pod && reference["kind"] == "ReplicaSet" {
            recreating(world, namespace, reference);
        }
    }
    if let Some(reference) = old.and_then(meta::controller) {
        add(world, reference);
    }
    if meta::controller(object).is_some() || !matches!(kind, Kind::Pod | Kind::ReplicaSet) {
        return;
    }
    let adopters: &[Kind] = if kind == Kind::Pod {
        &[
            Kind::ReplicaSet,
            Kind::ReplicationController,
            Kind::StatefulSet,
            Kind::DaemonSet,
            Kind::Job,
        ]
    } else {
        &[Kind::Deployment]
    };
    for adopter in adopters {
        let matching: Vec<Arc<Value>> = world
            .cache
            .in_namespace(*adopter, namespace)
            .filter(|it| {
                let wanted = super::replicas::label_selector(*adopter, it);
                selector::matches(&wanted, &object["metadata"]["labels"])
            })
            .collect();
        for found in matching {
            if let Some(task) = task_of(*adopter) {
                world.add(task, *adopter, &found);
            }
        }
    }
}

/// A Deployment that recreates waits for the last old pod, which only its `ReplicaSet` owns.
fn recreating(world: &mut World, namespace: &str, reference: &Value) {
    let name = text(&reference["name"]);
    let Some(set) = world.get(Kind::ReplicaSet, namespace, name) else { return };
    if let Some(owner) = meta::controller(&set)
        && owner["kind"] == "Deployment"
        && let Some(deployment) = world.cache.get(Kind::Deployment, namespace, text(&owner["name"]))
        && deployment["spec"]["strategy"]["type"] == "Recreate"
    {
        world.queue.add(Key::new(
            Task::Deployment,
            Kind::Deployment,
            namespace,
            text(&owner["name"]),
        ));
    }
}
