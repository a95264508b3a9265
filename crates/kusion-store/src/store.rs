//! The store of all stacks.

use crate::auth::{Authority, StoreKey};
use crate::backend::{self, Backend, Memory, Postgres, S3, Sqlite};
use crate::error::StoreError;
use crate::frame::Kind;
use crate::holder::Holder;
use crate::journal::{self, Places, STACKS};
use crate::lease::LockWait;
use crate::meta::Meta;
use crate::session::Session;
use crate::state::StackState;
use kusion_model::{LoggedRecord, Spec, StackKey};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The forms of addresses.
pub const SCHEMES: &[&str] = &[
    "sqlite:PATH",
    "postgres://USER:PASSWORD@HOST/DATABASE",
    "s3://BUCKET/PREFIX?endpoint=URL&region=NAME&allow_http=true",
    "memory:",
];

/// The states of all stacks at one address.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    key: StoreKey,
    meta: Arc<OnceCell<Meta>>,
}

/// A kind of backend, with the rest of its address.
enum Address<'a> {
    File(std::path::PathBuf),
    Postgres(&'a str),
    S3(&'a str),
    Memory,
}

impl<'a> Address<'a> {
    /// Reads an address. An empty one means the file `state.db` in the folder `home`.
    fn parse(url: &'a str, home: &Path) -> Result<Self, StoreError> {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        Ok(match scheme {
            "" if url.is_empty() => Self::File(home.join("state.db")),
            "sqlite" | "file" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err(unusable(url, "a path must follow `sqlite:`"));
                }
                Self::File(home.join(path))
            }
            "postgres" | "postgresql" => Self::Postgres(url),
            "s3" => Self::S3(url),
            "memory" => Self::Memory,
            _ => return Err(unusable(url, "its form is not known")),
        })
    }
}

impl Store {
    /// Opens the store at an address, and makes it where it does not exist. An empty address
    /// means the file `state.db` in the folder `home`.
    ///
    /// # Errors
    /// Also if another version wrote it, or if it was set up with another key.
    pub async fn open(url: &str, home: &Path, key: StoreKey) -> Result<Self, StoreError> {
        let store = Self::with_backend(connect(url, home).await?, key);
        store.authority().await?;
        Ok(store)
    }

    /// Makes a store of a backend. Its key is checked when it is used first.
    pub fn with_backend(backend: Arc<dyn Backend>, key: StoreKey) -> Self {
        Self { backend, key, meta: Arc::default() }
    }

    /// Moves everything that an earlier version wrote out of the way, so that the address can be
    /// used again. Nothing is lost; returns where it is then.
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
            Address::Memory => Err(unusable(url, "it lives as long as its process")),
        }
    }

    /// Makes a key the one of the store at an address, because the one that it was set up with is
    /// lost. Returns the name of the old key; none if the key is the same.
    pub async fn replace_key(
        url: &str,
        home: &Path,
        key: &StoreKey,
    ) -> Result<Option<String>, StoreError> {
        let backend = connect(url, home).await?;
        let replaced = Meta::replace_key(&*backend, key).await;
        backend.close().await;
        replaced
    }

    /// Returns the backend, for tests and tools.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Returns the name of the place, for messages; no passwords.
    pub fn place(&self) -> &str {
        self.backend.place()
    }

    /// Returns what tells this store from others; none in a new one.
    pub async fn id(&self) -> Result<Option<String>, StoreError> {
        self.authority().await?;
        Ok(self.meta.get().map(|it| it.id.clone()))
    }

    /// Reads what is known of a stack. Needs no lock; somebody may be changing it.
    pub async fn read(&self, key: &StackKey) -> Result<StackState, StoreError> {
        let places = self.places(key).await?;
        Ok(journal::load(&*self.backend, &places).await?.state)
    }

    /// Makes this process the only one that changes a stack.
    ///
    /// The lock of a dead process of this machine, and one that expired, is taken over; one of
    /// another machine is watched until it is renewed or expires. A live holder is an error, at
    /// once or after `wait`.
    pub async fn take(
        &self,
        key: &StackKey,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Session, StoreError> {
        self.meta
            .get_or_try_init(|| async {
                match Meta::read(&*self.backend, &self.key).await? {
                    Some(meta) => Ok(meta),
                    None => Meta::make(&*self.backend, &self.key).await,
                }
            })
            .await?;
        let places = self.places(key).await?;
        Session::open(Arc::clone(&self.backend), places, holder, wait).await
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

    /// Reads the Spec of a release, as it was sealed.
    pub async fn spec(&self, key: &StackKey, revision: u64) -> Result<Option<Spec>, StoreError> {
        let places = self.places(key).await?;
        let found = places.payloads(&*self.backend, &places.spec(revision), Kind::Spec).await?;
        Ok(found.and_then(|it| it.into_iter().next()))
    }

    /// Reads what happened in a release that has ended.
    pub async fn events<T: DeserializeOwned>(
        &self,
        key: &StackKey,
        revision: u64,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let places = self.places(key).await?;
        places.payloads(&*self.backend, &places.events(revision), Kind::Events).await
    }

    /// Reads the latest records of a stack: those that no snapshot has replaced yet.
    pub async fn records(&self, key: &StackKey) -> Result<Vec<LoggedRecord>, StoreError> {
        let places = self.places(key).await?;
        journal::records(&*self.backend, &places).await
    }

    /// Gives connections back. A store that is dropped does the same, a moment later.
    pub async fn close(self) {
        self.backend.close().await;
    }

    async fn places(&self, key: &StackKey) -> Result<Places, StoreError> {
        Ok(Places::new(key, self.authority().await?))
    }

    /// Returns who may have written what is in the store.
    async fn authority(&self) -> Result<Authority, StoreError> {
        if let Some(meta) = self.meta.get() {
            return Ok(meta.authority(&self.key));
        }
        let Some(meta) = Meta::read(&*self.backend, &self.key).await? else {
            return Ok(Authority::new(self.key.clone()));
        };
        let authority = meta.authority(&self.key);
        // Of several that read it at the same time each has read the same.
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
    // What stands before an `@` may be a password.
    let shown = url.rsplit_once('@').map_or(url, |(_, after)| after);
    let forms: Vec<String> = SCHEMES.iter().map(|it| format!("`{it}`")).collect();
    StoreError::Address(format!(
        "invalid address of a store `{shown}`: {why}; expected {}",
        forms.join(", ")
    ))
}
