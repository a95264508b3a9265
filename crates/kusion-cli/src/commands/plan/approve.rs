//! `kusion plan approve`.

use crate::arguments::app;
use crate::daemon::write_private;
use crate::failure::{Exit, Failure};
use crate::view;
use base_system::{OsSystem, System as _};
use kusion_app::policies::{actor, now};
use kusion_engine::{EngineError, Silent, read_decisions, read_plans, write_decision};
use kusion_model::{Plan, PolicyDecision, PolicyLevel};
use kusion_secret::Sealer;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `kusion plan approve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File of the plan
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Role of the approval
    #[arg(long = "as", value_name = "ROLE")]
    role: String,
    /// Reason of the approval
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    message: String,
}

/// Records the approval of a plan, in a file beside it.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let bytes = OsSystem.read(&args.file).map_err(Failure::file("read", &args.file))?;
    let keyed = app(Arc::new(Silent), 1)?;
    let saved = read_plans(&bytes, keyed.sealer()).map_err(EngineError::from)?;
    let roles = roles(&saved.plans);
    if !roles.contains(&args.role.as_str()) {
        let known = match roles.join("`, `") {
            known if known.is_empty() => "it needs no approval".to_owned(),
            known => format!("expected `{known}`"),
        };
        let role = &args.role;
        return Err(Failure::Usage(format!("the plan needs no approval as `{role}`: {known}")));
    }
    // A file that was changed must not get another line.
    let mut decisions = decisions_about(&args.file, &saved.digest, keyed.sealer())?;
    let user = actor();
    if decisions.iter().any(|it| it.role == args.role && it.actor == user) {
        view::result(&format!("already approved as {}\n", args.role))?;
        return Ok(Exit::Success);
    }
    let decision = PolicyDecision {
        role: args.role.clone(),
        actor: user,
        time: now().millis,
        reason: args.message.clone(),
    };
    let path = approvals(&args.file);
    let mut text = OsSystem.read_to_string(&path).unwrap_or_default();
    text.push_str(&write_decision(&saved.digest, &decision, keyed.sealer()));
    write_private(&path, &text)?;
    decisions.push(decision);
    let missing: Vec<&str> =
        roles.into_iter().filter(|role| !decisions.iter().any(|it| it.role == *role)).collect();
    let rest = match missing.as_slice() {
        [] => String::new(),
        roles => format!("; approvals are still missing as {}", roles.join(", ")),
    };
    view::result(&format!("approved as {}{rest}\n", args.role))?;
    Ok(Exit::Success)
}

/// Returns the roles that findings of plans ask for, in order.
fn roles(plans: &[Plan]) -> Vec<&str> {
    let findings = plans.iter().flat_map(|it| &it.policies).flat_map(|it| &it.findings);
    let mut roles: Vec<&str> = findings
        .filter(|it| it.level == PolicyLevel::Approve && it.exception.is_none())
        .map(|it| it.role.as_str())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

/// Returns the file with the approvals of a plan.
fn approvals(plan: &Path) -> PathBuf {
    let mut name = plan.as_os_str().to_owned();
    name.push(".approvals");
    name.into()
}

/// Reads the decisions about a saved plan; none if there is no file with approvals.
pub(crate) fn decisions_about(
    plan: &Path,
    digest: &str,
    sealer: &Sealer,
) -> Result<Vec<PolicyDecision>, Failure> {
    let path = approvals(plan);
    if !OsSystem.is_file(&path) {
        return Ok(Vec::new());
    }
    let text = OsSystem.read_to_string(&path).map_err(Failure::file("read", &path))?;
    Ok(read_decisions(&text, digest, sealer).map_err(EngineError::from)?)
}
