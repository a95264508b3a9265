//! `kusion preview`.

use crate::arguments::{ParallelArgs, PlanArgs, SiteArgs, SourceArgs, ViewArgs};
use crate::desk::Desk;
use crate::failure::{Exit, Failure};
use crate::state::write_private;
use crate::view::View;
use crate::work;
use kusion_engine::write_plan;
use kusion_generate::Compiled;
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

/// Shows what applying stacks would do.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| preview(args, view))
}

fn preview(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let compiled = args.source.compile()?;
    if args.save.is_some() && compiled.len() != 1 {
        return Err(Failure::OneStack(compiled.len()));
    }
    let mut desk = Desk::new(view, &args.site, args.parallel.count())?;
    work::read(async {
        let mut exit = Exit::Success;
        for stack in &compiled {
            exit = exit.worse(one(args, view, &mut desk, stack).await?);
        }
        Ok(exit)
    })
}

async fn one(
    args: &Args,
    view: &View,
    desk: &mut Desk<'_>,
    compiled: &Compiled,
) -> Result<Exit, Failure> {
    view.compiled(compiled);
    let place = desk.open(&compiled.stack).await?;
    let options = args.plan.options();
    let previewed =
        place.engine.preview(&place.key, &compiled.spec, &compiled.origins, &options).await?;
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
