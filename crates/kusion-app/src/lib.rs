//! The common layer of the command line and a server.
//!
//! API boundary. [`App`] opens stacks: it finds their store, key and infrastructure, and returns
//! handles of the engine. [`releases`] compares the Specs of releases, [`wire`] defines the JSON
//! output for programs. Shells on top parse arguments and requests, and format the results. Prints
//! nothing, and asks for nothing.

mod app;
mod backend;
mod error;
pub mod releases;
pub mod secrets;
pub mod wire;

pub use app::{App, Cluster, OpenStack, Site};
pub use error::AppError;
