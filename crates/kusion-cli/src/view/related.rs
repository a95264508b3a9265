//! Objects that belong to a resource, as lines; those that say nothing are folded.

use super::board::Frame;
use super::style::{Role, Style, fit, one_line};
use super::words::{self, of_duration, of_state};
use kusion_engine::RelatedObject;
use kusion_model::HealthState;

/// Kinds of objects that controllers create for themselves.
const INTERNAL: [&str; 3] = ["ControllerRevision", "EndpointSlice", "Endpoints"];

/// Draws the objects that belong to a resource. Old replica sets without pods are counted in one
/// line, and internal objects of controllers are left out, unless they have failed.
pub(crate) fn lines(related: &[RelatedObject], frame: Frame, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut n_old = 0;
    for (place, object) in related.iter().enumerate() {
        let has_children = related.get(place + 1).is_some_and(|it| it.depth > object.depth);
        let is_quiet =
            object.health.state == HealthState::Ready && object.health.warnings.is_empty();
        let is_old = object.kind == "ReplicaSet" && object.health.message.starts_with("0 of 0 ");
        if !is_quiet || has_children {
            lines.push(line(object, frame, style));
        } else if is_old {
            n_old += 1;
        } else if !INTERNAL.contains(&object.kind.as_str()) {
            lines.push(line(object, frame, style));
        }
    }
    if n_old > 0 {
        let text = format!("    └ {} without pods", words::count(n_old, "old ReplicaSet"));
        lines.push(style.paint(Role::Muted, &fit(&text, frame.columns.saturating_sub(1))));
    }
    lines
}

/// Draws an object that belongs to a resource.
pub(crate) fn line(object: &RelatedObject, frame: Frame, style: Style) -> String {
    let (mark, _, role) = of_state(object.health.state);
    let indent = "  ".repeat(object.depth.min(8));
    let age = object.created.as_deref().and_then(|it| words::between(it, frame.clock));
    let age = age.map(|it| format!("  {}", of_duration(it))).unwrap_or_default();
    let name = format!("{} {}", one_line(&object.kind), one_line(&object.name));
    let text = format!("{name}{age}  {}", words::of_health(&object.health));
    let room = frame.columns.saturating_sub(indent.len() + 7);
    format!("  {indent}└ {} {}", style.paint(role, mark), fit(&text, room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::Health;
    use std::time::Instant;

    #[test]
    fn old_replica_sets_and_internal_objects_are_folded() {
        let object = |kind: &str, name: &str, depth: usize, health: Health| RelatedObject {
            kind: kind.into(),
            name: name.into(),
            depth,
            health,
            created: None,
        };
        let set = |name: &str, n: u32| {
            object("ReplicaSet", name, 1, Health::ready(format!("{n} of {n} pods available")))
        };
        let related = [
            set("old-1", 0),
            set("old-2", 0),
            set("new", 1),
            object("Pod", "new-x", 2, Health::ready("")),
            object("EndpointSlice", "e", 1, Health::ready("")),
            object("ControllerRevision", "r", 1, Health::failed("Broken", "no")),
        ];
        let clock = "2026-01-01T00:01:00Z".parse().expect("a time");
        let frame = Frame { columns: 80, lines: 24, now: Instant::now(), clock };
        let expected = [
            "    └ ● ReplicaSet new  ready: 1 of 1 pods available",
            "      └ ● Pod new-x  ready",
            "    └ ✗ ControllerRevision r  failed, Broken: no",
            "    └ 2 old ReplicaSets without pods",
        ];
        assert_eq!(lines(&related, frame, Style::default()), expected);
    }
}
