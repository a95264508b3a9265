//! One kind of infrastructure behind one trait.
//!
//! API boundary. The engine decides what is done; a [`Runtime`] reads, compares, changes and
//! watches live objects, makes dry runs, and says how healthy objects are. It keeps no state and
//! prints nothing. A [`RuntimeSource`] starts one when a stack needs it.

mod error;
mod runtime;

pub use error::{Conflict, RuntimeError};
pub use runtime::{
    Applied, Change, Comparison, Content, Deletion, DryRunResult, Live, Pending, Progress, Related,
    Runtime, RuntimeSource, Target,
};
