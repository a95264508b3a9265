//! Rules about the pods that are near a node: affinity, anti-affinity and even spreading.

use super::scheduler::{Misfit, selects};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::selector::{expression_matches, matches};
use crate::controllers::world::World;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";
const SPREAD: &str = "node(s) didn't match pod topology spread constraints";
const NO_LABEL: &str =
    "node(s) didn't match pod topology spread constraints (missing required label)";

/// The rules of a pod that must hold, and the pods that they look at.
#[derive(Debug)]
pub(super) struct Neighbours<'a> {
    pod: &'a Value,
    affinity: &'a [Value],
    anti_affinity: &'a [Value],
    spread: Vec<&'a Value>,
    /// Terms with weights that pull a pod to others, and that push it away from them.
    preferred: [&'a [Value]; 2],
    /// Rules of spreading that need not hold.
    loose: Vec<&'a Value>,
    nodes: &'a [Arc<Value>],
    /// The pods that have a node and have not finished, with the labels of the node.
    placed: Vec<(Arc<Value>, &'a Value)>,
    /// The labels of namespaces, for terms that select namespaces.
    namespaces: BTreeMap<String, Value>,
}

impl<'a> Neighbours<'a> {
    /// Looks around for a pod, without the pods that would go; `None` if no rule concerns it.
    pub(super) fn new(
        world: &World,
        pod: &'a Value,
        nodes: &'a [Arc<Value>],
        without: &[&str],
    ) -> Option<Self> {
        let spec = &pod["spec"];
        let affinity = items(&spec["affinity"]["podAffinity"][REQUIRED]);
        let anti_affinity = items(&spec["affinity"]["podAntiAffinity"][REQUIRED]);
        let (loose, spread): (Vec<&Value>, Vec<&Value>) = items(&spec["topologySpreadConstraints"])
            .iter()
            .partition(|it| it["whenUnsatisfiable"] == "ScheduleAnyway");
        let preferred =
            ["podAffinity", "podAntiAffinity"].map(|key| items(&spec["affinity"][key][PREFERRED]));
        let none = affinity.is_empty()
            && anti_affinity.is_empty()
            && spread.is_empty()
            && loose.is_empty()
            && preferred.iter().all(|it| it.is_empty());
        if none && world.load.repelling().next().is_none() {
            return None;
        }
        let elsewhere = |term: &Value| {
            !items(&term["namespaces"]).is_empty() || !term["namespaceSelector"].is_null()
        };
        // Pods that no rule can mean are not looked at.
        let terms = preferred.iter().copied().flatten().map(|it| &it["podAffinityTerm"]);
        let all = affinity.iter().chain(anti_affinity).chain(terms).any(elsewhere);
        let mut seen: Vec<Arc<Value>> = if all {
            world.cache.all(Kind::Pod).collect()
        } else if none {
            Vec::new()
        } else {
            world.cache.in_namespace(Kind::Pod, meta::namespace(pod)).collect()
        };
        for (namespace, name) in world.load.repelling() {
            if !all && (none || namespace != meta::namespace(pod)) {
                seen.extend(world.get(Kind::Pod, namespace, name));
            }
        }
        let placed = seen
            .into_iter()
            .filter(|it| !meta::is_pod_finished(it) && !without.contains(&meta::uid(it)))
            .filter_map(|it| {
                let name = text(&it["spec"]["nodeName"]);
                let node = nodes.iter().find(|node| meta::name(node) == name)?;
                let labels = &node["metadata"]["labels"];
                Some((it, labels))
            })
            .collect();
        let namespaces = world
            .cache
            .all(Kind::Namespace)
            .map(|it| (meta::name(&it).to_owned(), it["metadata"]["labels"].clone()))
            .collect();
        Some(Self {
            pod,
            affinity,
            anti_affinity,
            spread,
            preferred,
            loose,
            nodes,
            placed,
            namespaces,
        })
    }

    /// Why the pods around a node keep the pod away from it; none when they do not.
    pub(super) fn misfit(&self, node: &Value) -> Option<Misfit> {
        let labels = &node["metadata"]["labels"];
        self.uneven(labels)
            .or_else(|| (!self.attracted(labels)).then(|| Misfit::for_good(AFFINITY)))
            .or_else(|| self.repelled(labels).then(|| Misfit::for_now(ANTI_AFFINITY)))
            .or_else(|| self.unwelcome(labels).then(|| Misfit::for_now(EXISTING)))
    }

    /// The weights of the terms that the pods around a node meet; those that push away are negative.
    pub(super) fn liking(&self, node: &Value) -> i64 {
        let labels = &node["metadata"]["labels"];
        let mut sum = 0;
        for (terms, sign) in self.preferred.iter().zip([1, -1]) {
            for weighted in *terms {
                let term = &weighted["podAffinityTerm"];
                let key = text(&term["topologyKey"]);
                let near = self.placed.iter().filter(|(other, there)| {
                    there.get(key).is_some()
                        && there.get(key) == labels.get(key)
                        && self.term_matches(term, self.pod, other)
                });
                sum += sign * meta::int(&weighted["weight"], 0) * near.count() as i64;
            }
        }
        sum
    }

    /// How many pods that rules of spreading mean are near a node.
    pub(super) fn crowd(&self, node: &Value) -> i64 {
        let labels = &node["metadata"]["labels"];
        let near = |rule: &Value| {
            let key = text(&rule["topologyKey"]);
            self.placed
                .iter()
                .filter(|(other, there)| {
                    there.get(key) == labels.get(key)
                        && meta::namespace(other) == meta::namespace(self.pod)
                        && !meta::is_deleting(other)
                        && rule_matches(rule, self.pod, other)
                })
                .count() as i64
        };
        self.loose.iter().map(|rule| near(rule)).sum()
    }

    fn attracted(&self, labels: &Value) -> bool {
        if self.affinity.iter().any(|term| labels.get(text(&term["topologyKey"])).is_none()) {
            return false;
        }
        let all = |other: &Value| {
            self.affinity.iter().all(|term| self.term_matches(term, self.pod, other))
        };
        let candidates: Vec<&Value> =
            self.placed.iter().filter(|(it, _)| all(it)).map(|(_, labels)| *labels).collect();
        let near = |term: &Value| {
            let key = text(&term["topologyKey"]);
            candidates.iter().any(|it| it.get(key).is_some() && it.get(key) == labels.get(key))
        };
        // The first pod of a group that wants to be together has nobody to go to.
        self.affinity.iter().all(near)
            || (candidates_are_missing(&candidates, self.affinity) && all(self.pod))
    }

    fn repelled(&self, labels: &Value) -> bool {
        self.anti_affinity.iter().any(|term| {
            let key = text(&term["topologyKey"]);
            labels.get(key).is_some()
                && self.placed.iter().any(|(other, there)| {
                    there.get(key) == labels.get(key) && self.term_matches(term, self.pod, other)
                })
        })
    }

    fn unwelcome(&self, labels: &Value) -> bool {
        self.placed.iter().any(|(other, there)| {
            items(&other["spec"]["affinity"]["podAntiAffinity"][REQUIRED]).iter().any(|term| {
                let key = text(&term["topologyKey"]);
                labels.get(key).is_some()
                    && there.get(key) == labels.get(key)
                    && self.term_matches(term, other, self.pod)
            })
        })
    }

    /// Whether a term of `owner` means a pod.
    fn term_matches(&self, term: &Value, owner: &Value, pod: &Value) -> bool {
        let namespace = meta::namespace(pod);
        let named = items(&term["namespaces"]);
        let by_labels = &term["namespaceSelector"];
        let own = named.is_empty() && by_labels.is_null();
        let in_reach = (own && namespace == meta::namespace(owner))
            || named.iter().any(|it| *it == namespace)
            || self.namespaces.get(namespace).is_some_and(|it| matches(by_labels, it));
        in_reach
            && matches(&term["labelSelector"], &pod["metadata"]["labels"])
            && same_labels(&term["matchLabelKeys"], owner, pod, true)
            && same_labels(&term["mismatchLabelKeys"], owner, pod, false)
    }

    fn uneven(&self, labels: &Value) -> Option<Misfit> {
        let keys = || self.spread.iter().map(|rule| text(&rule["topologyKey"]));
        for rule in &self.spread {
            let Some(own) = labels.get(text(&rule["topologyKey"])) else {
                return Some(Misfit::for_good(NO_LABEL));
            };
            let key = text(&rule["topologyKey"]);
            let counts_node = |node: &Value| {
                keys().all(|key| node["metadata"]["labels"].get(key).is_some())
                    && (rule["nodeAffinityPolicy"] == "Ignore" || selects(self.pod, node))
            };
            let mut domains: BTreeMap<&str, i64> = self
                .nodes
                .iter()
                .filter(|it| counts_node(it))
                .map(|it| (text(&it["metadata"]["labels"][key]), 0))
                .collect();
            for (other, there) in &self.placed {
                if meta::namespace(other) == meta::namespace(self.pod)
                    && !meta::is_deleting(other)
                    && rule_matches(rule, self.pod, other)
                    && let Some(count) = domains.get_mut(text(&there[key]))
                {
                    *count += 1;
                }
            }
            let wanted = meta::int(&rule["minDomains"], 1);
            let least = if (domains.len() as i64) < wanted {
                0
            } else {
                domains.values().min().copied().unwrap_or(0)
            };
            let itself = i64::from(rule_matches(rule, self.pod, self.pod));
            let here = domains.get(text(own)).copied().unwrap_or(0);
            if here + itself - least > meta::int(&rule["maxSkew"], 1) {
                return Some(Misfit::for_now(SPREAD));
            }
        }
        None
    }
}

/// Whether no pod that a group wants to be with has a place of the kind that it names.
fn candidates_are_missing(candidates: &[&Value], terms: &[Value]) -> bool {
    !candidates
        .iter()
        .any(|labels| terms.iter().any(|term| labels.get(text(&term["topologyKey"])).is_some()))
}

fn rule_matches(rule: &Value, owner: &Value, pod: &Value) -> bool {
    matches(&rule["labelSelector"], &pod["metadata"]["labels"])
        && same_labels(&rule["matchLabelKeys"], owner, pod, true)
}

/// Whether two pods have the same values of some labels (or, if not `same`, other ones).
fn same_labels(keys: &Value, owner: &Value, pod: &Value, same: bool) -> bool {
    items(keys).iter().all(|key| {
        let Some(value) = meta::label(owner, text(key)) else { return true };
        let operator = if same { "In" } else { "NotIn" };
        let expression = json!({"key": key, "operator": operator, "values": [value]});
        expression_matches(&expression, &pod["metadata"]["labels"])
    })
}
