//! `kusion sandbox`.

mod control;
mod down;
mod kubeconfig;
mod logs;
mod reset;
mod status;
mod up;

pub(crate) use up::ensure;

use crate::failure::Failure;
use clap::Subcommand;

/// A command of `kusion sandbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a sandbox; returns when it is ready
    Up(up::Args),
    /// Print the kubeconfig of a running sandbox
    Kubeconfig(kubeconfig::Args),
    /// Show which sandboxes there are
    Status(status::Args),
    /// Print what a sandbox in the background has written
    Logs(logs::Args),
    /// Start a running sandbox afresh, at the same address
    Reset(reset::Args),
    /// Stop a sandbox and forget it
    Down(down::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Up(args) => up::run(&args),
        Command::Kubeconfig(args) => kubeconfig::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Reset(args) => reset::run(&args),
        Command::Down(args) => down::run(&args),
    }
}
