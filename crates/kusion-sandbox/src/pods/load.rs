//! What the pods on each node ask for together, and which pods wait for a node.

use super::resources::{Amounts, pod_amounts};
use super::scheduler::Misfit;
use crate::controllers::meta::{self, items, text};
use kusion_k8s_schema::Quantity;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use std::sync::Arc;

/// The load of all nodes; kept up by [`Load::note`].
#[derive(Debug, Default)]
pub(crate) struct Load {
    nodes: FxHashMap<Arc<str>, NodeLoad>,
    /// How many placed pods keep others away.
    anti_affinity: usize,
    /// Namespaces and names of the pods that got no node.
    waiting: FxHashSet<(String, String)>,
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
            self.anti_affinity -= usize::from(repels(pod)).min(self.anti_affinity);
            let load = self.nodes.entry(node).or_default();
            load.pods -= 1;
            for (name, amount) in pod_amounts(pod, "requests") {
                let slot = load.amounts.entry(name).or_insert(Quantity::ZERO);
                *slot = slot.minus(amount);
            }
        }
        if let (Some(node), Some(pod)) = (after, new) {
            self.anti_affinity += usize::from(repels(pod));
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
    }

    /// The namespaces and names of the pods that got no node.
    pub(super) fn waiting(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = self.waiting.iter().cloned().collect();
        all.sort_unstable();
        all
    }

    /// Whether some placed pods keep others away.
    pub(super) fn has_anti_affinity(&self) -> bool {
        self.anti_affinity > 0
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
