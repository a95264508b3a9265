//! The policies, bindings and webhooks of the cluster, ready for use.

use crate::api::{Resource, Scope, Selection};
use crate::cluster::Cluster;
use crate::object;
use kusion_k8s_schema::policy::{Conditions, Policy};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The group of all kinds that are asked.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";

/// What is configured, read again after it changed.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// Whether there may be any.
    any: AtomicBool,
    /// Whether something changed since the index was made.
    changed: AtomicBool,
    index: RwLock<Arc<Index>>,
}

impl Hooks {
    /// Returns whether there may be a policy or webhook.
    pub(crate) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Notes that a policy, binding or webhook was stored or removed.
    pub(crate) fn note_change(&self) {
        self.changed.store(true, Ordering::Release);
        self.any.store(true, Ordering::Release);
    }

    /// Returns what is configured now.
    pub(super) fn index(&self, cluster: &Cluster) -> Arc<Index> {
        if self.changed.load(Ordering::Acquire) {
            // Whoever comes meanwhile waits, and sees what is configured now.
            let mut slot = self.index.write().unwrap_or_else(PoisonError::into_inner);
            if self.changed.swap(false, Ordering::AcqRel) {
                *slot = Arc::new(Index::read(cluster));
            }
        }
        Arc::clone(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A policy with its bindings, sorted by name.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) policy: Arc<Value>,
    pub(super) compiled: Policy,
    pub(super) bindings: Vec<Arc<Value>>,
}

/// A webhook.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    pub(super) config: Value,
    pub(super) conditions: Conditions,
}

/// All that is configured.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) validating: Vec<Bound>,
    pub(super) mutating: Vec<Bound>,
    pub(super) validating_hooks: Vec<Hook>,
    pub(super) mutating_hooks: Vec<Hook>,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        !self.changes() && !self.checks()
    }

    /// Returns whether anything may change objects.
    pub(super) fn changes(&self) -> bool {
        !self.mutating.is_empty() || !self.mutating_hooks.is_empty()
    }

    /// Returns whether anything may refuse objects.
    pub(super) fn checks(&self) -> bool {
        !self.validating.is_empty() || !self.validating_hooks.is_empty()
    }

    fn read(cluster: &Cluster) -> Self {
        let api = cluster.api();
        let all = |plural: &str| -> Vec<Arc<Value>> {
            let resource = Resource::new(GROUP, "v1", plural);
            api.list(&resource, Scope::All, Selection::default()).map(|it| it.0).unwrap_or_default()
        };
        let bound = |policies: &str, bindings: &str| -> Vec<Bound> {
            let bindings = all(bindings);
            let made = all(policies).into_iter().map(|policy| {
                let name = object::name(&policy).to_owned();
                let own = bindings
                    .iter()
                    .filter(|it| object::text(it, &["spec", "policyName"]) == name)
                    .cloned()
                    .collect();
                Bound { name, compiled: Policy::read(&policy), policy, bindings: own }
            });
            // A policy without a binding is about nothing.
            made.filter(|it| !it.bindings.is_empty()).collect()
        };
        let hooks = |plural: &str| -> Vec<Hook> {
            let mut made = Vec::new();
            for configuration in all(plural) {
                let list = object::at(&configuration, &["webhooks"]).as_array();
                made.extend(list.into_iter().flatten().map(|hook| Hook {
                    name: object::text(hook, &["name"]).to_owned(),
                    config: hook.clone(),
                    conditions: Conditions::read(object::at(hook, &["matchConditions"])),
                }));
            }
            made
        };
        Self {
            validating: bound("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
            mutating: bound("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
            validating_hooks: hooks("validatingwebhookconfigurations"),
            mutating_hooks: hooks("mutatingwebhookconfigurations"),
        }
    }
}
