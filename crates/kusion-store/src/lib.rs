//! What is known of stacks, durable and shared: journals, snapshots, Specs of releases, leases.
//!
//! API boundary. [`Store::open`] chooses a backend by URL; [`Store::read`] looks at a stack,
//! [`Store::take`] makes this process the only one that changes it, [`Session::append`] writes
//! records. Backends hold bytes by key and know how to compare and swap; everything else (what a
//! record is, who holds a stack, what damage looks like) is the same for all of them.
//!
//! Knows no runtime and no plan. Reads the machine's process table to learn whether a holder is
//! dead, and nothing else of the system.

mod auth;
mod backend;
mod error;
mod frame;
mod holder;
mod journal;
mod lease;
mod meta;
mod operation;
mod session;
mod state;
mod store;

pub use auth::StoreKey;
pub use backend::{Backend, BackendError, Expected, Memory, PutError, Version};
pub use error::StoreError;
pub use holder::Holder;
pub use lease::{LEASE_TIME, LockWait, RENEWAL};
pub use operation::{new_id, now};
pub use session::Session;
pub use state::{PendingStep, ReleaseEntry, SeenHealth, StackState};
pub use store::{SCHEMES, Store};
