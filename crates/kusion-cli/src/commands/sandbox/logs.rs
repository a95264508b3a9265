//! `kusion sandbox logs`.

use crate::failure::Failure;
use crate::home;
use crate::view;
use std::fs;

/// Arguments of `kusion sandbox logs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default")]
    name: String,
}

/// Prints the log of a sandbox in the background.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let path = home::sandbox(&args.name)?.join("log");
    if !path.exists() {
        return Err(Failure::Unknown(args.name.clone()));
    }
    view::result(&fs::read_to_string(&path).map_err(Failure::file("read", &path))?)
}
