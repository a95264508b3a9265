//! `kusion sandbox kubeconfig`.

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::view;
use std::fs;

/// Arguments of `kusion sandbox kubeconfig`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default")]
    name: String,
    /// Print the path of the kubeconfig file instead
    #[arg(long)]
    path: bool,
}

/// Prints a kubeconfig.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let state = Daemon::load(&args.name)?.ok_or_else(|| Failure::Unknown(args.name.clone()))?;
    if !state.is_running() {
        return Err(Failure::NotRunning(args.name.clone()));
    }
    let path = state.kubeconfig()?;
    if args.path {
        return view::result(&format!("{}\n", path.display()));
    }
    let text = fs::read_to_string(&path).map_err(Failure::file("read", &path))?;
    view::result(&text)
}
