//! Runs the binary in temporary folders and compares what it says.

mod batch;
mod confined;
mod docs;
mod errors;
mod examples;
mod output;
#[cfg(unix)]
mod packages;
#[cfg(unix)]
mod plugins;
#[cfg(target_os = "linux")]
mod position;
mod sandbox;
mod settings;
mod snapshots;
mod tools;
mod usage;
