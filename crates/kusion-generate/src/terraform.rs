//! Resources of Terraform providers: ids and extensions.

use crate::shapes::{Draft, kind_of};
use kusion_model::ResourceId;
use serde_json::Value;

/// The type of resources of Terraform providers.
pub(crate) const TERRAFORM: &str = "Terraform";

/// Checks the id and the extensions of a resource. A missing `resourceType` is the one of the id.
/// The error follows the name and place of the resource.
pub(crate) fn check(draft: &mut Draft) -> Result<ResourceId, String> {
    let id = draft.id.clone().unwrap_or_default();
    let mut parts = id.splitn(4, ':');
    let (Some(namespace), Some(provider), Some(id_type), Some(name)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(invalid_id());
    };
    if [namespace, provider, id_type, name].contains(&"") {
        return Err(invalid_id());
    }
    let extensions = &mut draft.extensions;
    let Some(address) = text(extensions.get("provider"), "provider")? else {
        return Err(format!(
            "`extensions.provider` is missing; it names the provider and its version, such as \
             `{namespace}/{provider}/1.0.0`"
        ));
    };
    let count = address.split('/').count();
    if !(3..=4).contains(&count) || address.split('/').any(|it| it.trim().is_empty()) {
        return Err(format!(
            "invalid `extensions.provider` `{address}`: expected `namespace/name/version`, perhaps \
             with a registry before it, such as `{namespace}/{provider}/1.0.0`"
        ));
    }
    let version = address.rsplit('/').next().unwrap_or_default();
    if let Some(part) = version.split(',').map(str::trim).find(|it| !is_constraint(it)) {
        return Err(format!(
            "invalid version `{part}` in `extensions.provider` `{address}`: expected a version or a \
             constraint, such as `1.0.0`, `~> 1.0` or `>= 1.0, < 2.0`"
        ));
    }
    match text(extensions.get("resourceType"), "resourceType")? {
        None => {
            extensions.insert("resourceType".to_owned(), Value::from(id_type));
        }
        Some(written) if written != id_type => {
            return Err(format!(
                "its id names the type `{id_type}`, and `extensions.resourceType` is `{written}`"
            ));
        }
        Some(_) => {}
    }
    match extensions.get("providerMeta") {
        None | Some(Value::Null | Value::Object(_)) => Ok(ResourceId::new(id.as_str())),
        Some(other) => {
            let found = kind_of(other);
            Err(format!("`extensions.providerMeta` must be a map, not {found}"))
        }
    }
}

/// Whether a text is a version, perhaps with an operator before it. The provider's runtime reads it
/// in full.
fn is_constraint(text: &str) -> bool {
    let operators = ["~>", ">=", "<=", "!=", ">", "<", "="];
    let rest = operators.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text).trim_start();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(is_part)
}

fn invalid_id() -> String {
    "invalid id of a Terraform resource: expected `providerNamespace:provider:type:name`".to_owned()
}

/// Returns the text of an extension, unless it is missing.
fn text<'a>(value: Option<&'a Value>, key: &str) -> Result<Option<&'a str>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(Value::String(_)) => Err(format!("`extensions.{key}` is empty")),
        Some(other) => Err(format!("`extensions.{key}` must be a string, not {}", kind_of(other))),
    }
}
