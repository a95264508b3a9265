//! The runtime of resources on hosts.

mod change;
mod read;
mod watch;

use crate::address::{Address, RESOURCE_TYPE};
use crate::connection::{Connection, Limits, Ssh};
use crate::hosts::Hosts;
use crate::items::{self, Fields, Item, Kind, directory_on};
use async_trait::async_trait;
use futures::stream::BoxStream;
use kusion_model::{
    Description, FieldPath, Identity, InfrastructureId, Problem, Resource, ResourceId,
    ResourceState, RuntimeData, StackOwner,
};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, RuntimeSource, Target,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Live attributes that cannot be desired, or that hosts do not have.
const NOT_COMPARED: [&str; 7] =
    ["host", "output", "path", "sensitive", "sha256", "status", "system"];

/// The surroundings of hosts.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// The hosts.
    pub hosts: Hosts,
    /// How they are reached. Below its folder, each runtime has one of its own.
    pub ssh: Ssh,
    /// Limits.
    pub limits: Limits,
}

/// Manages resources on hosts.
pub struct HostRuntime {
    inner: Arc<Inner>,
}

struct Inner {
    hosts: Hosts,
    limits: Limits,
    connections: BTreeMap<String, Connection>,
    /// The folder of sockets, which is removed at the end.
    folder: PathBuf,
    /// Directories that do not exist, by host and path, as of the last read.
    missing: Mutex<BTreeSet<(String, String)>>,
    /// How often scripts have changed something.
    n_writes: AtomicU64,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.connections.clear();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What is stored with an object.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Data {
    /// The object as it was before it was managed; `None` if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Fields>,
    /// Attributes that only the state knows.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    remembered: Fields,
}

impl Data {
    fn of(data: Option<&RuntimeData>) -> Option<Self> {
        serde_json::from_value(data?.value.clone()).ok()
    }

    fn to_runtime(&self, kind: Kind) -> Option<RuntimeData> {
        let value = serde_json::to_value(self).ok()?;
        Some(RuntimeData { schema_version: 1, value, is_secret: kind == Kind::Command })
    }
}

impl HostRuntime {
    /// Creates a runtime. Hosts are connected to when they are needed.
    ///
    /// # Errors
    ///
    /// If the folder of sockets cannot be created.
    pub fn new(settings: HostSettings) -> std::io::Result<Self> {
        let HostSettings { hosts, mut ssh, limits } = settings;
        ssh.folder = ssh.folder.join(format!("kusion-{:08x}", fastrand::u32(..)));
        // Only connections have sockets.
        if hosts.iter().any(|it| !it.is_local) {
            std::fs::DirBuilder::new().mode(0o700).create(&ssh.folder)?;
        }
        let folder = ssh.folder.clone();
        let (ssh, all) = (Arc::new(ssh), Arc::new(Semaphore::new(limits.hosts.max(1))));
        let connection = |(number, host): (usize, &crate::Host)| {
            let (ssh, all) = (Arc::clone(&ssh), Arc::clone(&all));
            (host.name.clone(), Connection::new(host.clone(), ssh, limits, number, all))
        };
        let connections = hosts.iter().enumerate().map(connection).collect();
        let (missing, n_writes) = (Mutex::default(), AtomicU64::new(0));
        let inner = Inner { hosts, limits, connections, folder, missing, n_writes };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns how often scripts have changed something on hosts.
    pub fn write_count(&self) -> u64 {
        self.inner.n_writes.load(Ordering::Relaxed)
    }
}

impl Inner {
    /// Returns the way to the host of a resource.
    fn connection(&self, address: &Address) -> Result<&Connection, RuntimeError> {
        let unknown = || RuntimeError::Invalid(self.hosts.unknown(&address.host));
        self.connections.get(&address.host).ok_or_else(unknown)
    }

    fn is_missing(&self, address: &Address, parent: &str) -> bool {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.contains(&(address.host.clone(), parent.to_owned()))
    }

