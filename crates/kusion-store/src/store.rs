//! The store of all stacks.

use crate::auth::{Authority, StoreKey};
use crate::backend::{self, Backend, Memory, Postgres, S3, Sqlite};
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::holder::Holder;
use crate::journal::{self, STACKS, StackPaths};
use crate::lease::{Lease, LockWait};
use crate::machine::{Machine, System};
use crate::meta::Meta;
use crate::session::Session;
use crate::state::StackState;
use kusion_model::{LoggedRecord, OperationId, Spec, SpecOrigins, StackKey};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The supported URL formats.
pub const SCHEMES: &[&str] = &[
    "sqlite:PATH",
    "postgres://USER:PASSWORD@HOST/DATABASE",
    "s3://BUCKET/PREFIX?endpoint=URL&region=NAME&allow_http=true",
    "memory:",
];

/// The Spec of a release, as it is stored.
struct StoredSpec {
    spec: Spec,
    /// The operation that wrote it.
    operation: Option<OperationId>,
    /// The source locations of its values.
    origins: SpecOrigins,
}

/// A store: the states of all stacks at one URL.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    key: StoreKey,
    meta: Arc<OnceCell<Meta>>,
    machine: Arc<dyn Machine>,
}

/// A kind of backend, with the rest of its URL.
enum Address<'a> {
    File(std::path::PathBuf),
    Postgres(&'a str),
    S3(&'a str),
    Memory,
}

impl<'a> Address<'a> {
    /// Parses a URL. An empty one means the file `state.db` in the folder `home`.
    fn parse(url: &'a str, home: &Path) -> Result<Self, StoreError> {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        Ok(match scheme {
            "" if url.is_empty() => Self::File(home.join("state.db")),
            "sqlite" | "file" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err(unusable(url, "no path after `sqlite:`"));
                }
                Self::File(home.join(path))
            }
            "postgres" | "postgresql" => Self::Postgres(url),
            "s3" => Self::S3(url),
            "memory" => Self::Memory,
            _ => return Err(unusable(url, "unknown scheme")),
        })
    }
}

impl Store {
    /// Opens the store at a URL, and creates it if it does not exist. An empty URL means the file
    /// `state.db` in the folder `home`.
    ///
    /// # Errors If the URL is invalid, the backend fails, the data has an unsupported format, or
    /// the store uses another key.
    pub async fn open(url: &str, home: &Path, key: StoreKey) -> Result<Self, StoreError> {
        let store = Self::with_backend(connect(url, home).await?, key);
        store.authority().await?;
        Ok(store)
    }

    /// Creates a store from a backend. Its key is checked on first use.
    pub fn with_backend(backend: Arc<dyn Backend>, key: StoreKey) -> Self {
        Self { backend, key, meta: Arc::default(), machine: Arc::new(System) }
    }

    /// Runs on another machine.
    #[cfg(test)]
    pub(crate) fn on_machine(mut self, machine: Arc<dyn Machine>) -> Self {
        self.machine = machine;
        self
    }

    /// Moves the data of an earlier version away, so that the URL can be used again. Nothing is
    /// deleted; returns the new location.
    pub async fn set_aside(url: &str, home: &Path) -> Result<String, StoreError> {
        match connect(url, home).await {
            Err(StoreError::Older { .. }) => {}
            Err(error) => return Err(error),
            Ok(backend) => {
                let place = backend.place().to_owned();
                backend.close().await;
                return Err(StoreError::NotOlder { place });
            }
        }
        match Address::parse(url, home)? {
            Address::File(path) => backend::set_aside_file(&path),
            Address::Postgres(url) => Postgres::set_aside(url).await,
            Address::S3(url) => S3::set_aside(url).await,
            Address::Memory => Err(unusable(url, "it exists only in memory")),
        }
    }

    /// Replaces the lost key of the store at a URL. Returns the fingerprint of the old key; `None`
    /// if the key is the same.
    pub async fn replace_key(
        url: &str,
        home: &Path,
        key: &StoreKey,
    ) -> Result<Option<String>, StoreError> {
        let backend = connect(url, home).await?;
        let replaced = match backend.read_only() {
            Some(error) => Err(error),
            None => Meta::replace_key(&*backend, key).await,
        };
        backend.close().await;
        replaced
    }

    /// Returns the backend, for tests and tools.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Returns the location for messages; contains no passwords.
    pub fn place(&self) -> &str {
        self.backend.place()
    }

    /// Returns the unique id of the store; `None` for a new store.
    pub async fn id(&self) -> Result<Option<String>, StoreError> {
        self.authority().await?;
        Ok(self.meta.get().map(|it| it.id.clone()))
    }

    /// Reads the state of a stack. Needs no lock; another process may be changing it.
    pub async fn read(&self, key: &StackKey) -> Result<StackState, StoreError> {
        let paths = self.paths(key).await?;
        Ok(journal::load(&*self.backend, &paths).await?.state)
    }

