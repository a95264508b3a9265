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

/// Asks for work on all aggregated roles, since a role changed.
pub(crate) fn role_changed(world: &mut World) {
    let all: Vec<Arc<Value>> = world.cache.all(Kind::ClusterRole).collect();
    for role in all.iter().filter(|it| it["aggregationRule"].is_object()) {
        world.add(Task::Aggregate, Kind::ClusterRole, role);
    }
}

/// Writes the rules of an aggregated role.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(role) = world.get(Kind::ClusterRole, "", key.name()) else { return Ok(()) };
    if !role["aggregationRule"].is_object() || meta::is_deleting(&role) {
        return Ok(());
    }
    let mut others: Vec<Arc<Value>> =
        world.cache.all(Kind::ClusterRole).filter(|it| meta::name(it) != key.name()).collect();
    others.sort_by(|left, right| meta::name(left).cmp(meta::name(right)));
    let rules = aggregated(&role, &others);
    if items(&role["rules"]) == rules {
        return Ok(());
    }
    let config = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": key.name()},
        "rules": rules,
    });
    let write = Write { manager: MANAGER, force: true, ..Write::default() };
    let resource = Kind::ClusterRole.resource();
    world.api.patch(resource, "", key.name(), PatchKind::Apply, &config, &write).map(drop)
}

/// The rules of all roles that a role selects, each once.
fn aggregated(role: &Value, others: &[Arc<Value>]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for wanted in items(&role["aggregationRule"]["clusterRoleSelectors"]) {
        let chosen =
            others.iter().filter(|it| selector::matches(wanted, &it["metadata"]["labels"]));
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
        let role = json!({"aggregationRule": {"clusterRoleSelectors": [
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
