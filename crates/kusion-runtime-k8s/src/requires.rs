//! What objects require and provide: namespaces and kinds.

use kusion_model::Requirement;

const NAMESPACE: &str = "namespace";
const KIND: &str = "kind";

/// A namespace.
pub(crate) fn namespace(name: &str) -> Requirement {
    Requirement::new(NAMESPACE, name)
}

/// A kind that the server serves. One definition provides all versions of a kind.
pub(crate) fn kind(api_version: &str, kind: &str) -> Requirement {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    kind_of_group(group, kind)
}

/// A kind by its group.
pub(crate) fn kind_of_group(group: &str, kind: &str) -> Requirement {
    let name = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
    Requirement::new(KIND, name)
}

/// Whether a requirement is a kind.
pub(crate) fn is_kind(requirement: &Requirement) -> bool {
    requirement.kind == KIND
}
