//! The commands.

mod apply;
mod compile;
mod completion;
mod destroy;
mod graph;
mod init;
mod ls;
mod preview;
mod release;
pub(crate) mod sandbox;
mod status;
mod version;
mod watch;

use crate::failure::{Exit, Failure};
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
    /// Print a script that completes commands in a shell
    Completion(completion::Args),
    /// Print the version
    Version(version::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::run(&args).map(|()| Exit::Success),
        Command::Ls(args) => ls::run(&args).map(|()| Exit::Success),
        Command::Compile(args) => compile::run(&args).map(|()| Exit::Success),
        Command::Graph(args) => graph::run(&args).map(|()| Exit::Success),
        Command::Preview(args) => preview::run(&args),
        Command::Apply(args) => apply::run(&args),
        Command::Destroy(args) => destroy::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Release(command) => release::run(&command),
        Command::Sandbox(command) => sandbox::run(command).map(|()| Exit::Success),
        Command::Completion(args) => {
            completion::run(&args, crate::Args::command()).map(|()| Exit::Success)
        }
        Command::Version(args) => version::run(&args).map(|()| Exit::Success),
    }
}
