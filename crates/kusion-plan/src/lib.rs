//! Planning as pure functions: from the desired, recorded and live state to a plan.
//!
//! API boundary. [`decide`] chooses the action for one resource, [`order`] orders the steps,
//! [`refusals`] returns the steps that guards reject; [`differences`] and [`text_differences`]
//! compare values and texts; [`graph`] is the dependency graph. No clock,
//! no network, no store.

mod decide;
mod diff;
pub mod graph;
mod guard;
mod management;
mod order;
mod waves;

pub use base_text::{DiffLine, Hunk, text_differences};
pub use decide::{Context, DryRun, Facts, Observed, Ownership, decide, is_alike};
pub use diff::{Difference, ListRules, desired_differences, differences};
pub use guard::{Refusal, emptied_containers, refusals};
pub use order::{is_match, keep_targets, order};
pub use waves::waves;