    fn note_parent(&self, address: &Address, item: &dyn Item, is_missing: bool) {
        let Some(parent) = item.parent() else { return };
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (address.host.clone(), parent);
        if is_missing {
            missing.insert(key);
        } else {
            missing.remove(&key);
        }
    }
}

fn address_of(id: &ResourceId) -> Result<Address, RuntimeError> {
    Address::of_id(id).map_err(|message| {
        RuntimeError::Rejected(vec![Problem::new(FieldPath::default(), message)])
    })
}

/// Reads a desired resource.
fn desired_item(resource: &Resource) -> Result<(Address, Box<dyn Item>), RuntimeError> {
    let address = address_of(&resource.id)?;
    match items::parse(&address, &resource.attributes) {
        (item, problems) if problems.is_empty() => Ok((address, item)),
        (_, problems) => Err(RuntimeError::Rejected(problems)),
    }
}

/// Reads a recorded resource, whose secrets may be sealed.
fn recorded_item(prior: &ResourceState) -> Result<(Address, Box<dyn Item>), RuntimeError> {
    let address = address_of(&prior.resource.id)?;
    let mut attributes = prior.resource.attributes.clone().into_value();
    if let (Some(data), Some(fields)) =
        (Data::of(prior.runtime.as_ref()), attributes.as_object_mut())
    {
        fields.extend(data.remembered);
    }
    let (item, _) = items::parse(&address, &attributes);
    Ok((address, item))
}

fn identity(id: &ResourceId) -> Identity {
    Identity::new(id.as_str(), None)
}

#[async_trait]
impl Runtime for HostRuntime {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        // Which machine a name means is the business of the list of hosts.
        Ok(InfrastructureId { id: "hosts".to_owned(), name: "hosts".to_owned() })
    }

    fn parallel_calls(&self) -> usize {
        2 * self.inner.limits.hosts.max(1)
    }

    fn describe(&self, resource: &Resource) -> Description {
        let Ok(address) = Address::of_id(&resource.id) else {
            return Description { kind: RESOURCE_TYPE.to_owned(), ..Description::default() };
        };
        let (item, _) = items::parse(&address, &resource.attributes);
        let is_slow = matches!(address.kind, Kind::Package | Kind::Command);
        Description {
            kind: format!("host:{}", address.kind.name()),
            provides: match address.kind {
                Kind::Directory => vec![directory_on(&address.host, &address.name)],
                _ => Vec::new(),
            },
            requires: item
                .parent()
                .map(|it| directory_on(&address.host, &it))
                .into_iter()
                .collect(),
            is_restored: true,
            dependents_wait: address.kind == Kind::Service,
            timeout: is_slow.then_some(self.inner.limits.change),
            ..Description::default()
        }
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        Ok(self.inner.read_all(targets).await)
    }

    fn compare(&self, desired: &Resource, live: &Live) -> Comparison {
        let Ok((_, item)) = desired_item(desired) else { return Comparison::Differs };
        let is_same = |(name, value): (&String, &Value)| live.attributes.get(name) == Some(value);
        if item.desired().iter().all(is_same) { Comparison::Same } else { Comparison::Differs }
    }

    fn comparable(&self, live: &Value) -> Value {
        let mut out = live.clone();
        if let Value::Object(fields) = &mut out {
            fields.retain(|name, _| !NOT_COMPARED.contains(&name.as_str()));
        }
        out
    }

    fn secret_paths(&self, resource: &Resource, attributes: &Value) -> Vec<FieldPath> {
        let Ok(address) = Address::of_id(&resource.id) else { return Vec::new() };
        let (item, _) = items::parse(&address, &resource.attributes);
        let names = item.secret_names().iter().filter(|it| attributes.get(**it).is_some());
        names.map(|it| FieldPath::default().key(it)).collect()
    }

    fn is_secret_path(&self, resource: &Resource, path: &FieldPath) -> bool {
        let Ok(address) = Address::of_id(&resource.id) else { return false };
        let (item, _) = items::parse(&address, &resource.attributes);
        let mut paths = item.secret_names().iter().map(|it| FieldPath::default().key(it));
        paths.any(|it| it.is_prefix_of(path) || path.is_prefix_of(&it))
    }

    fn renamed(&self, prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
        if prior.resource.id == *to {
            return Ok(prior.clone());
        }
        Err("cannot be renamed: the id says on which host and at which path it is".to_owned())
    }

    fn check_offline(&self, desired: &Resource) -> Vec<Problem> {
        match desired_item(desired) {
            Err(RuntimeError::Rejected(problems)) => problems,
            _ => Vec::new(),
        }
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        self.inner.plan_change(&change)
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        self.inner.make_change(&change).await
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        self.inner.delete_object(&deletion).await
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        self.inner.look_after(&pending).await
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        _since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        Ok(watch::watch(Arc::clone(&self.inner), targets))
    }

    async fn close(&self) {
        self.inner.connections.values().for_each(Connection::close);
    }
}

/// Starts runtimes of hosts.
#[derive(Clone, Debug)]
pub struct HostSource(pub HostSettings);

#[async_trait]
impl RuntimeSource for HostSource {
    async fn start(&self, _: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        let runtime = HostRuntime::new(self.0.clone()).map_err(|error| {
            let folder = self.0.ssh.folder.display();
            RuntimeError::Unavailable(format!("cannot create a folder in {folder}: {error}"))
        })?;
        Ok(Arc::new(runtime))
    }
}
