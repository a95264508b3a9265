//! `kusion cells`.

mod list;
mod matrix;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command of `kusion cells`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the cells of stacks and their clusters
    #[command(visible_alias = "ls")]
    List(list::Args),
    /// Show a value of a stack at all cells, as a table over two axes
    Matrix(matrix::Args),
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list::run(args).map(|()| Exit::Success),
        Command::Matrix(args) => matrix::run(args),
    }
}
