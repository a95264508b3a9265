//! An embedded Kubernetes API server: a cluster in one process, for a first run, for tests and
//! for rehearsing a release.
//!
//! Knows nothing of the engine. Requests come in by HTTP or by [`Api`] in the same process; both
//! go the same way: decode, default, validate, admit, store, tell the watchers. Reconcilers use
//! [`Api`] as any client would.

mod admission;
mod api;
pub mod clock;
mod cluster;
mod controllers;
mod convert;
mod crd;
mod credentials;
mod defaults;
mod faults;
mod fields;
mod http;
mod lifecycle;
pub mod object;
mod pods;
mod rbac;
mod registry;
mod reviews;
mod sandbox;
mod selector;
mod status;
mod store;
mod subresources;
mod table;
mod validate;
mod warnings;
mod write;

pub use api::{
    Api, Caller, Deletion, Event, EventKind, PatchKind, Propagation, Resource, ResourceFacts,
    Scope, Selection, Subscription, Validation, Write,
};
pub use controllers::{Clock, ControllerOptions, Controllers, Reconcilers, SystemClock};
pub use credentials::{Credentials, random_token};
pub use faults::{Fault, FaultKind, Faults};
pub use kusion_k8s_schema::Cause;
pub use lifecycle::bootstrap::ServerAddress;
pub use pods::nodes::Nodes;
pub use sandbox::{Options, Sandbox};
pub use selector::{FieldSelector, LabelSelector};
pub use status::Status;
pub use store::remove_objects;
