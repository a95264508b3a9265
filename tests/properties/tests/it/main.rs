//! The laws, each tried on many random programs.

mod determinism;
mod order;
mod ordered;

use base_system::MemorySystem;
use kcl_driver::{RunOptions, run};

/// Runs a program; the result is its output with sorted keys, or the first message.
fn outcome(text: &str) -> Result<String, String> {
    let system = MemorySystem::new().with_file("/main.k", text);
    let mut options = RunOptions::files(["/main.k"]);
    options.output.sort_keys = true;
    run(&system, &options).map(|output| output.result).map_err(|error| error.to_string())
}
