//! `kusion preview`.

use crate::arguments::{
    Opener, ParallelArgs, PlanArgs, PlanViewArgs, SandboxStart, SiteArgs, SourceArgs,
};
use crate::commands::policy::fix_all;
use crate::daemon::write_private;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::operate::Failures;
use crate::view::View;
use crate::view::words::is_approval;
use kusion_app::{OpenStack, check_cells};
use kusion_engine::{Goal, Previewed, write_plans};
use kusion_generate::{Compiled, Outcome, Stack};
use kusion_model::{Origins, Plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `kusion preview`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Show what `kusion destroy` would delete
    #[arg(long, conflicts_with_all = ["arguments", "settings", "overrides", "rollback"])]
    destroy: bool,
    /// Show what `kusion release rollback REV` would do
    #[arg(
        long,
        value_name = "REV",
        conflicts_with_all = ["arguments", "settings", "overrides"]
    )]
    rollback: Option<u64>,
    /// Save the plans to a file for `kusion apply --plan`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Exit with 0 if there are no changes, and with 3 if there are
    #[arg(long)]
    exit_code: bool,
    /// Continue with the other stacks after one has failed
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    parallel: ParallelArgs,
    #[command(flatten)]
    view: PlanViewArgs,
}

/// Shows what applying, destroying or rolling back stacks would do.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| match (args.destroy, args.rollback) {
        (true, _) => destroy(args, view),
        (false, Some(to)) => rollback(args, view, to),
        (false, None) => apply(args, view),
    })
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let Outcome { mut compiled, errors, n_stacks, .. } =
        args.source.compile_each(args.keep_going, args.site.trust)?;
    fix_all(view, &mut compiled)?;
    check_cells(&compiled)?;
    args.site.check_named_cluster(compiled.iter().map(|it| &it.stack))?;
    let mut failures = Failures::new(args.keep_going, n_stacks);
    failures.add_broken(view, errors);
    let shown = |it: &Compiled| it.shown.display().to_string();
    each(args, view, (&compiled[..], &shown), failures, &async |opener, compiled| {
        view.compiled(compiled);
        let open = opener.open(&compiled.stack).await?;
        let goal = Goal::Apply { spec: &compiled.spec, origins: &compiled.origins };
        let previewed = open.stack.preview(goal, &args.plan.options(Some(&compiled.stack))).await?;
        Ok((open, previewed, compiled.origins.clone()))
    })
}

/// Shows what destroying stacks would delete, the last one first.
fn destroy(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let mut stacks = args.source.folders.find()?;
    args.site.check_named_cluster(&stacks)?;
    stacks.reverse();
    let failures = Failures::new(args.keep_going, stacks.len());
    each(args, view, (&stacks[..], &Stack::full_name), failures, &async |opener, stack| {
        planned(args, opener, stack, Goal::Destroy).await
    })
}

fn rollback(args: &Args, view: &Arc<View>, to: u64) -> Result<Exit, Failure> {
    let stack = args.source.folders.find_one()?;
    let stacks = [stack];
    each(args, view, (&stacks, &Stack::full_name), Failures::of_one(), &async |opener, stack| {
        planned(args, opener, stack, Goal::Rollback { to }).await
    })
}

async fn planned(
    args: &Args,
    opener: &mut Opener<'_>,
    stack: &Stack,
    goal: Goal<'_>,
) -> Result<(OpenStack, Previewed, Origins), Failure> {
    let open = opener.open(stack).await?;
    let previewed = open.stack.preview(goal, &args.plan.options(Some(stack))).await?;
    Ok((open, previewed, Origins::default()))
}

/// Stacks, and how to name one of them.
type Named<'a, T> = (&'a [T], &'a dyn Fn(&T) -> String);

/// Makes the plan of each stack, shows it, and saves all plans if requested and none failed.
fn each<T>(
    args: &Args,
    view: &Arc<View>,
    (stacks, name): Named<'_, T>,
    mut failures: Failures,
    plan: &impl AsyncFn(&mut Opener<'_>, &T) -> Result<(OpenStack, Previewed, Origins), Failure>,
) -> Result<Exit, Failure> {
    let mut opener = args.site.opener_with(view, args.parallel.count(), SandboxStart::Known)?;
    let (exit, plans) = interrupt::read(async {
        let mut exit = Exit::Success;
        let mut plans = Vec::new();
        for stack in stacks {
            let planned = plan(&mut opener, stack).await;
            let planned = failures.take(view, &name(stack), planned)?;
            let Some((open, previewed, origins)) = planned else { continue };
            exit = exit.worse(show(args, view, &open, &previewed, &origins));
            plans.push(previewed.plan);
        }
        Ok((exit, plans))
    })?;
    view.summary(&plans.iter().collect::<Vec<_>>());
    let exit = failures.end(exit)?;
    if let Some(file) = &args.save
        && exit != Exit::Failed
    {
        save(args, view, &opener, file, &plans)?;
    }
    Ok(exit)
}

fn show(
    args: &Args,
    view: &View,
    open: &OpenStack,
    previewed: &Previewed,
    origins: &Origins,
) -> Exit {
    view.plan(&open.title(), &previewed.plan, &previewed.refusals, origins);
    match previewed.plan.is_empty() {
        // A plan that needs an approval can be saved.
        _ if !previewed.refusals.iter().all(is_approval) => Exit::Failed,
        false if args.exit_code => Exit::Changes,
        _ => Exit::Success,
    }
}

fn save(
    args: &Args,
    view: &View,
    opener: &Opener<'_>,
    file: &Path,
    plans: &[Plan],
) -> Result<(), Failure> {
    write_private(file, &write_plans(plans, opener.app().sealer()))?;
    let file = crate::arguments::quoted(&file.display().to_string());
    let site = crate::typed::Typed::now().map(|it| it.site()).unwrap_or_default();
    let folders = args.source.folders.folder_words();
    view.text(&format!("plan saved; run it with `kusion apply{folders}{site} --plan {file}`\n"));
    Ok(())
}
