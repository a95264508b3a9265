//! The arithmetic of a rollout: which set is the new one, how far sets grow and shrink.

use super::{DESIRED, HASH_LABEL, REVISION};
use crate::controllers::meta::{self, int, scaled};
use crate::controllers::template::without_hash;
use serde_json::Value;
use std::sync::Arc;

/// The oldest set whose template is that of the Deployment.
pub(super) fn newest(deployment: &Value, sets: &[Arc<Value>]) -> Option<Arc<Value>> {
    let wanted = without_hash(&deployment["spec"]["template"], HASH_LABEL);
    let mut sorted: Vec<&Arc<Value>> = sets.iter().collect();
    sorted.sort_by(|a, b| by_age(a, b));
    sorted
        .into_iter()
        .find(|it| without_hash(&it["spec"]["template"], HASH_LABEL) == wanted)
        .cloned()
}

/// Orders sets by creation, then name.
pub(super) fn by_age(a: &Value, b: &Value) -> std::cmp::Ordering {
    let created = |it: &Value| meta::text(&it["metadata"]["creationTimestamp"]).to_owned();
    created(a).cmp(&created(b)).then_with(|| meta::name(a).cmp(meta::name(b)))
}

/// The pods that a set is asked for.
pub(super) fn size(set: &Value) -> i64 {
    int(&set["spec"]["replicas"], 1)
}

/// The pods that a set has available.
pub(super) fn available(set: &Value) -> i64 {
    int(&set["status"]["availableReplicas"], 0)
}

