//! Faults that the server commits on purpose, so that clients can be tested against them.

use crate::api::{Api, Deletion, PatchKind, Resource, Scope, Selection, Write};
use crate::{Status, object};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The annotation of a node that is lost.
pub(crate) const LOST: &str = "sandbox.kusion.io/lost";
/// The quota that lets nothing in, and the label by which it is found again.
const QUOTA: &str = "sandbox-full";
const LABEL: &str = "sandbox.kusion.io/fault";
/// The field manager of what is changed here.
const MANAGER: &str = "kusion-sandbox";
/// What a server says that has too much to do.
const BUSY: &str = "the server has received too many requests and has asked us to try again later";
/// The longest time that an answer is put off.
const LONGEST: Duration = Duration::from_mins(1);

/// What goes wrong with requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// The plural name of the resource that is concerned; empty for all.
    pub resource: String,
    /// How many requests it still concerns; `None` for all until it is cleared.
    pub requests: Option<u32>,
}

/// The kinds of faults of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Answers come later.
    Latency(Duration),
    /// Requests are refused with this code (429 or 500) and have no effect.
    Error(u16),
}

/// The faults of a sandbox; clones mean the same faults.
#[derive(Debug, Clone)]
pub struct Faults {
    api: Api,
    requests: Arc<Mutex<Vec<Fault>>>,
}

impl Faults {
    /// Makes a server without faults.
    pub(crate) fn new(api: Api) -> Self {
        Self { api, requests: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault of requests; one of the same kind for the same resource ends.
    pub fn add(&self, fault: Fault) {
        let same = |it: &Fault| {
            it.resource == fault.resource
                && std::mem::discriminant(&it.kind) == std::mem::discriminant(&fault.kind)
        };
        let mut all = self.lock();
        all.retain(|it| !same(it));
        all.push(fault);
    }

    /// Returns the faults of requests.
    pub fn list(&self) -> Vec<Fault> {
        self.lock().clone()
    }

    /// Ends all faults: of requests, lost nodes and full quotas.
    ///
    /// # Errors
    /// An object cannot be changed.
    pub fn clear(&self) -> Result<(), Status> {
        self.lock().clear();
        for node in self.lost_nodes()? {
            self.lose_node(&node, false)?;
        }
        for namespace in self.full_namespaces()? {
            self.api.delete(&quotas(), &namespace, QUOTA, &Deletion::default())?;
        }
        Ok(())
    }

    /// Ends all watches; clients have to start them again.
    pub fn cut_watches(&self) {
        self.api.cluster().cuts.send_modify(|count| *count += 1);
    }

    /// Loses a node, or has it return.
    ///
    /// # Errors
    /// There is no such node.
    pub fn lose_node(&self, name: &str, lost: bool) -> Result<(), Status> {
        let value = if lost { Value::from("true") } else { Value::Null };
        let patch = json!({"metadata": {"annotations": {LOST: value}}});
        let write = Write { manager: MANAGER, ..Write::default() };
        self.api.patch(&nodes(), "", name, PatchKind::Merge, &patch, &write).map(drop)
    }

    /// Returns the names of the nodes that are lost.
    ///
    /// # Errors
    /// The nodes cannot be read.
    pub fn lost_nodes(&self) -> Result<Vec<String>, Status> {
        let (nodes, _) = self.api.list(&nodes(), Scope::All, Selection::default())?;
        Ok(nodes.iter().filter(|it| is_lost(it)).map(|it| object::name(it).to_owned()).collect())
    }

    /// Lets no more pods into a namespace.
    ///
    /// # Errors
    /// There is no such namespace.
    pub fn fill_quota(&self, namespace: &str) -> Result<(), Status> {
        let quota = json!({
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": QUOTA, "namespace": namespace, "labels": {LABEL: "quota"}},
            "spec": {"hard": {"pods": "0"}},
        });
        let write = Write { manager: MANAGER, ..Write::default() };
        match self.api.create(&quotas(), namespace, quota, &write) {
            Err(status) if !status.is_already_exists() => Err(status),
            _ => Ok(()),
        }
    }

    /// Returns the namespaces that let no more pods in.
    ///
    /// # Errors
    /// The quotas cannot be read.
    pub fn full_namespaces(&self) -> Result<Vec<String>, Status> {
        let selection = Selection { labels: LABEL, ..Selection::default() };
        let (quotas, _) = self.api.list(&quotas(), Scope::All, selection)?;
        let full = quotas.iter().filter(|it| object::name(it) == QUOTA);
        Ok(full.map(|it| object::namespace(it).to_owned()).collect())
    }

    /// Returns whether requests have faults.
    pub(crate) fn has_any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Returns how long the answer to a request is put off, and how the request fails.
    pub(crate) fn of(&self, resource: &str) -> (Duration, Option<Status>) {
        let mut all = self.lock();
        let (mut pause, mut failure) = (Duration::ZERO, None);
        for fault in all.iter_mut() {
            if !fault.resource.is_empty() && fault.resource != resource {
                continue;
            }
            if let Some(left) = &mut fault.requests {
                *left = left.saturating_sub(1);
            }
            match fault.kind {
                FaultKind::Latency(time) => pause = time.min(LONGEST),
                FaultKind::Error(429) => {
                    let details = json!({"retryAfterSeconds": 1});
                    failure = Some(Status::too_many_requests(BUSY, details));
                }
                FaultKind::Error(_) => {
                    failure = Some(Status::internal("a fault of `kusion sandbox fault`"));
                }
            }
        }
        all.retain(|it| it.requests != Some(0));
        (pause, failure)
    }
}

/// Whether a node is lost.
pub(crate) fn is_lost(node: &Value) -> bool {
    object::at(node, &["metadata", "annotations", LOST]) == "true"
}

fn nodes() -> Resource {
    Resource::new("", "v1", "nodes")
}

fn quotas() -> Resource {
    Resource::new("", "v1", "resourcequotas")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_concern_so_many_requests_of_a_resource() {
        let faults = Faults::new(Api::new());
        let error = FaultKind::Error(429);
        faults.add(Fault { kind: error, resource: "pods".to_owned(), requests: Some(2) });
        let latency = FaultKind::Latency(Duration::from_millis(5));
        faults.add(Fault { kind: latency, resource: String::new(), requests: None });
        let code = |resource| faults.of(resource).1.map(|it| it.code);
        assert_eq!(
            [code("nodes"), code("pods"), code("pods"), code("pods")],
            [None, Some(429), Some(429), None]
        );
        assert_eq!(faults.of("nodes").0, Duration::from_millis(5));
        assert_eq!(faults.list().len(), 1);
        faults.clear().expect("cleared");
        assert!(faults.list().is_empty());
    }
}
