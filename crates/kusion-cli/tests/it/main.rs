//! Runs the binary as a user would, each test in a home of its own.

mod cells;
mod conflicts;
mod data;
#[cfg(unix)]
mod live;
mod logs;
mod manners;
mod operations;
#[cfg(unix)]
mod pictures;
#[cfg(unix)]
mod questions;
#[cfg(unix)]
mod recorder;
mod releases;
mod sandbox;
mod secrets;
mod snapshots;
mod stacks;
mod states;
mod support;
mod trust;
