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
    match commands::run(Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            view::error(&failure);
            ExitCode::from(1)
        }
    }
}
