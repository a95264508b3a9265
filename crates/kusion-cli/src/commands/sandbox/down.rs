//! `kusion sandbox down`.

use crate::failure::Failure;
use crate::home;
use crate::state::State;
use crate::view::{self, Output};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

/// Which sandbox is stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default")]
    name: String,
    /// Form of the result
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Stops a sandbox; one that does not run is no failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = home::sandbox(&args.name)?;
    let stopped = match State::load(&args.name)? {
        Some(state) => stop(&state)?,
        None => false,
    };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Failure::file("remove", &folder))?;
    }
    let text = match (args.output, stopped) {
        (Output::Json, _) => format!("{}\n", json!({"name": args.name, "stopped": stopped})),
        (Output::Text, true) => format!("sandbox `{}` is stopped\n", args.name),
        (Output::Text, false) => format!("sandbox `{}` was not running\n", args.name),
    };
    view::result(&text)
}

/// Stops a sandbox; returns whether it ran.
pub(crate) fn stop(state: &State) -> Result<bool, Failure> {
    if state.order("stop").as_deref() != Some("ok") {
        return Ok(false);
    }
    let end = Instant::now() + Duration::from_secs(5);
    while state.is_running() {
        if Instant::now() > end {
            return Err(Failure::Stuck { name: state.name.clone(), pid: state.pid });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(true)
}
