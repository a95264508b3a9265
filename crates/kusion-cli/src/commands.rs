//! The commands.

mod apply;
mod cells;
mod check;
mod compile;
mod completion;
mod destroy;
mod explain;
mod graph;
mod help;
mod impact;
mod init;
mod key;
mod ls;
mod man;
mod plan;
mod policy;
mod preview;
mod provider;
pub(crate) mod release;
mod runtime;
pub(crate) mod sandbox;
mod set;
pub(crate) mod stack;
mod state;
mod status;
pub(crate) mod trust;
mod version;
mod watch;

use crate::failure::{Exit, Failure};
use clap::{CommandFactory as _, Subcommand};

/// A command of `kusion`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a project from a template
    Init(init::Args),
    /// List projects and stacks
    Ls(ls::Args),
    /// Show the Spec that stacks compile to
    #[command(visible_alias = "generate")]
    Compile(compile::Args),
    /// Show which layer sets a value of the configuration, and why
    Explain(explain::Args),
    /// Set a value of the configuration in the file that owns it, or in the layer for some cells
    Set(set::Args),
    /// List the cells of stacks, and compare values between them
    #[command(subcommand)]
    Cells(cells::Command),
    /// Check stacks: policies, and conflicts, locks and expiry of layers
    Check(check::Args),
    /// List, explain, test and replay policies, and scan live objects
    #[command(subcommand)]
    Policy(policy::Command),
    /// Show which values at which cells the changes since a commit affect
    Impact(impact::Args),
    /// Show the dependency graph of a stack's resources
    Graph(graph::Args),
    /// Show what applying stacks would do
    #[command(visible_alias = "diff")]
    Preview(Box<preview::Args>),
    /// Show and approve saved plans
    #[command(subcommand)]
    Plan(plan::Command),
    /// Apply stacks: create, update and delete resources to match the Spec
    Apply(Box<apply::Args>),
    /// Delete all resources of stacks
    #[command(visible_alias = "delete")]
    Destroy(Box<destroy::Args>),
    /// Show a stack's resources and their health
    Status(status::Args),
    /// Watch the health of stacks until interrupted
    Watch(watch::Args),
    /// List, show, compare and roll back releases
    #[command(subcommand)]
    Release(release::Command),
    /// List, show, forget and move the stacks of a state store
    #[command(subcommand)]
    Stack(stack::Command),
    /// Manage embedded clusters on this machine
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    /// Manage the encryption key of secrets and plans
    #[command(subcommand)]
    Key(key::Command),
    /// Manage the state store
    #[command(subcommand)]
    State(state::Command),
    /// Manage the Terraform providers of stacks
    #[command(subcommand)]
    Provider(provider::Command),
    /// Test programs that are runtimes
    #[command(subcommand)]
    Runtime(runtime::Command),
    /// Trust settings of a repository
    Trust(trust::Args),
    /// Print a shell completion script
    Completion(completion::Args),
    /// Print the version
    Version(version::Args),
    /// Show help for a command or a topic; `kusion help topics` lists the topics
    Help(help::Args),
    /// Write manual pages to a folder
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::run(&args).map(|()| Exit::Success),
        Command::Ls(args) => ls::run(&args).map(|()| Exit::Success),
        Command::Compile(args) => compile::run(&args).map(|()| Exit::Success),
        Command::Explain(args) => explain::run(&args),
        Command::Set(args) => set::run(&args),
        Command::Cells(command) => cells::run(&command),
        Command::Check(args) => check::run(&args),
        Command::Policy(command) => policy::run(&command),
        Command::Impact(args) => impact::run(&args),
        Command::Graph(args) => graph::run(&args).map(|()| Exit::Success),
        Command::Preview(args) => preview::run(&args),
        Command::Plan(command) => plan::run(&command),
        Command::Apply(args) => apply::run(&args),
        Command::Destroy(args) => destroy::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Release(command) => release::run(&command),
        Command::Stack(command) => stack::run(&command),
        Command::Sandbox(command) => sandbox::run(command).map(|()| Exit::Success),
        Command::Key(command) => key::run(&command).map(|()| Exit::Success),
        Command::State(command) => state::run(&command),
        Command::Provider(command) => provider::run(&command),
        Command::Runtime(command) => runtime::run(&command),
        Command::Trust(args) => trust::run(&args).map(|()| Exit::Success),
        Command::Completion(args) => {
            completion::run(&args, crate::Args::command()).map(|()| Exit::Success)
        }
        Command::Version(args) => version::run(&args).map(|()| Exit::Success),
        Command::Man(args) => man::run(&args, crate::Args::command()).map(|()| Exit::Success),
        Command::Help(args) => help::run(&args, crate::Args::command()).map(|()| Exit::Success),
    }
}
