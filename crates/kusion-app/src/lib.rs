//! The common layer of the command line and a server.
//!
//! API boundary. [`App`] opens stacks: it finds their store, key and infrastructure, and returns
//! handles of the engine, unless [`trust`] is missing for settings of a repository; it also lists
//! the stacks of a store ([`StackEntry`]). [`releases`] compares the Specs of releases, [`wire`]
//! defines the JSON output for programs; [`policies`] lets the engine evaluate
//! the policies of repositories; [`UserConfig`] is the file with the user's defaults. Shells on top parse arguments and requests, and format the
//! results. Prints nothing, and asks for nothing.

mod app;
mod backend;
mod cells;
mod cluster;
mod config;
mod error;
mod inventory;
pub mod policies;
pub mod releases;
mod runtimes;
pub mod secrets;
pub mod trust;
pub mod wire;

pub use app::{App, OpenStack, Site};
pub use cells::check_cells;
pub use cluster::{Cluster, ClusterRequest};
pub use config::{ProviderConfig, UserConfig};
pub use error::AppError;
pub use inventory::{Audited, StackEntry};
pub use runtimes::{RuntimeSettings, is_program_type};
