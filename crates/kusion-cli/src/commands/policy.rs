//! `kusion policy`: the policies of repositories.

mod explain;
mod fixes;
mod folder;
mod list;
mod replay;
pub(crate) mod report;
mod scan;
mod test;

pub(crate) use fixes::fix_all;

use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// A command on policies.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List policies
    #[command(name = "list", visible_alias = "ls")]
    List(list::Args),
    /// Show what a policy is about, and whom it is for
    Explain(explain::Args),
    /// Run the tests of policies, and show which rules they cover
    Test(test::Args),
    /// Check the live objects of a stack
    Scan(scan::Args),
    /// Show what policies would have found in the last releases of a stack
    Replay(replay::Args),
}

/// Runs a command on policies.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Test(args) => test::run(args),
        Command::Scan(args) => scan::run(args),
        Command::Replay(args) => replay::run(args),
    }
}
