//! The store of all stacks.

use crate::backend::{Backend, Memory, Postgres, S3, Sqlite};
use crate::error::StoreError;
use crate::holder::Holder;
use crate::journal::{self, Places};
use crate::lease::LockWait;
use crate::session::{self, Session};
use crate::state::StackState;
use kusion_model::{Spec, StackKey};
use std::path::Path;
use std::sync::Arc;

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
}

impl Store {
    /// Opens the store at an address, and makes it where it does not exist. An empty address
    /// means the file `state.db` in the folder `home`.
    pub async fn open(url: &str, home: &Path) -> Result<Self, StoreError> {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        let backend: Arc<dyn Backend> = match scheme {
            "" if url.is_empty() => Arc::new(Sqlite::open(&home.join("state.db")).await?),
            "sqlite" | "file" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err(unusable(url, "a path must follow `sqlite:`"));
                }
                Arc::new(Sqlite::open(&home.join(path)).await?)
            }
            "postgres" | "postgresql" => Arc::new(Postgres::open(url).await?),
            "s3" => Arc::new(S3::open(url).await?),
            "memory" => Arc::new(Memory::default()),
            _ => return Err(unusable(url, "its form is not known")),
        };
        Ok(Self { backend })
    }

    /// Makes a store of a backend.
    pub fn with_backend(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// Returns the backend, for tests and tools.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Returns the name of the place, for messages; no passwords.
    pub fn place(&self) -> &str {
        self.backend.place()
    }

    /// Reads what is known of a stack. Needs no lease; somebody may be changing it.
    pub async fn read(&self, key: &StackKey) -> Result<StackState, StoreError> {
        let places = Places { root: key.store_path() };
        Ok(journal::load(&*self.backend, &places).await?.state)
    }

    /// Makes this process the only one that changes a stack.
    ///
    /// The lease of a dead process of this machine, and one that expired, is taken over; one of
    /// another machine is watched until it is renewed or expires. A live holder is an error, at
    /// once or after `wait`.
    pub async fn take(
        &self,
        key: &StackKey,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Session, StoreError> {
        Session::open(Arc::clone(&self.backend), key, holder, wait).await
    }

    /// Lists the stacks that have a state, sorted.
    pub async fn stacks(&self) -> Result<Vec<StackKey>, StoreError> {
        let keys = self.backend.list("").await?;
        let roots = keys.iter().filter_map(|key| key.strip_suffix("/lease"));
        let mut stacks: Vec<StackKey> = roots.filter_map(StackKey::from_store_path).collect();
        stacks.sort();
        Ok(stacks)
    }

    /// Reads the Spec of a release, as it was sealed.
    pub async fn spec(&self, key: &StackKey, revision: u64) -> Result<Option<Spec>, StoreError> {
        let places = Places { root: key.store_path() };
        session::read_spec(&*self.backend, &places, revision).await
    }

    /// Gives connections back. A store that is dropped does the same, a moment later.
    pub async fn close(self) {
        self.backend.close().await;
    }
}

fn unusable(url: &str, why: &str) -> StoreError {
    // What stands before an `@` may be a password.
    let shown = url.rsplit_once('@').map_or(url, |(_, after)| after);
    let forms: Vec<String> = SCHEMES.iter().map(|it| format!("`{it}`")).collect();
    StoreError::Address(format!(
        "`{shown}` is no address of a store: {why}; known are {}",
        forms.join(", ")
    ))
}
