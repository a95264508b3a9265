//! The interface between the engine and one kind of infrastructure.
//!
//! API boundary. The engine decides; a [`Runtime`] reads, compares, changes and watches live
//! objects, makes dry runs, and reports health. It keeps no state and prints nothing. A
//! [`RuntimeSource`] starts a runtime when a stack uses it for the first time.

mod error;
mod runtime;

pub use error::RuntimeError;
pub use kusion_model::Conflict;
pub use runtime::{
    Applied, Change, Comparison, Content, Deletion, DryRunResult, Live, Pending, Progress, Related,
    Runtime, RuntimeSource, Target, WaitSink,
};
