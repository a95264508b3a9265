//! Machines that are reached over SSH, and the local machine, as an infrastructure of the engine.
//!
//! [`HostRuntime`] is the runtime: files, directories, packages, services, users and commands of
//! [`Host`]s. Nothing is installed on a host: one POSIX shell script for each call goes to the
//! standard input of `/bin/sh` there, and its answers come back as lines ([`script`]). Values of
//! resources are part of a script only in quotes ([`quote`]).
//!
//! `connection` runs scripts, over the `ssh` program of the user with one connection for each host;
//! `exec` bounds the time and the output of programs. `items` has one file for each kind of
//! resource; the shell functions of a kind are in `sh`. A host is not trusted: its answers are
//! limited in size and time, and checked.

mod address;
mod answer;
mod attributes;
mod connection;
mod error;
mod exec;
mod hosts;
mod items;
mod quote;
mod runtime;
mod script;

pub use address::RESOURCE_TYPE;
pub use connection::{Limits, Ssh};
pub use hosts::{Escalation, Host, Hosts};
pub use runtime::{HostRuntime, HostSettings, HostSource};
