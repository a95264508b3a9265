//! Runs the binary as a user would, each test in a home of its own.

mod logs;
mod operations;
mod releases;
mod sandbox;
mod secrets;
mod snapshots;
mod stacks;
mod states;
mod support;
mod trust;
