//! The stacks of a store, without their files.

use crate::app::{App, OpenStack, Site};
use crate::backend;
use crate::error::AppError;
use kusion_model::StackKey;
use kusion_store::{StackState, StoreError};

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
        let addresses = match backend.filter(|it| !it.is_empty()) {
            Some(address) => vec![address.to_owned()],
            None => self.local_stores(),
        };
        let mut entries = Vec::new();
        for address in addresses {
            let store = self.store(&address).await?;
            for key in store.stacks().await? {
                let state = store.read(&key).await;
                entries.push(StackEntry { key, store: store.place().to_owned(), state });
            }
        }
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(entries)
    }

    /// Opens a recorded stack without its files: only the site says where its store and its
    /// cluster are.
    pub async fn open_recorded(
        &mut self,
        project: &str,
        stack: &str,
        site: &Site,
    ) -> Result<OpenStack, AppError> {
        let place = site.place();
        let address = backend::address_without_files(site, &place);
        let cluster = site.cluster.of_stack(None);
        let engine = self.engine(&address, &cluster).await?;
        let cell = site.cell.clone();
        let key = StackKey { project: project.to_owned(), stack: stack.to_owned(), cell, place };
        Ok(OpenStack { stack: engine.stack(key), cluster })
    }
}
