//! Changing objects by patches.

use super::check::{judge, normalize_patched};
use super::create::{check_namespace, check_type};
use super::update::{Origin, check_name, check_preconditions};
use super::{Failed, Outcome, managed};
use crate::Status;
use crate::api::{PatchKind, Validation, Write};
use crate::cluster::Cluster;
use crate::object;
use crate::registry::Served;
use crate::store::Stored;
use kusion_k8s_merge::{json_patch, merge_patch, strategic_merge};
use kusion_k8s_schema::{Finding, strict_error};
use serde_json::Value;
use std::sync::Arc;

/// The longest name of a field manager, in bytes.
const LONGEST_MANAGER: usize = 128;

impl Cluster {
    /// Patches an object.
    pub(crate) fn patch(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        if kind == PatchKind::Apply {
            check_config(served, namespace, name, patch, write)?;
        }
        loop {
            let result = if write.subresource == "scale" {
                self.patch_scale(served, namespace, name, kind, patch, write)
            } else {
                self.try_patch(served, namespace, name, kind, patch, write)
            };
            match result {
                Err(Failed::Race) => {}
                Err(Failed::Status(status)) => return Err(status),
                Ok(outcome) => return Ok(outcome),
            }
        }
    }

    fn try_patch(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Failed> {
        let old = match self.get(served, namespace, name) {
            Err(status)
                if status.is_not_found()
                    && kind == PatchKind::Apply
                    && write.subresource.is_empty() =>
            {
                return self.create_applied(served, namespace, name, patch, write);
            }
            result => result?,
        };
        let live = self.view(served, &old)?;
        let (mut new, origin) = self.merged(served, &live, kind, patch, write)?;
        check_type(served, &mut new)?;
        check_namespace(served, namespace, &mut new)?;
        check_name(name, &mut new)?;
        let findings = normalize_patched(served, kind, patch, &mut new)?;
        let warnings = judge_patch(served, &findings, kind, &new, write)?;
        check_uid(served, &old.value(), &new)?;
        check_preconditions(served, &old, &new)?;
        let mut outcome = self.replace(served, &old, new, write, origin)?;
        outcome.warnings.splice(..0, warnings);
        Ok(outcome)
    }

    fn merged(
        &self,
        served: &Served,
        live: &Arc<Value>,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<(Value, Origin), Status> {
        let merged = match kind {
            PatchKind::Apply => {
                let new = managed::apply(self, served, write, Some(live), patch)?;
                return Ok((new, Origin::Applied));
            }
            PatchKind::Json => json_patch(live, patch),
            PatchKind::Merge => merge_patch(live, patch),
            PatchKind::Strategic => match served.typed() {
                Some(typed) => strategic_merge(typed, live, patch),
                None => merge_patch(live, patch),
            },
        };
        Ok((merged.map_err(managed::patch_status)?, Origin::Written))
    }

    fn create_applied(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        config: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Failed> {
        let uid = object::uid(config);
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            let (group, plural) = (&served.resource.group, &served.resource.plural);
            return Err(Status::conflict(group, plural, name, &why).into());
        }
        let mut object = managed::apply(self, served, write, None, config)?;
        object::meta_mut(&mut object).remove("resourceVersion");
        object::meta_mut(&mut object).insert("name".to_owned(), name.into());
        check_type(served, &mut object)?;
        check_namespace(served, namespace, &mut object)?;
        normalize_patched(served, PatchKind::Apply, config, &mut object)?;
        match self.create_object(served, namespace, object, write, Origin::Applied) {
            Err(status) if status.is_already_exists() => Err(Failed::Race),
            result => Ok(result?),
        }
    }

    fn patch_scale(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Failed> {
        let old = self.get(served, namespace, name)?;
        let scale = super::subresource::scale_of(served, &*self.view(served, &old)?);
        let new = match kind {
            PatchKind::Json => json_patch(&scale, patch),
            _ => merge_patch(&scale, patch),
        };
        let new = new.map_err(managed::patch_status)?;
        self.replace_scale(served, &old, &new, write, kind == PatchKind::Apply)
    }

    /// Returns a stored object for a subresource write that was read at `old`.
    pub(crate) fn live(&self, served: &Served, old: &Stored) -> Result<Value, Status> {
        Ok((*self.view(served, old)?).clone())
    }
}

/// A patch cannot make an object another one.
fn check_uid(served: &Served, old: &Value, new: &Value) -> Result<(), Status> {
    let (before, after) = (object::uid(old), object::uid(new));
    if after.is_empty() || before == after {
        return Ok(());
    }
    let message = format!("Invalid value: \"{after}\": field is immutable");
    let cause = crate::Cause::new("FieldValueInvalid", "metadata.uid", message);
    let causes = [cause.clone(), cause];
    Err(Status::invalid(&served.resource.group, &served.kind, object::name(new), &causes))
}

/// Judges the unknown fields of an object that a patch made.
fn judge_patch(
    served: &Served,
    findings: &[Finding],
    kind: PatchKind,
    new: &Value,
    write: &Write<'_>,
) -> Result<Vec<String>, Status> {
    match strict_error(findings) {
        Some(error) if write.validation == Validation::Strict && kind != PatchKind::Apply => {
            let shown = Value::String(new.to_string());
            let cause = crate::Cause::new(
                "FieldValueInvalid",
                "patch",
                format!("Invalid value: {shown}: {error}"),
            );
            Err(Status::invalid("", "", "", &[cause]))
        }
        _ => judge(served, findings, write.validation),
    }
}

/// Checks an applied configuration before it is merged.
fn check_config(
    served: &Served,
    namespace: &str,
    name: &str,
    config: &Value,
    write: &Write<'_>,
) -> Result<(), Status> {
    if write.manager.is_empty() {
        let cause = crate::Cause::new(
            "FieldValueRequired",
            "fieldManager",
            "Required value: is required for apply patch",
        );
        return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", &[cause]));
    }
    if write.manager.len() > LONGEST_MANAGER {
        let message = format!("Too long: may not be more than {LONGEST_MANAGER} bytes");
        let cause = crate::Cause::new("FieldValueTooLong", "fieldManager", message);
        return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", &[cause]));
    }
    if write.subresource == "scale" {
        return check_name(name, &mut config.clone());
    }
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if version.is_empty() || kind != &*served.kind {
        let version =
            if version.contains('/') { version.to_owned() } else { format!("/{version}") };
        let message = format!("invalid object type: {version}, Kind={kind}");
        return Err(Status::bad_request(message));
    }
    if object::name(config).is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    let mut config = config.clone();
    check_type(served, &mut config)?;
    check_namespace(served, namespace, &mut config)?;
    check_name(name, &mut config)
}
