//! The stacks of a store, without their files.

use crate::app::{App, OpenStack, Site};
use crate::backend;
use crate::error::AppError;
use crate::runtimes::with_runtimes;
use kusion_model::{Phase, StackKey};
use kusion_store::{StackState, Store, StoreError};

/// The result of checking all values of a stack.
#[derive(Debug)]
pub struct Audited {
    /// The stack.
    pub key: StackKey,
    /// The location of its store; contains no passwords.
    pub store: String,
    /// What is wrong; each names the value.
    pub problems: Vec<String>,
}

/// A stack of a store.
#[derive(Debug)]
pub struct StackEntry {
    /// The stack.
    pub key: StackKey,
    /// The location of its store; contains no passwords.
    pub store: String,
    /// Its state, or why it cannot be read.
    pub state: Result<StackState, StoreError>,
}

impl App {
    /// Lists the stacks of a store, sorted; without a URL, those of the local stores that exist.
    pub async fn inventory(&mut self, backend: Option<&str>) -> Result<Vec<StackEntry>, AppError> {
        let mut entries = Vec::new();
        for address in self.addresses(backend) {
            let store = self.store(&address).await?;
            for key in store.stacks().await? {
                let state = read(&store, &key).await;
                entries.push(StackEntry { key, store: store.place().to_owned(), state });
            }
        }
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }

    /// Checks all values of all stacks of a store, sorted; without a URL, those of the local stores
    /// that exist.
    pub async fn audit(&mut self, backend: Option<&str>) -> Result<Vec<Audited>, AppError> {
        let mut audited = Vec::new();
        for address in self.addresses(backend) {
            let store = self.store(&address).await?;
            for key in store.stacks().await? {
                let problems = store.audit(&key).await?;
                let problems = problems.iter().map(ToString::to_string).collect();
                audited.push(Audited { key, store: store.place().to_owned(), problems });
            }
        }
        audited.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(audited)
    }

    fn addresses(&self, backend: Option<&str>) -> Vec<String> {
        match backend.filter(|it| !it.is_empty()) {
            Some(address) => vec![address.to_owned()],
            None => self.local_stores(),
        }
    }

    /// Opens a recorded stack, named by project, stack and cell, without its files: only the site says where its store and its
    /// cluster are.
    pub async fn open_recorded(
        &mut self,
        [project, stack, cell]: [&str; 3],
        site: &Site,
    ) -> Result<OpenStack, AppError> {
        let place = site.place();
        let address = backend::address_without_files(site, &place);
        let cluster = site.cluster.of_stack(None);
        let engine = self.engine(&address, &cluster).await?;
        let engine = with_runtimes(engine, self.runtimes(), None)?;
        let [project, stack, cell] = [project, stack, cell].map(str::to_owned);
        let key = StackKey { project, stack, cell, place };
        Ok(OpenStack { stack: engine.stack(key), cluster })
    }
}

/// Reads the state of a stack. A release whose process has ended is interrupted.
async fn read(store: &Store, key: &StackKey) -> Result<StackState, StoreError> {
    let mut state = store.read(key).await?;
    let is_open = state.releases.iter().any(|it| it.phase == Phase::Running);
    if is_open && !store.is_locked(key).await? {
        let open = state.releases.iter_mut().filter(|it| it.phase == Phase::Running);
        open.for_each(|it| it.phase = Phase::Interrupted);
    }
    Ok(state)
}
