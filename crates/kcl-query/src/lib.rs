//! Questions about programs and changes from outside, by path.
//!
//! [`apply_overrides`] puts `path=value` specs into the trees of the main package before
//! evaluation, [`apply_changes`] data; [`list_variables`] and [`list_options`] say what is written there. Works on syntax
//! only; knows nothing of types and values.

mod apply;
mod change;
mod graft;
mod options;
mod spec;
mod variables;

pub use apply::{apply_override, apply_overrides};
pub use change::{Change, ChangeError, apply_changes};
pub use options::{OptionInfo, list_options};
pub use spec::{Action, Override, SpecError, split_path};
pub use variables::{Variable, list_variables};
