//! `kusion apply`.

use crate::arguments::{ChangeArgs, SettleArgs, SiteArgs, SourceArgs, ViewArgs, app};
use crate::failure::{Exit, Failure};
use crate::operate::{APPLY, OperationRunner, change};
use crate::view::{View, report};
use kusion_engine::{EngineError, Goal, Report, SavedPlanError, Silent, read_plans};
use kusion_generate::{Compiled, Stack};
use kusion_model::Plan;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `kusion apply`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    change: ChangeArgs,
    /// Wait until all resources are ready, and show their progress
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    settle: SettleArgs,
    /// Apply a saved plan (see `kusion preview --save`)
    #[arg(
        long = "plan",
        value_name = "FILE",
        conflicts_with_all = [
            "targets", "ignore_fields", "force_conflicts", "allow_mass_delete", "allow_delete",
            "move_to_cluster", "arguments", "settings", "overrides",
        ]
    )]
    saved: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArgs,
}

/// Applies stacks, one after the other.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| match &args.saved {
        Some(file) => apply_saved(args, view, file),
        None => apply(args, view),
    })
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let compiled = args.source.compile()?;
    change(view, &args.site, &args.change, async |opener, stop| {
        let mut last = None;
        for (number, stack) in compiled.iter().enumerate() {
            view.compiled(stack);
            let open = opener.open(&stack.stack).await?;
            let runner = OperationRunner::new(view, &open, &args.change, APPLY, stop);
            let goal = Goal::Apply { spec: &stack.spec, origins: &stack.origins };
            let report = runner.run(goal).await?;
            let exit = finish(args, &runner, report).await?;
            if exit != Exit::Success {
                tell_of_others(view, &compiled[number + 1..]);
                return Ok(exit);
            }
            last = Some(open);
        }
        if let Some(open) = last.filter(|it| args.watch && it.cluster.sandbox.is_some()) {
            let arguments = format!("{}{}", args.source.folders.words(), args.site.cluster.words());
            view.text(&report::what_next(&open, &arguments, view.style()));
        }
        Ok(Exit::Success)
    })
}

/// Waits until all resources are ready, if requested.
async fn finish(
    args: &Args,
    runner: &OperationRunner<'_>,
    report: Report,
) -> Result<Exit, Failure> {
    match runner.exit(&report) {
        Exit::Success if args.watch => runner.watch(report, args.settle.time()).await,
        exit => Ok(exit),
    }
}

fn tell_of_others(view: &View, others: &[Compiled]) {
    if !others.is_empty() {
        let names: Vec<String> = others
            .iter()
            .map(|it| format!("{}/{}", it.stack.project.name, it.stack.name))
            .collect();
        view.notice(&format!("skipped: {}", names.join(", ")));
    }
}

fn apply_saved(args: &Args, view: &Arc<View>, file: &Path) -> Result<Exit, Failure> {
    let bytes = fs::read(file).map_err(Failure::file("read", file))?;
    let keyed = app(Arc::new(Silent), 1)?;
    let saved = read_plans(&bytes, keyed.sealer()).map_err(EngineError::from)?;
    // The store and cluster settings of the project also apply to saved plans.
    let stacks = args.source.folders.find()?;
    let planned = saved
        .plans
        .into_iter()
        .map(|plan| Ok((stack_of(&stacks, &plan)?, plan)))
        .collect::<Result<Vec<(&Stack, Plan)>, Failure>>()?;
    change(view, &args.site, &args.change, async |opener, stop| {
        for (stack, plan) in planned {
            let open = opener.open(stack).await?;
            let runner = OperationRunner::new(view, &open, &args.change, APPLY, stop);
            let report = runner.run_saved(plan, &saved.digest).await?;
            let exit = finish(args, &runner, report).await?;
            if exit != Exit::Success {
                return Ok(exit);
            }
        }
        Ok(Exit::Success)
    })
}

/// Finds the stack that a plan is for.
fn stack_of<'a>(stacks: &'a [Stack], plan: &Plan) -> Result<&'a Stack, Failure> {
    let key = &plan.key;
    let found = stacks.iter().find(|it| it.project.name == key.project && it.name == key.stack);
    found.ok_or_else(|| {
        let stack = Box::new(key.clone());
        Failure::Engine(EngineError::SavedPlan(SavedPlanError::OtherStack { stack }))
    })
}
