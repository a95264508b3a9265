//! What is to be done, as pure functions: from the desired, recorded and live form to a plan.
//!
//! API boundary. [`decide`] chooses the action for one resource, [`order`] says which step waits
//! for which, [`refusals`] what must not be done unasked; [`graph`] is the graph of
//! resources. No clock, no network, no store.

mod decide;
mod diff;
pub mod graph;
mod guard;
mod order;

pub use decide::{Context, DryRun, Facts, Observed, decide, is_alike};
pub use diff::{Difference, desired_differences, differences};
pub use guard::{Refusal, refusals};
pub use order::{keep_targets, order};
