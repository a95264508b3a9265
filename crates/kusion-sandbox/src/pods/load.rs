//! What the pods on each node ask for together, and which pods wait for a node.

use super::resources::{Amounts, pod_amounts};
use super::scheduler::Misfit;
use crate::controllers::meta::{self, items, text};
use kusion_k8s_schema::Quantity;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The load of all nodes; kept up by [`Load::note`].
#[derive(Debug, Default)]
pub(crate) struct Load {
    nodes: FxHashMap<Arc<str>, NodeLoad>,
    /// Namespaces and names of the placed pods that keep others away.
    repelling: BTreeSet<(String, String)>,
    /// How many placed pods have each priority.
    priorities: BTreeMap<i64, usize>,
    /// Namespaces and names of the pods that got no node.
    waiting: FxHashSet<(String, String)>,
    /// The time, in milliseconds, at which all of them are looked at again.
    next_look: i64,
}

#[derive(Debug, Default)]
struct NodeLoad {
    pods: i64,
    amounts: Amounts,
}

impl Load {
    /// Takes note of a pod before and after a change; says whether a place has become free, or a
    /// pod has come that others may want to be with.
    pub(crate) fn note(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        let place = |pod: &Value| {
            let node = text(&pod["spec"]["nodeName"]);
            (!node.is_empty() && !meta::is_pod_finished(pod)).then(|| Arc::<str>::from(node))
        };
        let (before, after) = (old.and_then(place), new.and_then(place));
        if let Some(pod) = old.or(new)
            && (after.is_some() || new.is_none())
        {
            self.waiting.remove(&place_of(pod));
        }
        if before == after {
            return false;
        }
        if let (Some(node), Some(pod)) = (before, old) {
            self.repelling.remove(&place_of(pod));
            if let Entry::Occupied(mut count) = self.priorities.entry(priority(pod)) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
            let load = self.nodes.entry(node).or_default();
            load.pods -= 1;
            for (name, amount) in pod_amounts(pod, "requests") {
                let slot = load.amounts.entry(name).or_insert(Quantity::ZERO);
                *slot = slot.minus(amount);
            }
        }
        if let (Some(node), Some(pod)) = (after, new) {
            if repels(pod) {
                self.repelling.insert(place_of(pod));
            }
            *self.priorities.entry(priority(pod)).or_default() += 1;
            let load = self.nodes.entry(node).or_default();
            load.pods += 1;
            for (name, amount) in pod_amounts(pod, "requests") {
                let slot = load.amounts.entry(name).or_insert(Quantity::ZERO);
                *slot = slot.plus(amount);
            }
        }
        true
    }

    /// Takes note of a pod that got no node.
    pub(super) fn wait(&mut self, pod: &Value) {
        self.waiting.insert(place_of(pod));
        self.next_look = 0;
    }

    /// The namespaces and names of the pods that got no node, to be looked at after a pause; none
    /// if they are about to be looked at anyway.
    pub(super) fn look_again(&mut self, now: i64, pause: i64) -> Vec<(String, String)> {
        if now < self.next_look {
            return Vec::new();
        }
        self.next_look = now + pause;
        let mut all: Vec<_> = self.waiting.iter().cloned().collect();
        all.sort_unstable();
        all
    }

    /// Namespaces and names of the placed pods that keep others away.
    pub(super) fn repelling(&self) -> impl Iterator<Item = &(String, String)> {
        self.repelling.iter()
    }

    /// Whether a placed pod has a lower priority than another one.
    pub(super) fn has_lower(&self, pod: &Value) -> bool {
        self.priorities.keys().next().is_some_and(|lowest| *lowest < priority(pod))
    }

    /// The number of pods on a node.
    pub(super) fn pods(&self, node: &str) -> i64 {
        self.nodes.get(node).map_or(0, |it| it.pods)
    }

    /// The first resource of which a node has too little left, if `n_freed` pods with the
    /// requests `freed` leave it.
    pub(super) fn lacks(
        &self,
        node: &Value,
        wanted: &Amounts,
        freed: &Amounts,
        n_freed: i64,
    ) -> Option<Misfit> {
        let load = self.nodes.get(meta::name(node));
        let allocatable = &node["status"]["allocatable"];
        let room = Quantity::of(&allocatable["pods"]).unwrap_or(Quantity::ZERO);
        if Quantity::count(load.map_or(0, |it| it.pods) + 1 - n_freed) > room {
            return Some(Misfit::for_now("Too many pods"));
        }
        wanted.iter().find_map(|(name, amount)| {
            if amount.is_zero() {
                return None;
            }
            let total = Quantity::of(&allocatable[name]).unwrap_or(Quantity::ZERO);
            let used = load.and_then(|it| it.amounts.get(name)).copied().unwrap_or(Quantity::ZERO);
            let used = used.minus(freed.get(name).copied().unwrap_or(Quantity::ZERO));
            let reason = format!("Insufficient {name}");
            if *amount > total {
                Some(Misfit::for_good(reason))
            } else {
                (used.plus(*amount) > total).then(|| Misfit::for_now(reason))
            }
        })
    }
}

fn place_of(pod: &Value) -> (String, String) {
    (meta::namespace(pod).to_owned(), meta::name(pod).to_owned())
}

/// The priority of a pod.
pub(super) fn priority(pod: &Value) -> i64 {
    meta::int(&pod["spec"]["priority"], 0)
}

fn repels(pod: &Value) -> bool {
    let rules = &pod["spec"]["affinity"]["podAntiAffinity"];
    !items(&rules["requiredDuringSchedulingIgnoredDuringExecution"]).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_node_takes_no_more() {
        let node = json!({"metadata": {"name": "n"},
            "status": {"allocatable": {"pods": "1", "cpu": "1"}}});
        let mut load = Load::default();
        let pod = json!({"spec": {"nodeName": "n", "containers":
            [{"resources": {"requests": {"cpu": "800m"}}}]}});
        let wanted = pod_amounts(&pod, "requests");
        let lacks =
            |load: &Load, freed: &Amounts, n_freed| load.lacks(&node, &wanted, freed, n_freed);
        assert!(lacks(&load, &Amounts::new(), 0).is_none());
        assert!(load.note(None, Some(&pod)));
        assert_eq!(lacks(&load, &Amounts::new(), 0).unwrap().reason, "Too many pods");
        assert_eq!(lacks(&load, &Amounts::new(), 1).unwrap().reason, "Insufficient cpu");
        assert!(lacks(&load, &wanted, 1).is_none());
        assert!(load.note(Some(&pod), None));
        assert!(lacks(&load, &Amounts::new(), 0).is_none());
    }
}
