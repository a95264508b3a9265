//! What a command line and a server have in common.
//!
//! API boundary. [`App`] opens stacks: it finds their store, key and infrastructure, and hands out
//! handles of the engine. [`releases`] compares what releases were made of, [`wire`] is the form in
//! which results go to programs. Shells on top parse arguments and requests, and make words of
//! what comes back. Prints nothing, and asks nobody.

mod app;
mod backend;
mod error;
pub mod releases;
pub mod secrets;
pub mod wire;

pub use app::{App, Cluster, OpenStack, Site};
pub use error::AppError;
