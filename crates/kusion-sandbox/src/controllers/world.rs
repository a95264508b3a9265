//! What a reconciler works with: the cache to read, the API to write, time, and the queue.

use super::autoscaler::Memories;
use super::cache::{Cache, KindId, Place};
use super::clock::{Clock, rfc3339};
use super::job::Counted;
use super::kind::Kind;
use super::meta;
use super::queue::Queue;
use super::record::Recorder;
use super::task::{Key, Task};
use crate::pods::kubelet::Kubelet;
use crate::pods::load::Load;
use crate::{Api, Deletion, Propagation, Status, Write};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// The field manager of most reconcilers.
pub(crate) const MANAGER: &str = "kube-controller-manager";
/// The field manager of the nodes.
pub(crate) const KUBELET: &str = "kubelet";
/// The field manager of the scheduler.
pub(crate) const SCHEDULER: &str = "kube-scheduler";

/// The surroundings of a reconciler.
#[derive(Debug)]
pub(crate) struct World {
    /// The way to write.
    pub api: Api,
    /// The way to read.
    pub cache: Cache,
    /// What is to be done.
    pub queue: Queue<Key>,
    /// The events told of late.
    pub recorder: Recorder,
    /// What the pods on each node ask for.
    pub load: Load,
    /// The pods that run.
    pub kubelet: Kubelet,
    /// The ends of pods that stand in the status of their Jobs.
    pub counted: Counted,
    /// What autoscalers recommended of late.
    pub autoscalers: Memories,
    /// The certificate that namespaces get.
    pub root_ca: Arc<str>,
    clock: Arc<dyn Clock>,
}

impl World {
    /// Makes a world without objects.
    pub(crate) fn new(api: Api, clock: Arc<dyn Clock>, root_ca: Arc<str>) -> Self {
        Self {
            api,
            cache: Cache::new(),
            queue: Queue::new(),
            recorder: Recorder::default(),
            load: Load::default(),
            kubelet: Kubelet::default(),
            counted: Counted::default(),
            autoscalers: Memories::default(),
            root_ca,
            clock,
        }
    }

    /// The present time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The present time as objects have it.
    pub(crate) fn now_text(&self) -> String {
        rfc3339(self.now())
    }

    /// The present time in the unit of the queue.
    pub(crate) fn now_ms(&self) -> i64 {
        self.now().as_millisecond()
    }

    /// An object as last seen.
    pub(crate) fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.cache.get(kind, namespace, name)
    }

    /// The objects of a kind in a namespace.
    pub(crate) fn list(&self, kind: Kind, namespace: &str) -> Vec<Arc<Value>> {
        self.cache.in_namespace(kind, namespace).collect()
    }

    /// Asks for work on an object of a kind.
    pub(crate) fn add(&mut self, task: Task, kind: Kind, object: &Value) {
        self.queue.add(Key::new(task, kind, meta::namespace(object), meta::name(object)));
    }

    /// Asks for work on a key again after a time.
    pub(crate) fn add_after(&mut self, key: &Key, milliseconds: i64) {
        let at = self.now_ms() + milliseconds;
        self.queue.add_at(key.clone(), at);
    }

    /// Creates an object.
    pub(crate) fn create(
        &self,
        kind: Kind,
        namespace: &str,
        object: Value,
    ) -> Result<Arc<Value>, Status> {
        self.create_as(MANAGER, kind, namespace, object)
    }

    /// Creates an object under another manager's name.
    pub(crate) fn create_as(
        &self,
        manager: &str,
        kind: Kind,
        namespace: &str,
        mut object: Value,
    ) -> Result<Arc<Value>, Status> {
        object["apiVersion"] = kind.api_version().into();
        object["kind"] = kind.name().into();
        self.api.create(kind.resource(), namespace, object, &write(manager, ""))
    }

    /// Replaces an object; its `resourceVersion` must be that of the stored one.
    pub(crate) fn update(&self, kind: Kind, object: Value) -> Result<Arc<Value>, Status> {
        self.update_as(MANAGER, kind, "", object)
    }

    /// Replaces the status of an object when it differs from that of `old`.
    pub(crate) fn update_status(
        &self,
        kind: Kind,
        old: &Value,
        status: Value,
    ) -> Result<(), Status> {
        self.update_status_as(MANAGER, kind, old, status)
    }

    /// As [`World::update_status`], under another manager's name.
    pub(crate) fn update_status_as(
        &self,
        manager: &str,
        kind: Kind,
        old: &Value,
        status: Value,
    ) -> Result<(), Status> {
        if old["status"] == status {
            return Ok(());
        }
        let mut object = old.clone();
        object["status"] = status;
        self.update_as(manager, kind, "status", object).map(drop)
    }

    /// Replaces an object or a part of it.
    pub(crate) fn update_as(
        &self,
        manager: &str,
        kind: Kind,
        subresource: &str,
        object: Value,
    ) -> Result<Arc<Value>, Status> {
        let namespace = meta::namespace(&object).to_owned();
        let name = meta::name(&object).to_owned();
        let write = write(manager, subresource);
        self.api.update(kind.resource(), &namespace, &name, object, &write)
    }

    /// Replaces an object of any resource.
    pub(crate) fn update_at(&self, place: &Place, object: Value) -> Result<(), Status> {
        let resource = self.cache.resource(place.kind);
        let write = write(MANAGER, "");
        self.api.update(resource, &place.namespace, &place.name, object, &write).map(drop)
    }

    /// Deletes an object if it still is the one that was seen; absence is success.
    pub(crate) fn delete(&self, kind: Kind, object: &Value) -> Result<(), Status> {
        let place = Place {
            kind: kind as KindId,
            namespace: meta::namespace(object).into(),
            name: meta::name(object).into(),
        };
        self.delete_at(&place, meta::uid(object), Propagation::Background, None)
    }

    /// Deletes the object at a place if it has the uid; absence is success.
    pub(crate) fn delete_at(
        &self,
        place: &Place,
        uid: &str,
        propagation: Propagation,
        grace_seconds: Option<i64>,
    ) -> Result<(), Status> {
        let deletion = Deletion {
            propagation: Some(propagation),
            grace_seconds,
            uid: Some(uid.to_owned()),
            ..Deletion::default()
        };
        let resource = self.cache.resource(place.kind);
        match self.api.delete(resource, &place.namespace, &place.name, &deletion) {
            Ok(_) => Ok(()),
            Err(status) if status.code == 404 || status.code == 409 => Ok(()),
            Err(status) => Err(status),
        }
    }
}

fn write<'a>(manager: &'a str, subresource: &'a str) -> Write<'a> {
    Write { manager, subresource, ..Write::default() }
}
