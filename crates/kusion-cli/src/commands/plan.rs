//! `kusion plan`: saved plans.

mod approve;
mod show;

pub(crate) use approve::decisions_about;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command on saved plans.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a saved plan (see `kusion preview --save`)
    Show(show::Args),
    /// Approve a saved plan in a role that its policies ask for
    Approve(approve::Args),
}

/// Runs a command on saved plans.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Show(args) => show::run(args),
        Command::Approve(args) => approve::run(args),
    }
}