    /// Locks a stack for this process.
    ///
    /// The lock of an ended process of this machine, and an expired lock, is taken over; the lock
    /// of another machine is observed until it is renewed or expires. Fails if the lock holder is
    /// running, immediately or after `wait`.
    pub async fn lock(
        &self,
        key: &StackKey,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Session, StoreError> {
        self.backend.read_only().map_or(Ok(()), Err)?;
        self.authority().await?;
        self.meta
            .get_or_try_init(|| async {
                match Meta::read(&*self.backend, &self.key).await? {
                    Some(meta) => Ok(meta),
                    None => Meta::make(&*self.backend, &self.key).await,
                }
            })
            .await?;
        let paths = self.paths(key).await?;
        let (machine, backend) = (Arc::clone(&self.machine), Arc::clone(&self.backend));
        Session::open(machine, backend, paths, holder, wait).await
    }

    /// Returns whether a running process has locked a stack. That of another machine counts as
    /// running.
    pub async fn is_locked(&self, key: &StackKey) -> Result<bool, StoreError> {
        let paths = self.paths(key).await?;
        let lease = Lease::read(&*self.backend, &paths).await?;
        Ok(lease.is_some_and(|(lease, _)| lease.is_held(&*self.machine)))
    }

    /// Lists the stacks that have a state, sorted.
    pub async fn stacks(&self) -> Result<Vec<StackKey>, StoreError> {
        let keys = self.backend.list(STACKS).await?;
        let roots = keys
            .iter()
            .filter_map(|key| key.strip_prefix(STACKS).and_then(|it| it.strip_suffix("/lease")));
        let mut stacks: Vec<StackKey> = roots.filter_map(StackKey::from_store_path).collect();
        stacks.sort();
        Ok(stacks)
    }

    /// Reads the Spec of a release, with sealed secrets.
    pub async fn spec(&self, key: &StackKey, revision: u64) -> Result<Option<Spec>, StoreError> {
        Ok(self.spec_with_origins(key, revision).await?.map(|(spec, _)| spec))
    }

    /// Reads the Spec of a release, with sealed secrets, and the source locations of its values:
    /// none for a release of an earlier version.
    pub async fn spec_with_origins(
        &self,
        key: &StackKey,
        revision: u64,
    ) -> Result<Option<(Spec, SpecOrigins)>, StoreError> {
        let paths = self.paths(key).await?;
        let Some(StoredSpec { spec, operation, origins }) =
            self.stored_spec(&paths, revision).await?
        else {
            return Ok(None);
        };
        let state = journal::load(&*self.backend, &paths).await?.state;
        let is_bound = match (state.release(revision), &operation) {
            (Some(release), Some(operation)) => release.operation_id == *operation,
            // Not opened yet, or written by an earlier version.
            _ => true,
        };
        if !is_bound {
            let place = format!("{}: `{}`", self.place(), paths.spec(revision));
            return Err(StoreError::damaged(place, "belongs to another release"));
        }
        Ok(Some((spec, origins)))
    }

    async fn stored_spec(
        &self,
        paths: &StackPaths,
        revision: u64,
    ) -> Result<Option<StoredSpec>, StoreError> {
        let (backend, name) = (&*self.backend, paths.spec(revision));
        let Some((bytes, _)) = backend.get(&name).await? else { return Ok(None) };
        let place = backend.place();
        let (_, payloads) = frame::decode(&paths.authority, place, &name, Kind::Spec, &bytes)?;
        let spec = journal::parse(backend, &name, payloads.first().copied().unwrap_or_default())?;
        let operation = payloads.get(1).map(|it| journal::parse(backend, &name, it)).transpose()?;
        let origins = payloads.get(2).map(|it| journal::parse(backend, &name, it)).transpose()?;
        Ok(Some(StoredSpec { spec, operation, origins: origins.unwrap_or_default() }))
    }

    /// Reads the events of a release that has ended.
    pub async fn events<T: DeserializeOwned>(
        &self,
        key: &StackKey,
        revision: u64,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let paths = self.paths(key).await?;
        paths.payloads(&*self.backend, &paths.events(revision), Kind::Events).await
    }

    /// Reads the latest records of a stack: those that were not replaced by a snapshot yet.
    pub async fn records(&self, key: &StackKey) -> Result<Vec<LoggedRecord>, StoreError> {
        let paths = self.paths(key).await?;
        journal::records(&*self.backend, &paths).await
    }

    /// Closes connections. Dropping a store does the same shortly afterwards.
    pub async fn close(self) {
        self.backend.close().await;
    }

    pub(crate) async fn paths(&self, key: &StackKey) -> Result<StackPaths, StoreError> {
        Ok(StackPaths::new(key, self.authority().await?))
    }

    /// Returns the authority that verifies the values of the store.
    async fn authority(&self) -> Result<Authority, StoreError> {
        if let Some(meta) = self.meta.get() {
            return Ok(meta.authority(&self.key));
        }
        let Some(meta) = Meta::read(&*self.backend, &self.key).await? else {
            Meta::check_missing(&*self.backend).await?;
            return Ok(Authority::new(self.key.clone()));
        };
        let authority = meta.authority(&self.key);
        // Concurrent readers all read the same value.
        let _ = self.meta.set(meta);
        Ok(authority)
    }
}

async fn connect(url: &str, home: &Path) -> Result<Arc<dyn Backend>, StoreError> {
    Ok(match Address::parse(url, home)? {
        Address::File(path) => Arc::new(Sqlite::open(&path).await?),
        Address::Postgres(url) => Arc::new(Postgres::open(url).await?),
        Address::S3(url) => Arc::new(S3::open(url).await?),
        Address::Memory => Arc::new(Memory::default()),
    })
}

fn unusable(url: &str, why: &str) -> StoreError {
    // Everything but the scheme may contain a password; without `://` it may be one.
    let scheme = url.split_once("://").map(|it| it.0).unwrap_or_default();
    let is_shown = scheme.len() <= 16 && scheme.bytes().all(|it| it.is_ascii_alphanumeric());
    let shown =
        if is_shown && !scheme.is_empty() { format!(" `{scheme}://…`") } else { String::new() };
    let forms: Vec<String> = SCHEMES.iter().map(|it| format!("`{it}`")).collect();
    StoreError::Address(format!("invalid store URL{shown}: {why}; expected {}", forms.join(", ")))
}
