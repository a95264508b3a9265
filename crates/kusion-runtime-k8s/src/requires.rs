//! What objects require and provide: namespaces and kinds.

use kusion_model::{FieldPath, Problem, Requirement};

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

/// Returns the name and the group of a kind.
pub(crate) fn kind_name(requirement: &Requirement) -> Option<(&str, &str)> {
    let name = Some(requirement.name.as_str()).filter(|_| is_kind(requirement))?;
    Some(name.split_once('.').unwrap_or((name, "")))
}

/// Returns the problem of an object whose requirement does not exist.
pub(crate) fn problem(requirement: &Requirement) -> Problem {
    let root = FieldPath::default();
    let path =
        if is_kind(requirement) { root.key("kind") } else { root.key("metadata").key("namespace") };
    Problem::new(path, format!("{requirement} does not exist"))
}
