//! Checks that references can be resolved.

use crate::scope::split;
use crate::shapes::kind_of;
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_k8s_schema::{Type, TypeId, builtin};
use kusion_model::references::{Reference, step_into};
use kusion_model::{FieldPath, PathStep, Resource};
use serde_json::Value;

/// Checks that a reference points to a value of the Spec, or to one that may exist after apply.
/// `is_part` means that it is inside a longer string.
pub(crate) fn check(reference: &Reference, target: &Resource, is_part: bool) -> Result<(), String> {
    let is_kubernetes = target.resource_type.as_str() == RESOURCE_TYPE;
    match follow(reference, target, is_kubernetes) {
        Ok(Some(value)) if is_part && (value.is_array() || value.is_object()) => Err(format!(
            "`{}` of `{}` is {}, which cannot be part of a string",
            reference.path,
            target.id,
            kind_of(value)
        )),
        Ok(_) => Ok(()),
        Err(depth) => {
            let known = FieldPath(reference.path.0[..=depth].to_vec());
            Err(format!("`{}` has no `{known}`", target.id))
        }
    }
}

/// Returns the value; `None` if it may exist after apply; or the path segment that cannot be
/// resolved.
fn follow<'a>(
    reference: &Reference,
    target: &'a Resource,
    is_kubernetes: bool,
) -> Result<Option<&'a Value>, usize> {
    let mut value = &*target.attributes;
    for (depth, step) in reference.path.0.iter().enumerate() {
        match step_into(value, step) {
            Some(next) => value = next,
            // Providers assign attributes of their own.
            None if !is_kubernetes && value.is_object() => return Ok(None),
            None if is_kubernetes && value.is_object() => {
                return may_come(reference, target, depth).map(|()| None);
            }
            None => return Err(depth),
        }
    }
    Ok(Some(value))
}

/// Checks that the rest of a path, which is not in the Spec, may be assigned by the cluster;
/// otherwise returns the path segment that cannot be resolved.
fn may_come(reference: &Reference, target: &Resource, depth: usize) -> Result<(), usize> {
    let path = &reference.path.0;
    let key = |at: usize| match path.get(at) {
        Some(PathStep::Key(key)) => key.as_str(),
        _ => "",
    };
    let object = &target.attributes;
    if key(0) == "metadata" && key(1) == "annotations" {
        return Ok(());
    }
    let is_token = object["type"] == "kubernetes.io/service-account-token";
    if key(0) == "data" && object["kind"] == "Secret" && is_token {
        return Ok(());
    }
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let (group, version) = split(text("apiVersion"));
    let Some(mut ty) = builtin().type_of(group, version, text("kind")) else {
        // Of a kind that is not known, only the metadata is.
        let is_known = key(0) != "metadata" || is_meta_field(key(1));
        return if is_known { Ok(()) } else { Err(1) };
    };
    for (at, step) in path.iter().enumerate() {
        match inner(ty, step) {
            Some(Inner::Field(next)) => ty = next,
            // An entry of what is written must be written, too.
            Some(Inner::Entry(next)) if at != depth => ty = next,
            Some(Inner::Any) => return Ok(()),
            Some(Inner::Entry(_)) | None => return Err(at),
        }
    }
    Ok(())
}

fn is_meta_field(name: &str) -> bool {
    match builtin().types.get(builtin().object_meta()) {
        Type::Struct(meta) => meta.field(name).is_some(),
        _ => true,
    }
}

/// The result of one path segment into a type.
enum Inner {
    /// A field of a struct.
    Field(TypeId),
    /// An entry of a map or an item of a list.
    Entry(TypeId),
    /// A value of unknown type.
    Any,
}

fn inner(ty: TypeId, step: &PathStep) -> Option<Inner> {
    match (builtin().types.get(ty), step) {
        (Type::Any, _) => Some(Inner::Any),
        (Type::Struct(fields), PathStep::Key(key)) => {
            match (fields.field(key), fields.additional) {
                (Some(field), _) => Some(Inner::Field(field.ty)),
                (None, Some(additional)) => Some(Inner::Entry(additional)),
                (None, None) if fields.preserve_unknown => Some(Inner::Any),
                (None, None) => None,
            }
        }
        (Type::Map(map), PathStep::Key(_)) => Some(Inner::Entry(map.element)),
        (Type::List(list), PathStep::Index(_)) => Some(Inner::Entry(list.element)),
        (Type::List(list), PathStep::Key(key)) if key.parse::<usize>().is_ok() => {
            Some(Inner::Entry(list.element))
        }
        _ => None,
    }
}
