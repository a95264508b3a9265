//! `kusion preview`.

use crate::arguments::{ParallelArgs, PlanArgs, SiteArgs, SourceArgs, ViewArgs};
use crate::desk::{Desk, Place};
use crate::failure::{Exit, Failure};
use crate::state::write_private;
use crate::view::View;
use crate::work;
use kusion_engine::{Previewed, write_plan};
use std::path::PathBuf;
use std::sync::Arc;

/// What is previewed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Show what `kusion destroy` would delete
    #[arg(long, conflicts_with_all = ["arguments", "settings", "overrides"])]
    destroy: bool,
    /// Write the plan of the one stack to a file, for `kusion apply --plan`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Tell by the exit code: 0 if nothing would change, 3 if something would
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    parallel: ParallelArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Shows what applying or destroying stacks would do.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| if args.destroy { destroy(args, view) } else { apply(args, view) })
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let compiled = args.source.compile()?;
    each(args, view, &compiled, &async |desk, compiled| {
        view.compiled(compiled);
        let place = desk.open(&compiled.stack).await?;
        let (spec, origins, options) = (&compiled.spec, &compiled.origins, args.plan.options());
        let previewed = place.engine.preview(&place.key, spec, origins, &options).await?;
        Ok((place, previewed))
    })
}

/// Shows what destroying stacks would delete, the last one first.
fn destroy(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let mut stacks = args.source.folders.find()?;
    stacks.reverse();
    each(args, view, &stacks, &async |desk, stack| {
        let place = desk.open(stack).await?;
        let previewed = place.engine.preview_destroy(&place.key, &args.plan.options()).await?;
        Ok((place, previewed))
    })
}

/// Makes the plan of each stack and shows it.
fn each<T>(
    args: &Args,
    view: &Arc<View>,
    stacks: &[T],
    plan: &impl AsyncFn(&mut Desk<'_>, &T) -> Result<(Place, Previewed), Failure>,
) -> Result<Exit, Failure> {
    if args.save.is_some() && stacks.len() != 1 {
        return Err(Failure::OneStack(stacks.len()));
    }
    let mut desk = Desk::new(view, &args.site, args.parallel.count())?;
    work::read(async {
        let mut exit = Exit::Success;
        for stack in stacks {
            let (place, previewed) = plan(&mut desk, stack).await?;
            exit = exit.worse(show(args, view, &place, &previewed)?);
        }
        Ok(exit)
    })
}

fn show(args: &Args, view: &View, place: &Place, previewed: &Previewed) -> Result<Exit, Failure> {
    view.plan(&place.title, &previewed.plan, &previewed.refusals);
    if !previewed.refusals.is_empty() {
        return Ok(Exit::Failed);
    }
    if let Some(file) = &args.save {
        write_private(file, &write_plan(&previewed.plan))?;
        let next = format!("plan saved; run it with `kusion apply --plan {}`\n", file.display());
        view.text(&next);
    }
    let is_told = args.exit_code && !previewed.plan.is_empty();
    Ok(if is_told { Exit::Changes } else { Exit::Success })
}
