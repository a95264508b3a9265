//! `kusion state`.

mod check;
mod mv;
mod rm;

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::view::{Answer, View, words};
use crate::{home, interrupt, view};
use clap::Subcommand;
use kusion_app::OpenStack;
use kusion_engine::{RunOptions, Settlement, Stop};
use kusion_model::ResourceId;
use kusion_secret::sealed_keys;
use kusion_store::{Holder, StackState, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A command of `kusion state`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rename the data of an earlier version; nothing is deleted
    SetAside(SetAsideArgs),
    /// Show what interrupted operations and lost keys left behind, and settle it
    Repair(Box<RepairArgs>),
    /// Remove a resource from the state of a stack; its object is left alone
    Rm(Box<rm::Args>),
    /// Give a recorded resource another id; its object is left alone
    Mv(Box<mv::Args>),
    /// Check that all values of a state store are intact
    Check(check::Args),
}

/// Arguments of `kusion state repair`.
#[derive(Debug, clap::Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    stacks: StackArgs,
    /// Remove this resource from the state, also if an interrupted call may have created its object;
    /// the object is left alone
    #[arg(long, value_name = "ID")]
    forget: Vec<String>,
    /// Record the object that an interrupted call created for a resource, by the id that its
    /// provider gave it
    #[arg(long, value_name = "ID=OBJECT", value_parser = adoption)]
    adopt: Vec<(ResourceId, String)>,
}

/// Arguments of `kusion state set-aside`.
#[derive(Debug, clap::Args)]
pub(crate) struct SetAsideArgs {
    /// State store [default: a file in `KUSION_HOME`]
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    backend: Option<String>,
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::SetAside(args) => set_aside(args).map(|()| Exit::Success),
        Command::Repair(args) => {
            args.stacks.read(async |view, open| repair(args, view, open).await)
        }
        Command::Rm(args) => rm::run(args),
        Command::Mv(args) => mv::run(args),
        Command::Check(args) => check::run(args),
    }
}

/// Arguments of commands that edit the state of a stack.
#[derive(Debug, clap::Args)]
struct EditArgs {
    #[command(flatten)]
    stack: StackArgs,
    /// Skip the confirmation
    #[arg(long, short)]
    yes: bool,
}

impl EditArgs {
    /// Asks a question, unless the command line has the answer.
    fn confirm(&self, view: &View, question: &str) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        match view.ask(question, &Stop::default()) {
            Answer::Yes => Ok(()),
            Answer::No => Err(Failure::Declined),
            Answer::NoTerminal => Err(Failure::NeedsYes),
        }
    }
}

async fn repair(args: &RepairArgs, view: &Arc<View>, open: &OpenStack) -> Result<(), Failure> {
    let state = open.stack.state().await?;
    let mut lines = vec![open.title()];
    for call in &state.pending {
        let action = words::of_action(call.action).verb;
        lines.push(format!("  {}: `{action}` was interrupted; checking the live object", call.id));
    }
    for release in state.releases.iter().filter(|it| it.ended.is_none()) {
        lines.push(format!("  release {} was interrupted", release.head.revision));
    }
    let ours = open.stack.engine().sealer().fingerprint();
    for (id, resource) in &state.resources {
        let keys = sealed_keys(&resource.resource.attributes);
        if let Some(key) = keys.iter().find(|it| *it != ours) {
            lines.push(format!(
                "  {id}: its secrets were sealed with the key {key}, which this machine does not \
                 have; the next apply seals them again"
            ));
        }
    }
    let is_interrupted =
        !state.pending.is_empty() || state.releases.iter().any(|it| it.ended.is_none());
    if lines.len() == 1 && args.forget.is_empty() && args.adopt.is_empty() {
        lines.push("  nothing to repair".to_owned());
    }
    view.text(&(lines.join("\n") + "\n"));
    if !is_interrupted && args.forget.is_empty() && args.adopt.is_empty() {
        return Ok(());
    }
    // To lock a stack recovers what was interrupted.
    let ids: Vec<ResourceId> = args.forget.iter().map(|it| ResourceId::new(it.as_str())).collect();
    let mut options = RunOptions::new(Holder::current("kusion state repair"));
    options.lock.settle = settlements(args, &state)?;
    let mut locked = open.stack.lock(&options).await?;
    let forgotten = locked.forget(&ids).await;
    locked.release().await?;
    let forgotten = forgotten?;
    for id in &ids {
        view.text(&if forgotten.contains(id) || options.lock.settle.contains_key(id) {
            format!("removed {id} from the state; its object was left alone\n")
        } else {
            format!("{id} is not in the state\n")
        });
    }
    for (id, object) in &args.adopt {
        view.text(&format!("recorded `{object}` as the object of {id}\n"));
    }
    if is_interrupted {
        view.text("the interrupted operation is settled\n");
    }
    Ok(())
}

/// Returns what the user says about interrupted calls.
fn settlements(
    args: &RepairArgs,
    state: &StackState,
) -> Result<BTreeMap<ResourceId, Settlement>, Failure> {
    let is_pending = |id: &ResourceId| state.pending.iter().any(|it| it.id == *id);
    let forgotten = args.forget.iter().map(|it| ResourceId::new(it.as_str()));
    let forgotten = forgotten.filter(&is_pending).map(|id| (id, Settlement::Forget));
    let mut all: BTreeMap<ResourceId, Settlement> = forgotten.collect();
    for (id, object) in &args.adopt {
        if !is_pending(id) {
            return Err(Failure::Usage(format!("no interrupted call was about {id}")));
        }
        all.insert(id.clone(), Settlement::Adopt(object.clone()));
    }
    Ok(all)
}

/// Parses `ID=OBJECT`. Ids of resources contain no `=`.
fn adoption(text: &str) -> Result<(ResourceId, String), String> {
    match text.split_once('=') {
        Some((id, object)) if !id.is_empty() && !object.is_empty() => {
            Ok((ResourceId::new(id), object.to_owned()))
        }
        _ => Err("expected `ID=OBJECT`".to_owned()),
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
