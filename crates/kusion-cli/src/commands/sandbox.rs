//! `kusion sandbox`.

mod control;
mod copy;
mod down;
mod fault;
mod kubeconfig;
mod lock;
mod logs;
pub(crate) mod nodes;
mod reset;
mod status;
mod up;

pub(crate) use up::{ensure, ensure_known};

use crate::failure::Failure;
use clap::Subcommand;

/// A command of `kusion sandbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a sandbox and wait until it is ready
    Up(up::Args),
    /// Print the kubeconfig of a running sandbox
    Kubeconfig(kubeconfig::Args),
    /// List sandboxes
    #[command(visible_aliases = ["list", "ls"])]
    Status(status::Args),
    /// Print the log of a sandbox
    Logs(logs::Args),
    /// Delete all objects of a running sandbox; its address stays the same
    Reset(reset::Args),
    /// Make a running sandbox fail on purpose, to test clients
    Fault(fault::Args),
    /// Stop sandboxes and delete their data
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
        Command::Fault(args) => fault::run(&args),
        Command::Down(args) => down::run(&args),
    }
}
