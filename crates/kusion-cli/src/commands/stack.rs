//! `kusion stack`.

mod forget;
mod list;
mod r#move;
mod show;

use crate::arguments::SiteArgs;
use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command of `kusion stack`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the stacks of a state store
    #[command(visible_alias = "ls")]
    List(list::Args),
    /// Show the recorded resources of a stack
    Show(Box<show::Args>),
    /// Remove the resources of a stack from its state; their objects are left alone
    Forget(Box<forget::Args>),
    /// Confirm that the files of a stack moved to another folder or repository
    Move(Box<r#move::Args>),
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Forget(args) => forget::run(args),
        Command::Move(args) => r#move::run(args),
    }
}

/// Selects a stack of a state store, without its files.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecordedArgs {
    /// The stack, as `kusion stack list` shows it
    #[arg(value_name = "PROJECT/STACK", value_parser = stack_name)]
    pub(crate) stack: StackName,
    #[command(flatten)]
    pub(crate) site: SiteArgs,
}

/// The name of a stack with its project.
#[derive(Debug, Clone)]
pub(crate) struct StackName {
    /// The project.
    pub(crate) project: String,
    /// The stack.
    pub(crate) stack: String,
    /// The cell; empty for a stack without cells.
    pub(crate) cell: String,
}

/// Parses `PROJECT/STACK` or `PROJECT/STACK/CELL`.
pub(crate) fn stack_name(text: &str) -> Result<StackName, String> {
    match text.split_once('/') {
        Some((project, stack)) if !project.is_empty() && !stack.is_empty() => {
            let (stack, cell) = stack.split_once('/').unwrap_or((stack, ""));
            let [project, stack, cell] = [project, stack, cell].map(str::to_owned);
            Ok(StackName { project, stack, cell })
        }
        _ => Err("expected `PROJECT/STACK`".to_owned()),
    }
}