/// The revision of a set or Deployment; zero when it has none.
pub(super) fn revision(object: &Value) -> i64 {
    meta::annotation(object, REVISION).and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// The number that a set was last asked to be a part of.
pub(super) fn desired(set: &Value) -> Option<i64> {
    meta::annotation(set, DESIRED).and_then(|it| it.parse().ok())
}

/// Surge and unavailable pods that the strategy allows, never both zero.
pub(super) fn fence_posts(deployment: &Value) -> (i64, i64) {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let strategy = &deployment["spec"]["strategy"];
    if strategy["type"] == "Recreate" {
        return (0, 0);
    }
    let surge = scaled(&strategy["rollingUpdate"]["maxSurge"], wanted, true);
    let unavailable = scaled(&strategy["rollingUpdate"]["maxUnavailable"], wanted, false);
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}

/// The pods that may be missing.
pub(super) fn max_unavailable(deployment: &Value) -> i64 {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    if deployment["spec"]["strategy"]["type"] == "Recreate" || wanted == 0 {
        return 0;
    }
    fence_posts(deployment).1.min(wanted)
}

/// The size that the new set gets, given the size of all sets together.
pub(super) fn new_set_size(deployment: &Value, new: i64, total: i64) -> i64 {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    if deployment["spec"]["strategy"]["type"] == "Recreate" || new >= wanted {
        return wanted;
    }
    let (surge, _) = fence_posts(deployment);
    let room = wanted + surge - total;
    if room <= 0 { new } else { new + room.min(wanted - new) }
}

/// How the old sets shrink: for each that changes, its index in `old` and its new size.
///
/// Pods that are not available go first, then as many others as the strategy lets go.
pub(super) fn shrink_old(
    deployment: &Value,
    new: Option<&Value>,
    old: &[Arc<Value>],
) -> Vec<(usize, i64)> {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let min_available = wanted - max_unavailable(deployment);
    let new_size = new.map_or(0, size);
    let new_available = new.map_or(0, available);
    let total: i64 = old.iter().map(|it| size(it)).sum::<i64>() + new_size;
    let mut room = total - min_available - (new_size - new_available);
    let mut order: Vec<usize> = (0..old.len()).filter(|it| size(&old[*it]) > 0).collect();
    if order.is_empty() || room <= 0 {
        return Vec::new();
    }
    order.sort_by(|a, b| by_age(&old[*a], &old[*b]));
    let mut sizes: Vec<i64> = old.iter().map(|it| size(it)).collect();
    for idx in &order {
        let unhealthy = (sizes[*idx] - available(&old[*idx])).max(0).min(room.max(0));
        sizes[*idx] -= unhealthy;
        room -= unhealthy;
    }
    let all_available: i64 = old.iter().map(|it| available(it)).sum::<i64>() + new_available;
    let mut spare = all_available - min_available;
    for idx in &order {
        let step = sizes[*idx].min(spare.max(0));
        sizes[*idx] -= step;
        spare -= step;
    }
    order.into_iter().filter(|it| sizes[*it] != size(&old[*it])).map(|it| (it, sizes[it])).collect()
}

/// How sets grow or shrink together when the Deployment's size changes in mid-rollout: each in
/// proportion to its share. Gives the index in `sets` and the new size.
pub(super) fn proportional(deployment: &Value, sets: &[Arc<Value>]) -> Vec<(usize, i64)> {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let (surge, _) = fence_posts(deployment);
    let total: i64 = sets.iter().map(|it| size(it)).sum();
    let allowed = if wanted > 0 { wanted + surge } else { 0 };
    let to_add = allowed - total;
    if to_add == 0 {
        return sets.iter().enumerate().map(|(idx, it)| (idx, size(it))).collect();
    }
    let mut order: Vec<usize> = (0..sets.len()).collect();
    if to_add > 0 {
        order.sort_by(|a, b| {
            size(&sets[*b]).cmp(&size(&sets[*a])).then_with(|| by_age(&sets[*b], &sets[*a]))
        });
    } else {
        order.sort_by(|a, b| {
            size(&sets[*b]).cmp(&size(&sets[*a])).then_with(|| by_age(&sets[*a], &sets[*b]))
        });
    }
    let mut added = 0;
    let mut result: Vec<(usize, i64)> = Vec::with_capacity(sets.len());
    for idx in order {
        let set = &sets[idx];
        let share = share(deployment, set, allowed, to_add, added);
        added += share;
        result.push((idx, size(set) + share));
    }
    if let Some(first) = result.first_mut() {
        first.1 = (first.1 + to_add - added).max(0);
    }
    result
}

/// The part of `to_add` that falls on one set.
fn share(deployment: &Value, set: &Value, allowed: i64, to_add: i64, added: i64) -> i64 {
    let current = size(set);
    if current == 0 || to_add == added {
        return 0;
    }
    let annotated = meta::annotation(set, super::MAXIMUM)
        .and_then(|it| it.parse::<i64>().ok())
        .unwrap_or_else(|| int(&deployment["status"]["replicas"], 0));
    if annotated == 0 {
        return 0;
    }
    let exact = (current * allowed) as f64 / annotated as f64;
    let fraction = exact.round() as i64 - current;
    let rest = to_add - added;
    if to_add > 0 { fraction.min(rest) } else { fraction.max(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(replicas: i64, surge: &str, unavailable: &str) -> Value {
        json!({"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}})
    }

    fn set(name: &str, replicas: i64, available: i64) -> Arc<Value> {
        Arc::new(json!({"metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"replicas": replicas}, "status": {"availableReplicas": available}}))
    }

    #[test]
    fn a_new_set_grows_into_the_surge() {
        assert_eq!(new_set_size(&deployment(4, "25%", "25%"), 0, 4), 1);
        assert_eq!(new_set_size(&deployment(4, "25%", "25%"), 1, 5), 1);
        assert_eq!(new_set_size(&deployment(4, "100%", "0%"), 0, 4), 4);
        assert_eq!(new_set_size(&deployment(2, "25%", "25%"), 5, 5), 2);
    }

    #[test]
    fn old_sets_shrink_to_what_may_be_missing() {
        let new = set("new", 1, 1);
        let plan = shrink_old(&deployment(4, "25%", "25%"), Some(&new), &[set("old", 4, 4)]);
        assert_eq!(plan, [(0, 2)]);
        let unready = set("new", 1, 0);
        let plan = shrink_old(&deployment(4, "25%", "25%"), Some(&unready), &[set("old", 4, 4)]);
        assert_eq!(plan, [(0, 3)]);
    }

    #[test]
    fn unhealthy_old_pods_go_first() {
        let new = set("new", 1, 0);
        let plan = shrink_old(&deployment(2, "1", "0%"), Some(&new), &[set("old", 2, 0)]);
        assert_eq!(plan, []);
        let plan = shrink_old(&deployment(4, "25%", "50%"), Some(&new), &[set("old", 4, 1)]);
        assert_eq!(plan, [(0, 2)]);
    }

    #[test]
    fn a_growing_deployment_shares_out() {
        let mut deployment = deployment(20, "0%", "50%");
        deployment["status"] = json!({"replicas": 10});
        let sets = [set("a", 5, 5), set("b", 5, 5)];
        let sizes: i64 = proportional(&deployment, &sets).iter().map(|it| it.1).sum();
        assert_eq!(sizes, 20);
    }

    #[test]
    fn fence_posts_are_never_both_zero() {
        assert_eq!(fence_posts(&deployment(1, "0%", "25%")), (0, 1));
    }
}
