//! Claims and volumes: binding, provisioning, release, protection.

use super::kind::Kind;
use super::meta::{self, items, text};
use super::record::{Source, Tone, record};
use super::selector;
use super::task::Key;
use super::world::World;
use crate::Status;
use kusion_k8s_schema::Quantity;
use serde_json::{Value, json};
use std::sync::Arc;

/// The provisioner of the storage class that is there from the start.
pub(crate) const PROVISIONER: &str = "sandbox.kusion.io/volumes";
const COMPONENT: &str = "persistentvolume-controller";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Binds a claim to a volume, making one when the class allows.
pub(crate) fn sync_claim(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(claim) = world.get(Kind::PersistentVolumeClaim, key.namespace(), key.name()) else {
        return Ok(());
    };
    if meta::is_deleting(&claim) {
        return Ok(());
    }
    if claim["status"]["phase"] == "Bound" {
        return follow_bound(world, &claim);
    }
    let named = text(&claim["spec"]["volumeName"]);
    let volume = if named.is_empty() {
        find(world, &claim)
    } else {
        world.get(Kind::PersistentVolume, "", named).filter(|it| takes(it, &claim))
    };
    match volume {
        Some(volume) => bind(world, &claim, &volume),
        None if named.is_empty() => provision(world, &claim),
        None => Ok(()),
    }
}

fn class_of(object: &Value) -> &str {
    meta::annotation(object, "volume.beta.kubernetes.io/storage-class")
        .unwrap_or_else(|| text(&object["spec"]["storageClassName"]))
}

/// Whether a volume is free for a claim.
fn takes(volume: &Value, claim: &Value) -> bool {
    let reference = &volume["spec"]["claimRef"];
    reference.is_null()
        || (reference["name"] == claim["metadata"]["name"]
            && reference["namespace"] == claim["metadata"]["namespace"]
            && (text(&reference["uid"]).is_empty() || reference["uid"] == claim["metadata"]["uid"]))
}

/// The smallest volume that fits a claim.
fn find(world: &World, claim: &Value) -> Option<Arc<Value>> {
    let wanted = Quantity::of(&claim["spec"]["resources"]["requests"]["storage"])?;
    let mut best: Option<(Quantity, Arc<Value>)> = None;
    for volume in world.cache.all(Kind::PersistentVolume) {
        let Some(size) = Quantity::of(&volume["spec"]["capacity"]["storage"]) else { continue };
        let modes = items(&volume["spec"]["accessModes"]);
        let fits = takes(&volume, claim)
            && !meta::is_deleting(&volume)
            && matches!(text(&volume["status"]["phase"]), "Available" | "Pending" | "")
            && size >= wanted
            && class_of(&volume) == class_of(claim)
            && volume["spec"]["volumeMode"] == claim["spec"]["volumeMode"]
            && items(&claim["spec"]["accessModes"]).iter().all(|it| modes.contains(it))
            && (claim["spec"]["selector"].is_null()
                || selector::matches(&claim["spec"]["selector"], &volume["metadata"]["labels"]));
        if !fits {
            continue;
        }
        if !volume["spec"]["claimRef"].is_null() {
            return Some(volume);
        }
        if best.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
            best = Some((size, volume));
        }
    }
    best.map(|it| it.1)
}

fn bind(world: &World, claim: &Value, volume: &Value) -> Result<(), Status> {
    let mut object = volume.clone();
    if text(&object["spec"]["claimRef"]["uid"]) != meta::uid(claim) {
        let mut reference = meta::object_reference(Kind::PersistentVolumeClaim, claim);
        reference["apiVersion"] = "v1".into();
        reference["resourceVersion"] = claim["metadata"]["resourceVersion"].clone();
        object["spec"]["claimRef"] = reference;
        if volume["spec"]["claimRef"].is_null() {
            meta::set_annotation(&mut object, "pv.kubernetes.io/bound-by-controller", "yes");
        }
        object = (*world.update(Kind::PersistentVolume, object)?).clone();
    }
    let mut status = object["status"].clone();
    status["phase"] = "Bound".into();
    world.update_status(Kind::PersistentVolume, &object, status)?;
    let mut next = claim.clone();
    if text(&next["spec"]["volumeName"]).is_empty() {
        next["spec"]["volumeName"] = meta::name(volume).into();
        meta::set_annotation(&mut next, "pv.kubernetes.io/bound-by-controller", "yes");
    }
    meta::set_annotation(&mut next, "pv.kubernetes.io/bind-completed", "yes");
    let next = world.update(Kind::PersistentVolumeClaim, next)?;
    let mut status = next["status"].clone();
    status["phase"] = "Bound".into();
    status["accessModes"] = volume["spec"]["accessModes"].clone();
    status["capacity"] = volume["spec"]["capacity"].clone();
    world.update_status(Kind::PersistentVolumeClaim, &next, status)
}

