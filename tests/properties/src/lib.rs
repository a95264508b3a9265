//! Laws that every program obeys; the tests of this crate look for counterexamples.
//!
//! Here are the generators and the way to run a text; the laws are in `tests/it`.

mod attributes;
mod ordered;
mod permute;

pub use attributes::Attributes;
pub use ordered::{Outcome, Program};
pub use permute::permutations;
