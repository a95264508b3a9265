//! The evaluator: a program to a value.
//!
//! [`evaluate`] walks the syntax trees of a [`kcl_hir::Program`] directly; names are resolved
//! to stack slots, attributes and globals the first time a statement runs ([`names`]).
//! Globals and schema attributes are lazy: reading one that is not final runs the statements
//! that set it ([`lazy`]). Failures are values, never panics. Knows nothing of files on disk
//! but through [`base_system::System`], and nothing of the command line.
//! Start reading at [`evaluator`].

mod call;
mod calls;
mod check;
mod config;
mod coverage;
mod error;
mod evaluator;
mod expr;
mod host;
mod instance;
mod layout;
mod lazy;
mod library;
mod loops;
mod names;
mod options;
mod ordered;
mod output;
mod partial;
mod plugin;
mod provenance;
mod rule;
mod runtime_type;
mod schema;
mod stack;
mod stmt;
mod typing;
mod union;

pub use calls::{CallLimits, Calls, evaluate_for_calls};
pub use coverage::Hit;
pub use error::EvalError;
pub use evaluator::evaluate;
pub use library::Library;
pub use options::{Earlier, EarlierStream, Evaluated, Limits, Options, Request, Tracking, Usage};
pub use partial::combine;
pub use plugin::{PluginCall, PluginResult, Plugins};
pub use provenance::{Giver, Leaf, LeafOptions, Provenance, Source, Step};
pub use stack::stack_address;
