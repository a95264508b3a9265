//! `kusion release`.

mod diff;
mod list;
mod rollback;
mod show;

use crate::desk::Place;
use crate::failure::{Exit, Failure};
use crate::view::plan;
use clap::Subcommand;
use kusion_model::Spec;
use serde_json::Value;

/// A command of `kusion release`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the releases of a stack
    List(list::Args),
    /// Show one release and what it wanted
    Show(show::Args),
    /// Show what differs between what two releases wanted
    Diff(diff::Args),
    /// Bring a stack to what an earlier release wanted, as a new release
    Rollback(Box<rollback::Args>),
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Rollback(args) => rollback::run(args),
    }
}

/// Reads what a release wanted; secrets became what `instead` makes of their hashes.
async fn wanted(
    place: &Place,
    revision: u64,
    instead: &(dyn Fn(&Value) -> Value + Sync),
) -> Result<Spec, Failure> {
    let missing = || Failure::NoRelease { stack: place.key.clone(), revision };
    let mut spec = place.engine.store().spec(&place.key, revision).await?.ok_or_else(missing)?;
    for resource in &mut spec.resources {
        plan::hide(&mut resource.attributes, instead);
    }
    Ok(spec)
}
