//! Claims for devices: made from templates, given devices together with the node of a pod, and freed
//! when no pod uses them.

use super::devices::Devices;
use super::scheduler::{Misfit, term_selects};
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::record::{Source, Tone, record};
use crate::controllers::task::{Key, Task};
use crate::controllers::world::{SCHEDULER, World};
use serde_json::{Value, json};
use std::sync::Arc;

/// Names the entry of a pod that a claim was made for.
const CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

/// Keeps a claim while it has devices.
const PROTECTION: &str = "resource.kubernetes.io/delete-protection";

/// What the claims of a pod say about its scheduling.
pub(super) enum Verdict {
    /// All claims exist.
    Known(Claims),
    /// A claim does not exist yet; nothing is said about it.
    Waits,
    /// A claim can never be met as things are; the reason, for the pod as a whole.
    Refused(String),
}

/// The claims of a pod.
#[derive(Default)]
pub(super) struct Claims {
    claims: Vec<Arc<Value>>,
    /// The devices of the cluster, if a claim has none yet.
    devices: Option<Devices>,
}

/// Makes the claims of a pod that come from templates, and finds all of them.
pub(super) fn look(world: &mut World, pod: &Arc<Value>) -> Result<Verdict, Status> {
    let wanted = items(&pod["spec"]["resourceClaims"]);
    if wanted.is_empty() {
        return Ok(Verdict::Known(Claims::default()));
    }
    if !make_missing(world, pod)? {
        return Ok(Verdict::Waits);
    }
    let namespace = meta::namespace(pod);
    let mut claims = Vec::new();
    for entry in wanted {
        let Some(name) = claim_name(pod, entry) else { return Ok(Verdict::Waits) };
        match world.get(Kind::ResourceClaim, namespace, name) {
            Some(claim) if !meta::is_deleting(&claim) => claims.push(claim),
            _ => return Ok(Verdict::Waits),
        }
    }
    let is_open = claims.iter().any(|it| it["status"]["allocation"].is_null());
    let devices = is_open.then(|| Devices::new(world, &claims)).transpose();
    Ok(match devices {
        Ok(devices) => Verdict::Known(Claims { claims, devices }),
        Err(reason) => Verdict::Refused(reason),
    })
}

impl Claims {
    /// Whether the pod has none.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Why a node does not have what the pod claims; none if it has.
    pub(super) fn misfit(&self, node: &Value) -> Option<Misfit> {
        let elsewhere = |claim: &Arc<Value>| {
            let selector = &claim["status"]["allocation"]["nodeSelector"];
            let terms = items(&selector["nodeSelectorTerms"]);
            selector.is_object() && !terms.iter().any(|it| term_selects(it, node))
        };
        if self.claims.iter().any(elsewhere) {
            return Some(Misfit::for_good("resourceclaim not available on the node"));
        }
        match self.devices.as_ref().map(|it| it.choose(node)) {
            None | Some(Ok(Some(_))) => None,
            Some(Ok(None)) => Some(Misfit::for_good("cannot allocate all claims")),
            Some(Err(message)) => Some(Misfit::for_good(message)),
        }
    }

    /// Gives the claims devices of a node, and reserves all of them for the pod.
    pub(super) fn reserve(&self, world: &World, pod: &Value, node: &Value) -> Result<(), Status> {
        let chosen = self.devices.as_ref().and_then(|it| it.choose(node).ok().flatten());
        for claim in &self.claims {
            let new = chosen.iter().flatten().find(|it| meta::uid(&it.0) == meta::uid(claim));
            let mut claim = Arc::clone(claim);
            if new.is_some() && !meta::has_finalizer(&claim, PROTECTION) {
                let mut object = (*claim).clone();
                meta::push(&mut object["metadata"], "finalizers", PROTECTION.into());
                claim = world.update_as(SCHEDULER, Kind::ResourceClaim, "", object)?;
            }
            let mut status = claim["status"].clone();
            if !status.is_object() {
                status = json!({});
            }
            if let Some((_, allocation)) = new {
                status["allocation"] = allocation.clone();
                status["allocation"]["allocationTimestamp"] = world.now_text().into();
            }
            let user = json!({"resource": "pods", "name": meta::name(pod), "uid": meta::uid(pod)});
            if !items(&status["reservedFor"]).contains(&user) {
                meta::push(&mut status, "reservedFor", user);
            }
            world.update_status_as(SCHEDULER, Kind::ResourceClaim, &claim, status)?;
        }
        Ok(())
    }
}

/// Asks for a look at the claims of a pod that has ended.
pub(crate) fn pod_ended(world: &mut World, pod: &Value) {
    for entry in items(&pod["spec"]["resourceClaims"]) {
        if let Some(name) = claim_name(pod, entry) {
            let namespace = meta::namespace(pod);
            world.queue.add(Key::new(Task::DeviceClaim, Kind::ResourceClaim, namespace, name));
        }
    }
}

