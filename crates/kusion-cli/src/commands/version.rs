//! `kusion version`.

use crate::failure::Failure;
use crate::view::{self, Output};
use kusion_app::wire::VersionDocument;
use std::env::consts::{ARCH, OS};

/// Arguments of `kusion version`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Prints the version.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    view::result(&match args.output {
        Output::Text => format!("kusion {version} ({OS}/{ARCH})\n"),
        Output::Json => VersionDocument { version, os: OS, arch: ARCH }.text(),
    })
}
