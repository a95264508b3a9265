//! `kusion man`: writes the manual pages, for packagers.

use crate::failure::Failure;
use std::fs;
use std::path::PathBuf;

/// Arguments of `kusion man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the pages, `kusion.1`, `kusion-apply.1` and so on
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes one manual page for each command into a folder.
pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), Failure> {
    let folder = &args.folder;
    fs::create_dir_all(folder).map_err(Failure::file("create", folder))?;
    clap_mangen::generate_to(command, folder).map_err(Failure::file("write", folder))
}
