//! The binary `kusion`: parses the command line, runs one command, prints its failure.

mod commands;
mod failure;
mod home;
mod state;
mod view;

use clap::Parser;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Delivers applications to the clouds, and rehearses it in a sandbox.
#[derive(Debug, Parser)]
#[command(name = "kusion", version, propagate_version = true)]
struct Args {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    use_small_pages();
    match commands::run(Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            view::error(&failure);
            ExitCode::from(1)
        }
    }
}

/// Keeps the kernel from giving 2 MB for the first byte that is used of them; what this process
/// starts inherits it. Without it, all works the same but takes more memory.
fn use_small_pages() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}
