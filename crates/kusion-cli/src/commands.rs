//! The commands.

mod compile;
mod completion;
mod graph;
mod init;
mod ls;
mod sandbox;
mod source;
mod version;

use crate::failure::Failure;
use clap::{CommandFactory as _, Subcommand};

/// A command of `kusion`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a project from a template
    Init(init::Args),
    /// Show which projects and stacks there are
    Ls(ls::Args),
    /// Show the Spec that stacks compile to
    #[command(visible_alias = "generate")]
    Compile(compile::Args),
    /// Show which resources need which
    Graph(graph::Args),
    /// A Kubernetes API on this machine, without a cluster
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    /// Print a script that completes commands in a shell
    Completion(completion::Args),
    /// Print the version
    Version(version::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Init(args) => init::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Completion(args) => completion::run(&args, crate::Args::command()),
        Command::Version(args) => version::run(&args),
        Command::Sandbox(command) => sandbox::run(command),
    }
}
