//! Changes to programs from outside: overrides of values by path.
//!
//! [`apply_overrides`] puts `path=value` specs into the trees of the main package before
//! evaluation. Works on syntax only; knows nothing of types and values.

mod apply;
mod graft;
mod spec;

pub use apply::{apply_override, apply_overrides};
pub use spec::{Action, Override, SpecError, split_path};
