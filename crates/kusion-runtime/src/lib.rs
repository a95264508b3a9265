//! One kind of infrastructure behind one trait.
//!
//! API boundary. The engine decides what is done; a [`Runtime`] reads, rehearses, changes and
//! watches live objects, and says how they fare. It keeps no state and prints nothing.

mod error;
mod runtime;

pub use error::{Conflict, RuntimeError};
pub use runtime::{
    Applied, Change, Comparison, Deletion, Live, Pending, Progress, Rehearsal, Related, Runtime,
    Target,
};
