//! The durable, shared state of stacks: journals, snapshots, Specs of releases, leases.
//!
//! API boundary. [`Store::open`] chooses a backend by URL; [`Store::read`] reads the state of a
//! stack, [`Store::lock`] locks it for this process, [`Session::append`] writes records. Backends
//! store bytes by key with compare-and-swap; everything else (records, locks, detection of damage)
//! is the same for all of them.
//!
//! Independent of runtimes and plans. Reads the process table of the machine to find out whether a
//! lock holder has ended, and nothing else of the system.

mod audit;
mod auth;
mod backend;
mod error;
mod frame;
mod holder;
mod journal;
mod lease;
mod machine;
mod meta;
mod operation;
mod session;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use auth::StoreKey;
pub use backend::{Backend, BackendError, Expected, Memory, PutError, Version};
pub use error::StoreError;
pub use holder::Holder;
pub use lease::{LEASE_TIME, LockWait, RENEWAL};
pub use operation::{millis_of, new_id, now, now_millis};
pub use session::Session;
pub use state::{PendingStep, ReleaseEntry, SeenHealth, StackState};
pub use store::{SCHEMES, Store};
