//! An embedded Kubernetes API server: a cluster in one process, for a first run, for tests and
//! for rehearsing a release.
//!
//! Knows nothing of the engine. Requests come in by HTTP or by [`Api`] in the same process; both
//! go the same way: decode, default, validate, admit, store, tell the watchers. Reconcilers use
//! [`Api`] as any client would.

mod api;
mod lifecycle;
mod status;

pub use api::{Api, Deletion, Event, EventKind, Propagation, Resource, Scope, Selection, Write};
pub use status::Status;