/// Frees the devices of a claim that no pod uses, and deletes a claim that was made for a pod that
/// has ended.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let namespace = key.namespace();
    let Some(claim) = world.get(Kind::ResourceClaim, namespace, key.name()) else {
        return Ok(());
    };
    let lives = |user: &Value| {
        user["resource"] != "pods"
            || world.get(Kind::Pod, namespace, text(&user["name"])).is_some_and(|pod| {
                pod["metadata"]["uid"] == user["uid"] && !meta::is_pod_finished(&pod)
            })
    };
    let mut status = claim["status"].clone();
    let users = items(&status["reservedFor"]);
    let rest: Vec<Value> = users.iter().filter(|it| lives(it)).cloned().collect();
    let was_used = !users.is_empty();
    let is_free = rest.is_empty() && (was_used || meta::is_deleting(&claim));
    if rest.len() < users.len() {
        status["reservedFor"] = rest.into();
    }
    if is_free {
        meta::remove(&mut status, "reservedFor");
        meta::remove(&mut status, "allocation");
    }
    world.update_status(Kind::ResourceClaim, &claim, status)?;
    if !is_free {
        return Ok(());
    }
    let Some(claim) = newest(world, &claim) else { return Ok(()) };
    let mut object = claim.clone();
    if meta::remove_finalizer(&mut object, PROTECTION) {
        world.update(Kind::ResourceClaim, object)?;
    }
    let owner = meta::controller(&claim).filter(|it| it["kind"] == "Pod");
    if was_used && owner.is_some() && !meta::is_deleting(&claim) {
        world.delete(Kind::ResourceClaim, &claim)?;
    }
    Ok(())
}

/// The claim as it is stored, which may be newer than what is known here.
fn newest(world: &World, claim: &Value) -> Option<Value> {
    let (namespace, name) = (meta::namespace(claim), meta::name(claim));
    let found = world.api.get(Kind::ResourceClaim.resource(), namespace, name).ok()?;
    (meta::uid(&found) == meta::uid(claim)).then(|| (*found).clone())
}

/// The name of the claim that an entry of a pod means; none while it has not been made.
fn claim_name<'a>(pod: &'a Value, entry: &'a Value) -> Option<&'a str> {
    let named = text(&entry["resourceClaimName"]);
    if !named.is_empty() {
        return Some(named);
    }
    let made = items(&pod["status"]["resourceClaimStatuses"]);
    made.iter().find(|it| it["name"] == entry["name"]).map(|it| text(&it["resourceClaimName"]))
}

/// Makes claims from templates; says whether all are there.
fn make_missing(world: &mut World, pod: &Arc<Value>) -> Result<bool, Status> {
    let mut status = pod["status"].clone();
    for entry in items(&pod["spec"]["resourceClaims"]) {
        if claim_name(pod, entry).is_some() {
            continue;
        }
        let (name, template) = (text(&entry["name"]), text(&entry["resourceClaimTemplateName"]));
        let namespace = meta::namespace(pod);
        let Some(found) = world.get(Kind::ResourceClaimTemplate, namespace, template) else {
            let message = format!(
                "PodResourceClaim {name}: resource claim template {template:?}: \
                 resourceclaimtemplate.resource.k8s.io {template:?} not found"
            );
            let source = Source::component("resource_claim");
            let reason = "FailedResourceClaimCreation";
            record(world, source, Kind::Pod, pod, Tone::Warning, reason, &message);
            return Ok(false);
        };
        let made =
            world.create(Kind::ResourceClaim, namespace, from_template(pod, name, &found))?;
        let entry = json!({"name": name, "resourceClaimName": meta::name(&made)});
        meta::push(&mut status, "resourceClaimStatuses", entry);
    }
    if status == pod["status"] {
        return Ok(true);
    }
    world.update_status(Kind::Pod, pod, status)?;
    Ok(false)
}

fn from_template(pod: &Value, name: &str, template: &Value) -> Value {
    let mut metadata = template["spec"]["metadata"].clone();
    if !metadata.is_object() {
        metadata = json!({});
    }
    metadata["generateName"] = format!("{}-{name}-", meta::name(pod)).into();
    metadata["namespace"] = meta::namespace(pod).into();
    let mut owner = meta::controller_reference(Kind::Pod, pod);
    meta::remove(&mut owner, "blockOwnerDeletion");
    metadata["ownerReferences"] = json!([owner]);
    let mut claim = json!({"metadata": metadata, "spec": template["spec"]["spec"]});
    meta::set_annotation(&mut claim, CLAIM_NAME, name);
    claim
}
