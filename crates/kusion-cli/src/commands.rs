//! The commands.

mod apply;
mod destroy;
mod preview;
mod release;
pub(crate) mod sandbox;
mod status;
mod watch;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command of `kusion`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what applying stacks would do
    Preview(Box<preview::Args>),
    /// Bring stacks to what they compile to
    Apply(Box<apply::Args>),
    /// Delete everything of stacks
    Destroy(Box<destroy::Args>),
    /// Show what stacks own and how it fares
    Status(status::Args),
    /// Show how stacks fare, again and again
    Watch(watch::Args),
    /// What was done to a stack, and the way back
    #[command(subcommand)]
    Release(release::Command),
    /// A Kubernetes API on this machine, without a cluster
    #[command(subcommand)]
    Sandbox(sandbox::Command),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Preview(args) => preview::run(&args),
        Command::Apply(args) => apply::run(&args),
        Command::Destroy(args) => destroy::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Release(command) => release::run(&command),
        Command::Sandbox(command) => sandbox::run(command).map(|()| Exit::Success),
    }
}
