//! Records of field managers: what the merge code needs to know of kinds.

use crate::api::Write;
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::{Status, clock, convert};
use kusion_k8s_merge::{ApplyError, PatchError, Set, Typed, Versions, Writer};
use serde_json::{Value, json};
use std::sync::Arc;

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

    fn empty_object(&self, api_version: &str) -> Value {
        let typed = self.version(api_version).filter(|it| it.is_builtin()).and_then(Served::typed);
        let mut object = match typed {
            Some(typed) => kusion_k8s_schema::zero_value(typed.table, typed.ty),
            None => json!({}),
        };
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(&*self.served.kind);
        object
    }
}

/// Returns the fields that a write never changes.
fn reset_fields(served: &Served, subresource: &str) -> Option<&'static Set<'static>> {
    if served.is_builtin() {
        kusion_k8s_merge::reset_fields(&served.resource.group, &served.kind, subresource)
    } else {
        kusion_k8s_merge::custom_reset_fields(served.has("status"), subresource)
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
    let writer = writer(&kinds, &api_version, write, &now);
    match old {
        Some(old) => kusion_k8s_merge::update(&writer, old, new),
        None => kusion_k8s_merge::update(&writer, &kinds.empty_object(&api_version), new),
    }
}

/// Records who made a new object, in the version of the request.
pub(crate) fn created(cluster: &Cluster, served: &Served, write: &Write<'_>, object: &mut Value) {
    update(cluster, served, write, None, object);
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
        Err(ApplyError::Invalid(why)) => Err(Status::unnamed(why)),
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
            message: format!("Request entity too large: {why}"),
            details: Value::Null,
        },
        PatchError::Unprocessable(_) => {
            Status { code: 422, reason: "Invalid", message: error.to_string(), details: json!({}) }
        }
        PatchError::Internal(why) => Status::unnamed(why),
    }
}
