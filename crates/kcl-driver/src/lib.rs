//! THE way to compile and run programs; every shell (command line, server, editor) calls
//! only this.
//!
//! API boundary. All entry points take [`RunOptions`] and read settings and files through a
//! [`System`](base_system::System):
//!
//! - [`run`]: one program to its output, as text or as data; [`run_then`] for a process that ends
//!   with it, [`compile`] for the check alone, [`lint`] for the check with lints.
//! - [`Runner`]: one program after the other, on a thread of a [`Pool`].
//! - [`run_batch`]: many stacks to files, and only those that changed.
//! - [`with_layers`]: partial programs, merged in any order.
//! - [`with_functions`]: one program, whose functions are called many times with data.
//!
//! All work on large stacks, so deep programs are safe from any caller.
//!
//! ```
//! use base_system::MemorySystem;
//! use kcl_driver::{RunOptions, run};
//!
//! let system = MemorySystem::new().with_file("/app/main.k", "a = 1 + option('b')");
//! let mut options = RunOptions::files(["/app/main.k"]);
//! options.arguments.push(("b".into(), "41".into()));
//! let output = run(&system, &options).expect("the program is valid");
//! assert_eq!(output.result, "a: 42");
//! ```

mod argument;
mod batch;
mod compile;
mod documents;
pub mod edit;
mod error;
mod evaluate;
mod functions;
mod layers;
mod options;
mod partials;
mod places;
mod plugins;
mod pool;
mod prepare;
mod provenance;
pub mod query;
mod reduced;
mod session;
mod settings;
mod shared;
mod stack;
mod stack_folder;

pub use argument::{ArgumentError, parse_argument};
pub use batch::{
    BatchError, BatchOptions, BatchReport, BatchScope, ListError, Runner, Sharing, Stack,
    StackOutcome, StackState, read_list, run_batch,
};
pub use compile::{Compiled, compile, compile_with_types, lint, load};
pub use documents::Documents;
pub use error::{FailureKind, RunError};
pub use evaluate::{RunOutput, run, run_then};
pub use functions::{Argument, CallError, Function, Functions, with_functions};
pub use kcl_eval::{CallLimits, Hit, Limits, Options as EvalOptions, Tracking, Usage};
pub use kcl_hir::Input;
pub use kcl_pkg::Provider;
pub use kcl_query::Change;
pub use kcl_value::output::OutputOptions;
pub use layers::{Layers, with_layers};
pub use options::{Confinement, Format, RunOptions, SharedProvider};
pub use partials::{PartialEntry, PartialOp, PartialPlace, PartialValue, partial_entries};
pub use places::{LeafPlace, PathStep, Places};
pub use plugins::{NamedPlugin, PluginArguments, PluginOptionError, Plugins, named_plugins};
pub use pool::Pool;
pub use provenance::{Leaf, Origin, PROVENANCE_VERSION, Place, Provenance, Step};
pub use session::Session;
pub use settings::{Settings, SettingsError};
pub use stack_folder::{FindError, StackFolder, find_stacks};
