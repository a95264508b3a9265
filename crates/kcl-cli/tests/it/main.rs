//! Runs the binary in temporary folders and compares what it says.

mod batch;
mod confined;
mod docs;
mod errors;
mod examples;
mod output;
mod sandbox;
mod settings;
mod snapshots;
mod usage;
