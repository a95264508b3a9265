//! The kinds of work, and the key under which a piece of work waits.

use super::cache::{KindId, Place};
use super::kind::{KINDS, Kind};
use super::world::World;
use crate::Status;
use crate::{lifecycle, pods};
use std::sync::Arc;

/// A kind of work; one reconciler each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Task {
    /// Deployment → `ReplicaSets`.
    Deployment,
    /// `ReplicaSet` → Pods.
    ReplicaSet,
    /// `ReplicationController` → Pods.
    ReplicationController,
    /// `StatefulSet` → Pods, claims, revisions.
    StatefulSet,
    /// `DaemonSet` → Pods, revisions.
    DaemonSet,
    /// Job → Pods.
    Job,
    /// `CronJob` → Jobs.
    CronJob,
    /// Status of a `PodDisruptionBudget`.
    Disruption,
    /// Service → Endpoints.
    Endpoints,
    /// Service → `EndpointSlices`.
    Slices,
    /// Endpoints without a selector → `EndpointSlices`.
    Mirror,
    /// Address of an Ingress or a load balancer.
    Ingress,
    /// Address of a Service of type `LoadBalancer`.
    Balancer,
    /// Claim → volume.
    Claim,
    /// Volume whose claim may be gone.
    Volume,
    /// Node for a pod.
    Schedule,
    /// Life of a pod on its node.
    Pod,
    /// Dependents of an object, and its owners.
    Collect,
    /// Phase and end of a namespace.
    Namespace,
    /// Default `ServiceAccount` and root certificate of a namespace.
    Accounts,
    /// Status of a `ResourceQuota`.
    Quota,
    /// Finished jobs that live for a time only.
    Expiry,
    /// Heartbeat of a node.
    Node,
    /// Old events.
    Events,
    /// Protection finalizers of claims and volumes.
    Protect,
    /// Conditions that the server itself writes.
    Conditions,
    /// Token of an account in a Secret.
    Token,
    /// Rules of aggregated `ClusterRoles`.
    Aggregate,
    /// Size of the target of a `HorizontalPodAutoscaler`.
    Autoscaler,
    /// Devices of a `ResourceClaim` that pods have used.
    DeviceClaim,
}

/// A piece of work: what to do, and for which object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// What to do.
    pub task: Task,
    /// For which object.
    pub place: Place,
}

impl Key {
    /// Makes a key for an object of a known kind.
    pub(crate) fn new(task: Task, kind: Kind, namespace: &str, name: &str) -> Self {
        let place =
            Place { kind: kind as KindId, namespace: namespace.into(), name: Arc::from(name) };
        Self { task, place }
    }

    /// The namespace of the object.
    pub(crate) fn namespace(&self) -> &str {
        &self.place.namespace
    }

    /// The name of the object.
    pub(crate) fn name(&self) -> &str {
        &self.place.name
    }
}

/// Does a piece of work.
pub(crate) fn run(world: &mut World, key: &Key) -> Result<(), Status> {
    match key.task {
        Task::Deployment => super::deployment::sync(world, key),
        Task::ReplicaSet => super::replicas::sync(world, key, Kind::ReplicaSet),
        Task::ReplicationController => {
            super::replicas::sync(world, key, Kind::ReplicationController)
        }
        Task::StatefulSet => super::statefulset::sync(world, key),
        Task::DaemonSet => super::daemonset::sync(world, key),
        Task::Job => super::job::sync(world, key),
        Task::CronJob => super::cronjob::sync(world, key),
        Task::Disruption => super::disruption::sync(world, key),
        Task::Aggregate => lifecycle::aggregation::sync(world),
        Task::Autoscaler => super::autoscaler::sync(world, key),
        Task::DeviceClaim => pods::claims::sync(world, key),
        Task::Endpoints => super::endpoints::sync(world, key),
        Task::Slices => super::slices::sync(world, key),
        Task::Mirror => super::slices::mirror(world, key),
        Task::Ingress => super::ingress::sync(world, key),
        Task::Balancer => super::ingress::sync_service(world, key),
        Task::Claim => super::volumes::sync_claim(world, key),
        Task::Volume => super::volumes::sync_volume(world, key),
        Task::Protect => super::volumes::protect(world, key),
        Task::Schedule => pods::scheduler::sync(world, key),
        Task::Pod => pods::kubelet::sync(world, key),
        Task::Collect => lifecycle::collector::sync(world, key),
        Task::Namespace => lifecycle::namespace::sync(world, key),
        Task::Accounts => lifecycle::accounts::sync(world, key),
        Task::Quota => lifecycle::quota::sync(world, key),
        Task::Expiry => lifecycle::expiry::sync_job(world, key),
        Task::Node => pods::nodes::sync(world, key),
        Task::Token => lifecycle::accounts::sync_token(world, key),
        Task::Conditions => {
            let kind = KINDS.get(key.place.kind as usize).copied();
            kind.map_or(Ok(()), |kind| lifecycle::conditions::sync(world, key, kind))
        }
        Task::Events => lifecycle::expiry::sweep_events(world, key),
    }
}
