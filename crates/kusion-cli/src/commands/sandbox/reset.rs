//! `kusion sandbox reset`.

use super::copy::CopyArgs;
use super::nodes::NodeArgs;
use super::{down, lock, up};
use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::home;
use crate::view::{self, Output};

/// Arguments of `kusion sandbox reset`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default")]
    name: String,
}

/// Restarts a sandbox without its objects; keeps its address, token and kubeconfig.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let _lock = lock::command(&args.name)?;
    let state = Daemon::load(&args.name)?.ok_or_else(|| Failure::Unknown(args.name.clone()))?;
    if down::stop(&state, down::PATIENCE)? == down::End::WasNotRunning {
        return Err(Failure::NotRunning(args.name.clone()));
    }
    if let Some(data) = &state.data {
        kusion_sandbox::remove_objects(data).map_err(Failure::file("remove objects in", data))?;
    }
    let again = up::Args {
        name: state.name.clone(),
        port: state.port,
        plain: !state.tls,
        tls: false,
        nodes: NodeArgs::from_nodes(&state.nodes),
        data: state.data.clone(),
        copy: CopyArgs::default(),
        foreground: false,
        output: Output::Text,
    };
    up::background(&again, &home::sandbox(&args.name)?)?;
    view::result(&format!("reset sandbox `{}` at {}\n", args.name, state.url))
}
