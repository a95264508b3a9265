//! The commands.

mod sandbox;

use crate::failure::Failure;
use clap::Subcommand;

/// A command of `kusion`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A Kubernetes API on this machine, without a cluster
    #[command(subcommand)]
    Sandbox(sandbox::Command),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Sandbox(command) => sandbox::run(command),
    }
}
