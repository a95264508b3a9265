//! Runs the binary as a user would, each test in a home of its own.

mod sandbox;
mod stacks;
