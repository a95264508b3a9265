//! What is to be done, as pure functions: from what is wanted, known and there to a plan.
//!
//! API boundary. [`decide`] chooses the action for one resource, [`order`] says which step waits
//! for which, [`refusals`] what must not be done unasked; [`graph`] is the graph of
//! resources. No clock, no network, no store.

mod decide;
mod diff;
pub mod graph;
mod guard;
mod order;

pub use decide::{Context, Facts, Observed, Outlook, decide, is_alike};
pub use diff::{Difference, differences, wanted_differences};
pub use guard::{Guards, Refusal, refusals};
pub use order::{keep_targets, order};
