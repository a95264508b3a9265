//! Claims for devices: made from templates, and looked at before a pod gets a node.

use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::record::{Source, Tone, record};
use crate::controllers::world::World;
use serde_json::{Value, json};
use std::sync::Arc;

/// Names the entry of a pod that a claim was made for.
const CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

/// What the claims of a pod say about its scheduling.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing is in the way.
    Free,
    /// A claim does not exist yet; nothing is said about it.
    Waits,
    /// A claim can never be met as things are; the reason, for the pod as a whole.
    Refused(String),
    /// No node has the devices.
    NoDevices,
}

/// Makes the claims of a pod that come from templates; then looks whether all are met.
pub(super) fn look(world: &mut World, pod: &Arc<Value>) -> Result<Verdict, Status> {
    let wanted = items(&pod["spec"]["resourceClaims"]);
    if wanted.is_empty() {
        return Ok(Verdict::Free);
    }
    if !make_missing(world, pod)? {
        return Ok(Verdict::Waits);
    }
    let namespace = meta::namespace(pod);
    let mut verdict = Verdict::Free;
    for entry in wanted {
        let Some(name) = claim_name(pod, entry) else { return Ok(Verdict::Waits) };
        let Some(claim) = world.get(Kind::ResourceClaim, namespace, name) else {
            return Ok(Verdict::Waits);
        };
        if !claim["status"]["allocation"].is_null() {
            continue;
        }
        for request in items(&claim["spec"]["devices"]["requests"]) {
            let class = text(&request["exactly"]["deviceClassName"]);
            if !class.is_empty() && !world.cache.has(Kind::DeviceClass, "", class) {
                return Ok(Verdict::Refused(format!(
                    "request {}: device class {class} does not exist",
                    text(&request["name"])
                )));
            }
        }
        verdict = Verdict::NoDevices;
    }
    Ok(verdict)
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
