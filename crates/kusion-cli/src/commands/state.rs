//! `kusion state`.

use crate::failure::Failure;
use crate::{home, interrupt, view};
use clap::Subcommand;
use kusion_store::Store;

/// A command of `kusion state`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rename the data of an earlier version; nothing is deleted
    SetAside(SetAsideArgs),
}

/// Arguments of `kusion state set-aside`.
#[derive(Debug, clap::Args)]
pub(crate) struct SetAsideArgs {
    /// State store [default: a file in `KUSION_HOME`]
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    backend: Option<String>,
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::SetAside(args) => set_aside(args),
    }
}

fn set_aside(args: &SetAsideArgs) -> Result<(), Failure> {
    let (address, home) = (args.backend.clone().unwrap_or_default(), home::folder()?);
    let aside = interrupt::read(async { Ok(Store::set_aside(&address, &home).await?) })?;
    view::result(&format!(
        "moved to {aside}\nthe next apply of each stack adopts its live resources; \
         earlier releases are not listed\n"
    ))
}
