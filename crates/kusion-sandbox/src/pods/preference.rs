//! Which of the nodes that can take a pod it gets, by what it prefers.
//!
//! Each preference gives a node 0 to 100 points, which count as much as in the real scheduler. Among
//! equals the node with the fewest pods wins.

use super::neighbours::Neighbours;
use super::scheduler::{term_selects, tolerates};
use crate::controllers::meta::{self, int, items, text};
use crate::controllers::world::World;
use serde_json::Value;
use std::sync::Arc;

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const MOST: i64 = 100;

/// Returns the best of the nodes that can take a pod.
pub(super) fn best<'n>(
    world: &World,
    pod: &Value,
    nodes: &[&'n Arc<Value>],
    neighbours: Option<&Neighbours<'_>>,
) -> Option<&'n Arc<Value>> {
    let terms = items(&pod["spec"]["affinity"]["nodeAffinity"][PREFERRED]);
    let tolerations = items(&pod["spec"]["tolerations"]);
    let each = |score: &dyn Fn(&Value) -> i64| -> Vec<i64> {
        nodes.iter().map(|node| score(node)).collect()
    };
    let affinity = up_to_most(&each(&|node| attraction(terms, node)));
    let taints = reversed(&up_to_most(&each(&|node| n_taints(tolerations, node))));
    let none = || vec![0; nodes.len()];
    let near = neighbours.map_or_else(none, |it| between(&each(&|node| it.liking(node))));
    let crowd =
        neighbours.map_or_else(none, |it| reversed(&up_to_most(&each(&|node| it.crowd(node)))));
    let points = |at: usize| 2 * affinity[at] + 3 * taints[at] + 2 * near[at] + 2 * crowd[at];
    let mut found: Option<(i64, i64, &'n Arc<Value>)> = None;
    for (at, node) in nodes.iter().enumerate() {
        let (points, load) = (points(at), world.load.pods(meta::name(node)));
        let is_better =
            |(most, least, _): (i64, i64, _)| points > most || points == most && load < least;
        if found.is_none_or(is_better) {
            found = Some((points, load, node));
        }
    }
    found.map(|it| it.2)
}

/// The weights of the terms that select a node.
fn attraction(terms: &[Value], node: &Value) -> i64 {
    let selecting = terms.iter().filter(|term| term_selects(&term["preference"], node));
    selecting.map(|term| int(&term["weight"], 0)).sum()
}

/// How many taints of a node ask to be avoided, and are not tolerated.
fn n_taints(tolerations: &[Value], node: &Value) -> i64 {
    items(&node["spec"]["taints"])
        .iter()
        .filter(|it| text(&it["effect"]) == "PreferNoSchedule")
        .filter(|taint| !tolerations.iter().any(|it| tolerates(it, taint)))
        .count() as i64
}

/// Scales scores so that the highest one has all points.
fn up_to_most(scores: &[i64]) -> Vec<i64> {
    let highest = scores.iter().copied().max().unwrap_or(0);
    scores.iter().map(|it| if highest > 0 { it * MOST / highest } else { 0 }).collect()
}

/// Scales scores, which may be negative, so that the lowest one has no points.
fn between(scores: &[i64]) -> Vec<i64> {
    let lowest = scores.iter().copied().min().unwrap_or(0);
    let raised: Vec<i64> = scores.iter().map(|it| it - lowest).collect();
    up_to_most(&raised)
}

fn reversed(scores: &[i64]) -> Vec<i64> {
    scores.iter().map(|it| MOST - it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_scaled_as_the_scheduler_does() {
        assert_eq!(up_to_most(&[0, 5, 10]), [0, 50, 100]);
        assert_eq!(up_to_most(&[0, 0]), [0, 0]);
        assert_eq!(between(&[-10, 0, 10]), [0, 50, 100]);
        assert_eq!(reversed(&up_to_most(&[0, 4])), [100, 0]);
    }
}
