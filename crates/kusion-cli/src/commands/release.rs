//! `kusion release`.

mod diff;
mod list;
mod log;
mod rollback;
mod show;

pub(crate) use rollback::ready_revision;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command of `kusion release`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the releases of a stack
    List(list::Args),
    /// Show a release and its Spec
    Show(show::Args),
    /// Show the events of a release
    Log(log::Args),
    /// Show the differences between the Specs of two releases
    Diff(diff::Args),
    /// Roll back to the Spec of an earlier release; creates a new release
    Rollback(Box<rollback::Args>),
}

/// Parses the number of a release.
pub(crate) fn number(word: &str) -> Result<u64, String> {
    let wrong = || "expected the number of a release, and then the folder".to_owned();
    word.parse().map_err(|_| wrong())
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Log(args) => log::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Rollback(args) => rollback::run(args),
    }
}
