//! `kusion plan show`.

use crate::arguments::{PlanViewArgs, app};
use crate::failure::{Exit, Failure};
use crate::view::View;
use crate::view::style::one_line;
use crate::view::words::of_operation;
use base_system::{OsSystem, System as _};
use kusion_engine::{EngineError, Silent, read_plans};
use kusion_model::{Operation, Origins, Place, Plan};
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `kusion plan show`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File of the plan
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    view: PlanViewArgs,
}

/// Shows the plans of a file, after checking that nobody changed it.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| show(args, view))
}

fn show(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let bytes = OsSystem.read(&args.file).map_err(Failure::file("read", &args.file))?;
    let keyed = app(Arc::new(Silent), 1)?;
    let saved = read_plans(&bytes, keyed.sealer()).map_err(EngineError::from)?;
    for plan in &saved.plans {
        view.plan(&one_line(&title(plan)), plan, &[], &Origins::default());
    }
    view.summary(&saved.plans.iter().collect::<Vec<_>>());
    Ok(Exit::Success)
}

/// Returns the stack, the operation and the cluster of a plan, for display.
fn title(plan: &Plan) -> String {
    let what = match plan.operation {
        Operation::Apply => String::new(),
        operation => format!("{} of ", of_operation(operation)),
    };
    let servers: Vec<&str> = plan.infrastructure.values().map(|it| it.name.as_str()).collect();
    match &plan.key.place {
        Place::Sandbox(name) => format!("{what}{} on sandbox `{name}`", plan.key),
        _ if servers.is_empty() => format!("{what}{}", plan.key),
        _ => format!("{what}{} on {}", plan.key, servers.join(", ")),
    }
}
