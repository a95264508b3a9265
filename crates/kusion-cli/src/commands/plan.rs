//! `kusion plan`: saved plans.

mod show;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command on saved plans.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a saved plan (see `kusion preview --save`)
    Show(show::Args),
}

/// Runs a command on saved plans.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Show(args) => show::run(args),
    }
}
