//! Records of field managers: what the merge code needs to know of kinds.

use crate::api::Write;
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::{Status, clock, convert};
use kusion_k8s_merge::{ApplyError, PatchError, Set, Typed, Versions, Writer};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// The versions in which a kind is served.
pub(crate) struct Kinds<'a> {
    served: &'a Served,
    siblings: Vec<Arc<Served>>,
    subresource: &'a str,
}

impl<'a> Kinds<'a> {
    /// Collects the versions of a kind.
    pub(crate) fn new(cluster: &Cluster, served: &'a Served, subresource: &'a str) -> Self {
        Self { served, siblings: cluster.registry.siblings(served), subresource }
    }

    fn version(&self, api_version: &str) -> Option<&Served> {
        if self.served.api_version() == api_version {
            return Some(self.served);
        }
        self.siblings.iter().map(|it| &**it).find(|it| it.api_version() == api_version)
    }
}

impl Versions for Kinds<'_> {
    fn typed(&self, api_version: &str) -> Option<Typed<'_>> {
        self.version(api_version)?.typed()
    }

    fn convert(&self, object: &Value, api_version: &str) -> Option<Value> {
        let to = self.version(api_version)?;
        let from = self.version(object.get("apiVersion")?.as_str()?)?;
        let mut object = object.clone();
        convert::to_storage(from, &mut object);
        convert::from_storage(to, &mut object);
        Some(object)
    }

    fn reset_fields(&self, _api_version: &str) -> Option<&Set<'static>> {
        reset_fields(self.served, self.subresource)
    }
}

/// Returns the fields that a write never changes.
fn reset_fields(served: &Served, subresource: &str) -> Option<&'static Set<'static>> {
    static SPEC_META: LazyLock<Set<'static>> =
        LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata"]]));
    static SPEC_LABELS: LazyLock<Set<'static>> =
        LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata", "labels"]]));
    match subresource {
        "" if served.has("status") => Some(kusion_k8s_merge::status_fields()),
        "status" if !served.is_builtin() || keeps_metadata(served) => Some(&SPEC_META),
        "status" if served.is("apps", "deployments") => Some(&SPEC_LABELS),
        "status" => Some(kusion_k8s_merge::spec_fields()),
        _ => None,
    }
}

/// Returns whether writers of the status of a kind may not touch its metadata.
pub(crate) fn keeps_metadata(served: &Served) -> bool {
    matches!(
        &*served.kind,
        "CustomResourceDefinition"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "ResourceClaim"
            | "ServiceCIDR"
            | "VolumeAttachment"
            | "APIService"
            | "ValidatingAdmissionPolicy"
    )
}

/// Records what a write changed; objects are in the version of the request.
pub(crate) fn update(
    cluster: &Cluster,
    served: &Served,
    write: &Write<'_>,
    old: Option<&Value>,
    new: &mut Value,
) {
    let kinds = Kinds::new(cluster, served, write.subresource);
    let api_version = served.api_version();
    let now = clock::now();
    let empty = json!({"apiVersion": api_version, "kind": &*served.kind});
    let writer = writer(&kinds, &api_version, write, &now);
    kusion_k8s_merge::update(&writer, old.unwrap_or(&empty), new);
}

/// Merges an applied configuration; objects are in the version of the request.
pub(crate) fn apply(
    cluster: &Cluster,
    served: &Served,
    write: &Write<'_>,
    live: Option<&Value>,
    config: &Value,
) -> Result<Value, Status> {
    let kinds = Kinds::new(cluster, served, write.subresource);
    let api_version = served.api_version();
    let now = clock::now();
    let writer = writer(&kinds, &api_version, write, &now);
    match kusion_k8s_merge::apply(&writer, live, config, write.force) {
        Ok(applied) => Ok(applied.object),
        Err(ApplyError::BadRequest(why)) => Err(Status::bad_request(why)),
        Err(ApplyError::Invalid(why)) => {
            Err(Status { code: 500, reason: "", message: why, details: Value::Null })
        }
        Err(ApplyError::Conflict(conflicts)) => {
            let causes: Vec<Value> = conflicts
                .list
                .iter()
                .map(|conflict| {
                    json!({
                        "reason": "FieldManagerConflict",
                        "message": conflict.message(),
                        "field": conflict.field,
                    })
                })
                .collect();
            Err(Status {
                code: 409,
                reason: "Conflict",
                message: conflicts.to_string(),
                details: json!({"causes": causes}),
            })
        }
    }
}

fn writer<'a>(
    kinds: &'a Kinds<'a>,
    api_version: &'a str,
    write: &Write<'a>,
    now: &'a str,
) -> Writer<'a> {
    Writer {
        versions: kinds,
        api_version,
        subresource: write.subresource,
        manager: write.manager,
        now,
    }
}

/// Returns the answer to a patch that cannot be applied.
pub(crate) fn patch_status(error: PatchError) -> Status {
    match error {
        PatchError::BadRequest(why) => Status::bad_request(why),
        PatchError::TooLarge(why) => Status {
            code: 413,
            reason: "RequestEntityTooLarge",
            message: why,
            details: Value::Null,
        },
        PatchError::Unprocessable(why) => Status {
            code: 422,
            reason: "Invalid",
            message: "the server rejected our request due to an error in our request".to_owned(),
            details: json!({"causes": [{"reason": "UnexpectedServerResponse", "message": why}]}),
        },
        PatchError::Internal(why) => Status::internal(&why),
    }
}