/// Makes a volume for a claim, if its class is one of ours.
fn provision(world: &mut World, claim: &Value) -> Result<(), Status> {
    let class_name = class_of(claim).to_owned();
    if class_name.is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        tell(world, claim, Tone::Normal, "FailedBinding", message);
        return Ok(());
    }
    let Some(class) = world.get(Kind::StorageClass, "", &class_name) else {
        let message = format!("storageclass.storage.k8s.io \"{class_name}\" not found");
        tell(world, claim, Tone::Warning, "ProvisioningFailed", &message);
        return Ok(());
    };
    let provisioner = text(&class["provisioner"]).to_owned();
    if class["volumeBindingMode"] == "WaitForFirstConsumer" && !is_used(world, claim) {
        let message = "waiting for first consumer to be created before binding";
        tell(world, claim, Tone::Normal, "WaitForFirstConsumer", message);
        return Ok(());
    }
    if provisioner != PROVISIONER {
        let message = format!(
            "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
        );
        tell(world, claim, Tone::Normal, "ExternalProvisioning", &message);
        return Ok(());
    }
    let name = format!("pvc-{}", meta::uid(claim));
    let mut reference = meta::object_reference(Kind::PersistentVolumeClaim, claim);
    reference["apiVersion"] = "v1".into();
    reference["resourceVersion"] = claim["metadata"]["resourceVersion"].clone();
    let volume = json!({
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
            "accessModes": claim["spec"]["accessModes"],
            "volumeMode": claim["spec"]["volumeMode"],
            "persistentVolumeReclaimPolicy":
                class["reclaimPolicy"].as_str().unwrap_or("Delete"),
            "storageClassName": class_name,
            "claimRef": reference,
            "hostPath": {"path": format!("/sandbox/volumes/{name}"), "type": "DirectoryOrCreate"},
        },
    });
    let volume = match world.create(Kind::PersistentVolume, "", volume) {
        Err(status) if status.is_already_exists() => {
            world.api.get(Kind::PersistentVolume.resource(), "", &name)?
        }
        result => result?,
    };
    let mut claim = claim.clone();
    let key = "volume.kubernetes.io/storage-provisioner";
    meta::set_annotation(&mut claim, key, PROVISIONER);
    tell(
        world,
        &claim,
        Tone::Normal,
        "ProvisioningSucceeded",
        &format!("Successfully provisioned volume {name}"),
    );
    bind(world, &claim, &volume)
}

fn tell(world: &mut World, claim: &Value, tone: Tone, reason: &str, message: &str) {
    let kind = Kind::PersistentVolumeClaim;
    record(world, Source::component(COMPONENT), kind, claim, tone, reason, message);
}

/// Sees to a bound claim: its volume may be gone, or too small by now.
fn follow_bound(world: &World, claim: &Value) -> Result<(), Status> {
    let name = text(&claim["spec"]["volumeName"]);
    let Some(volume) = world.get(Kind::PersistentVolume, "", name) else {
        let mut status = claim["status"].clone();
        status["phase"] = "Lost".into();
        return world.update_status(Kind::PersistentVolumeClaim, claim, status);
    };
    let wanted = &claim["spec"]["resources"]["requests"]["storage"];
    if Quantity::of(wanted) <= Quantity::of(&claim["status"]["capacity"]["storage"])
        || meta::annotation(&volume, PROVISIONED_BY) != Some(PROVISIONER)
    {
        return Ok(());
    }
    let mut larger = (*volume).clone();
    larger["spec"]["capacity"]["storage"] = wanted.clone();
    world.update(Kind::PersistentVolume, larger)?;
    let mut status = claim["status"].clone();
    status["capacity"]["storage"] = wanted.clone();
    world.update_status(Kind::PersistentVolumeClaim, claim, status)
}

/// Brings the phase of a volume up to date; deletes it when its claim is gone and it may go.
pub(crate) fn sync_volume(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(volume) = world.get(Kind::PersistentVolume, "", key.name()) else { return Ok(()) };
    let reference = &volume["spec"]["claimRef"];
    let phase = text(&volume["status"]["phase"]);
    let next = if text(&reference["uid"]).is_empty() {
        "Available"
    } else {
        let (namespace, name) = (text(&reference["namespace"]), text(&reference["name"]));
        let claim = world.get(Kind::PersistentVolumeClaim, namespace, name);
        match claim.filter(|it| it["metadata"]["uid"] == reference["uid"]) {
            Some(_) if phase == "Bound" => "Bound",
            Some(_) => return Ok(()),
            None => "Released",
        }
    };
    // Only a volume that is no longer bound loses its protection.
    let mut status = volume["status"].clone();
    status["phase"] = next.into();
    world.update_status(Kind::PersistentVolume, &volume, status)?;
    if next == "Released"
        && !meta::is_deleting(&volume)
        && volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
        && meta::annotation(&volume, PROVISIONED_BY) == Some(PROVISIONER)
    {
        return world.delete(Kind::PersistentVolume, &volume);
    }
    Ok(())
}

/// Whether a pod that has not ended uses a claim.
fn is_used(world: &World, claim: &Value) -> bool {
    world.cache.in_namespace(Kind::Pod, meta::namespace(claim)).any(|pod| {
        !meta::is_pod_finished(&pod)
            && items(&pod["spec"]["volumes"])
                .iter()
                .any(|it| it["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"])
    })
}

/// Lets a claim or volume go that is deleted and no longer used.
pub(crate) fn protect(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(object) = world.cache.at(&key.place) else {
        let volumes: Vec<Arc<Value>> = world
            .cache
            .all(Kind::PersistentVolume)
            .filter(|it| {
                it["spec"]["claimRef"]["name"] == key.name()
                    && it["spec"]["claimRef"]["namespace"] == key.namespace()
            })
            .collect();
        for volume in volumes {
            world.add(super::task::Task::Volume, Kind::PersistentVolume, &volume);
        }
        return Ok(());
    };
    if !meta::is_deleting(&object) {
        return Ok(());
    }
    let (finalizer, used) = if key.place.kind == Kind::PersistentVolume as u32 {
        ("kubernetes.io/pv-protection", object["status"]["phase"] == "Bound")
    } else {
        ("kubernetes.io/pvc-protection", is_used(world, &object))
    };
    if used || !meta::has_finalizer(&object, finalizer) {
        return Ok(());
    }
    let mut object = (*object).clone();
    meta::remove_finalizer(&mut object, finalizer);
    match world.update_at(&key.place, object) {
        Err(status) if status.code == 404 => Ok(()),
        result => result,
    }
}
