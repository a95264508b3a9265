//! `kusion completion`.

use crate::failure::Failure;
use crate::view;
use clap_complete::Shell;

/// Arguments of `kusion completion`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a script that completes the commands of `kusion`.
pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "kusion", &mut script);
    view::result(&String::from_utf8_lossy(&script))
}
