//! Aggregated roles: a `ClusterRole` whose rules are those of others, chosen by their labels.

use crate::api::PatchKind;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items};
use crate::controllers::selector;
use crate::controllers::task::{Key, Task};
use crate::controllers::world::World;
use crate::{Status, Write};
use serde_json::{Value, json};
use std::sync::Arc;

/// The field manager of the rules.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Asks for a look at all aggregated roles, since a role changed; many changes ask for one look.
pub(crate) fn role_changed(world: &mut World) {
    world.queue.add(Key::new(Task::Aggregate, Kind::ClusterRole, "", ""));
}

/// Writes the rules of all aggregated roles.
pub(crate) fn sync(world: &mut World) -> Result<(), Status> {
    let mut all: Vec<Arc<Value>> = world.cache.all(Kind::ClusterRole).collect();
    all.sort_by(|left, right| meta::name(left).cmp(meta::name(right)));
    for role in &all {
        if role["aggregationRule"].is_object() && !meta::is_deleting(role) {
            write(world, role, &aggregated(role, &all))?;
        }
    }
    Ok(())
}

fn write(world: &World, role: &Value, rules: &[Value]) -> Result<(), Status> {
    if items(&role["rules"]) == rules {
        return Ok(());
    }
    let config = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": meta::name(role)},
        "rules": rules,
    });
    let write = Write { manager: MANAGER, force: true, ..Write::default() };
    let resource = Kind::ClusterRole.resource();
    world.api.patch(resource, "", meta::name(role), PatchKind::Apply, &config, &write).map(drop)
}

/// The rules of all other roles that a role selects, each once.
fn aggregated(role: &Value, all: &[Arc<Value>]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for wanted in items(&role["aggregationRule"]["clusterRoleSelectors"]) {
        let chosen = all.iter().filter(|it| {
            meta::name(it) != meta::name(role)
                && selector::matches(wanted, &it["metadata"]["labels"])
        });
        for rule in chosen.flat_map(|it| items(&it["rules"])) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_gathered_once_and_in_order() {
        let role = json!({"metadata": {"name": "own"}, "aggregationRule": {"clusterRoleSelectors": [
            {"matchLabels": {"to": "a"}}, {"matchLabels": {"also": "a"}}]}});
        let other = |labels: Value, verb: &str| {
            Arc::new(json!({"metadata": {"labels": labels}, "rules": [{"verbs": [verb]}]}))
        };
        let others = [
            other(json!({"also": "a"}), "list"),
            other(json!({"to": "a", "also": "a"}), "get"),
            other(json!({}), "watch"),
        ];
        let found = aggregated(&role, &others);
        assert_eq!(found, [json!({"verbs": ["get"]}), json!({"verbs": ["list"]})]);
    }
}
