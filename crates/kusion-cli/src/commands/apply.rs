//! `kusion apply`.

use crate::arguments::{
    ChangeArgs, SandboxStart, SettleArgs, SiteArgs, SourceArgs, ViewArgs, WideArgs, app,
};
use crate::commands::plan::decisions_about;
use crate::commands::policy::fix_all;
use crate::failure::{Exit, Failure};
use crate::operate::{
    APPLY, Failures, OperationRunner, change, confirm_name, name_to_type, run_all,
};
use crate::view::report::Counts;
use crate::view::{View, report};
use base_system::{OsSystem, System as _};
use kusion_app::check_cells;
use kusion_engine::{EngineError, Goal, Report, SavedPlanError, Silent, read_plans};
use kusion_generate::{Outcome, Stack};
use kusion_model::Plan;
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
    wide: WideArgs,
    #[command(flatten)]
    change: ChangeArgs,
    /// Wait until all resources are ready, and show their progress
    #[arg(long)]
    watch: bool,
    /// Wait until all resources are ready; if they do not become ready, roll back to the last
    /// release that was
    #[arg(long)]
    rollback_on_failure: bool,
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
    args.view.show(|view| {
        let waits = args.watch || args.rollback_on_failure;
        args.settle.check(waits, "`--watch` or `--rollback-on-failure`")?;
        match &args.saved {
            Some(file) => apply_saved(args, view, file),
            None => apply(args, view),
        }
    })
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let folders = &args.source.folders;
    let keep_going = args.wide.keep_going;
    if !keep_going {
        let stacks = folders.find()?;
        args.wide.check("apply", folders, &stacks.iter().collect::<Vec<_>>(), &[])?;
    }
    let Outcome { mut compiled, errors, n_stacks, .. } =
        args.source.compile_each(keep_going, args.site.trust)?;
    fix_all(view, &mut compiled)?;
    if keep_going {
        let stacks: Vec<&Stack> = compiled.iter().map(|it| &it.stack).collect();
        args.wide.check("apply", folders, &stacks, &errors)?;
    }
    check_cells(&compiled)?;
    args.site.check_named_cluster(compiled.iter().map(|it| &it.stack))?;
    let mut failures = Failures::new(keep_going, n_stacks);
    failures.add_broken(view, errors);
    change(view, &args.site, &args.change, SandboxStart::Any, async |opener, stop| {
        let mut opened = Vec::with_capacity(compiled.len());
        for stack in &compiled {
            view.compiled(stack);
            let open = opener.open(&stack.stack).await;
            let open = failures.take(view, &stack.stack.full_name(), open)?;
            opened.extend(open.map(|it| (stack, it)));
        }
        let mut operations = Vec::with_capacity(opened.len());
        for (stack, open) in &opened {
            let change = &args.change;
            let runner = OperationRunner::new(view, open, Some(&stack.stack), change, APPLY, stop);
            operations.push((runner, Goal::Apply { spec: &stack.spec, origins: &stack.origins }));
        }
        let finish =
            async |runner: &OperationRunner<'_>, report| finish(args, runner, report).await;
        let exit = run_all(view, &operations, failures, &finish).await?;
        let last =
            opened.last().map(|(_, it)| it).filter(|it| args.watch && it.cluster.sandbox.is_some());
        if let Some(open) = last.filter(|_| exit == Exit::Success) {
            let arguments = format!("{}{}", folders.words(), args.site.cluster.words());
            view.text(&report::what_next(open, &arguments, view.style()));
        }
        Ok(exit)
    })
}

/// Waits until all resources are ready, if requested.
async fn finish(
    args: &Args,
    runner: &OperationRunner<'_>,
    report: Report,
) -> Result<Exit, Failure> {
    let settle = args.settle.time();
    let exit = match runner.exit(&report) {
        Exit::Success if args.watch || args.rollback_on_failure => {
            runner.watch(report, settle).await?
        }
        exit => exit,
    };
    if exit == Exit::Failed && args.rollback_on_failure {
        runner.roll_back(settle).await?;
    }
    Ok(exit)
}

fn apply_saved(args: &Args, view: &Arc<View>, file: &Path) -> Result<Exit, Failure> {
    let bytes = OsSystem.read(file).map_err(Failure::file("read", file))?;
    let keyed = app(Arc::new(Silent), 1)?;
    let saved = read_plans(&bytes, keyed.sealer()).map_err(EngineError::from)?;
    let decisions = decisions_about(file, &saved.digest, keyed.sealer())?;
    // The store and cluster settings of the project also apply to saved plans.
    let stacks = args.source.folders.find()?;
    let planned = saved
        .plans
        .into_iter()
        .map(|plan| Ok((stack_of(&stacks, &plan)?, plan)))
        .collect::<Result<Vec<(&Stack, Plan)>, Failure>>()?;
    args.site.check_named_cluster(planned.iter().map(|(stack, _)| *stack))?;
    change(view, &args.site, &args.change, SandboxStart::Any, async |opener, stop| {
        // A saved plan is confirmed, but not for a stack that asks for its name.
        for (stack, _) in &planned {
            if let Some(name) = name_to_type(stack, &args.change) {
                confirm_name(view, &name, stop)?;
            }
        }
        let n_stacks = planned.len();
        let mut counts = Counts::default();
        for (stack, plan) in planned {
            let open = opener.open(stack).await?;
            let runner = OperationRunner::new(view, &open, Some(stack), &args.change, APPLY, stop);
            let report = runner.run_saved(plan, &saved.digest, &decisions).await?;
            counts.add(&report);
            let exit = finish(args, &runner, report).await?;
            if exit != Exit::Success {
                return Ok(exit);
            }
        }
        if n_stacks > 1 {
            view.text(&format!("{n_stacks} stacks: {}\n", counts.text()));
        }
        Ok(Exit::Success)
    })
}

/// Finds the stack that a plan is for.
fn stack_of<'a>(stacks: &'a [Stack], plan: &Plan) -> Result<&'a Stack, Failure> {
    let key = &plan.key;
    let found = stacks.iter().find(|it| {
        it.project.name == key.project && it.name == key.stack && it.cell_name() == key.cell
    });
    found.ok_or_else(|| {
        let stack = Box::new(key.clone());
        Failure::Engine(EngineError::SavedPlan(SavedPlanError::OtherStack { stack }))
    })
}
