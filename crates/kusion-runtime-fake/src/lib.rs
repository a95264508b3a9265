//! A runtime over a folder, for tests of the engine. Never shipped.
//!
//! It assigns a new id to every created object, so that tests can detect an engine that creates an
//! object twice. The folder outlives its processes and may be used by several at a time. [`Faults`]
//! say which calls fail, and how.

mod faults;
mod folder;
mod runtime;

pub use faults::{Fault, FaultKind, Faults};
pub use folder::{Folder, Stored, Tag};
pub use runtime::{FileRuntime, FileSource};

/// The name of the runtime in resources.
pub const RESOURCE_TYPE: &str = "Fake";
