//! `kusion apply`.

use crate::arguments::{
    BackendArgs, ClusterArgs, FolderArgs, LockArgs, PlanArgs, ProgramArgs, StepArgs, ViewArgs,
};
use crate::desk::{Desk, Place};
use crate::failure::{Exit, Failure};
use crate::operate::Operating;
use crate::view::{View, report};
use crate::work;
use kusion_engine::{Report, Stop, read_plan};
use kusion_generate::Compiled;
use kusion_model::Plan;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is applied, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    backend: BackendArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    lock: LockArgs,
    #[command(flatten)]
    steps: StepArgs,
    /// Agree to the plan without being asked
    #[arg(long, short)]
    yes: bool,
    /// Wait until everything is ready, and show how it gets there
    #[arg(long)]
    watch: bool,
    /// Run a plan that `kusion preview --save` wrote, exactly as it was shown
    #[arg(
        long = "plan",
        value_name = "FILE",
        conflicts_with_all = ["targets", "ignore_fields", "arguments", "settings", "overrides"]
    )]
    saved: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArgs,
}

/// Brings stacks to what they compile to, one after the other.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let view = args.view.view();
    let done = match &args.saved {
        Some(file) => apply_saved(args, &view, file),
        None => apply(args, &view),
    };
    view.tell(done)
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let compiled = args.folders.compile(&args.program)?;
    let mut desk = Desk::new(view, &args.cluster, &args.backend, args.steps.parallel())?;
    let stop = Stop::default();
    work::change(view, &stop, async {
        let mut last = None;
        for (number, stack) in compiled.iter().enumerate() {
            view.compiled(stack);
            let place = desk.open(&stack.stack).await?;
            let exit = one(args, view, &stop, &place, stack).await?;
            if exit != Exit::Success {
                tell_of_others(view, &compiled[number + 1..]);
                return Ok(exit);
            }
            last = Some(place);
        }
        if let Some(place) = last.filter(|it| args.watch && it.cluster.sandbox.is_some()) {
            let arguments = format!("{}{}", args.folders.words(), args.cluster.words());
            view.text(&report::what_next(&place, &arguments, view.style()));
        }
        Ok(Exit::Success)
    })
}

async fn one(
    args: &Args,
    view: &Arc<View>,
    stop: &Stop,
    place: &Place,
    compiled: &Compiled,
) -> Result<Exit, Failure> {
    let lock = args.lock.options("apply");
    let options = args.steps.options(args.plan.options(), lock, stop);
    let operating = Operating::new(view, stop, args.yes, "Apply these changes?", place);
    let ask = |previewed: &_| operating.confirm(previewed);
    let (spec, origins) = (&compiled.spec, &compiled.origins);
    let done = place.engine.apply(&place.key, spec, origins, &options, &ask).await;
    finish(args, &operating, place, operating.conclude(done)?).await
}

async fn finish(
    args: &Args,
    operating: &Operating<'_>,
    place: &Place,
    report: Report,
) -> Result<Exit, Failure> {
    match operating.exit(&report) {
        Exit::Success if args.watch => {
            operating.watch(place, report.live, args.steps.timeout).await
        }
        exit => Ok(exit),
    }
}

fn tell_of_others(view: &View, others: &[Compiled]) {
    if !others.is_empty() {
        let names: Vec<String> = others
            .iter()
            .map(|it| format!("{}/{}", it.stack.project.name, it.stack.name))
            .collect();
        view.notice(&format!("not begun: {}", names.join(", ")));
    }
}

fn apply_saved(args: &Args, view: &Arc<View>, file: &Path) -> Result<Exit, Failure> {
    let text = fs::read_to_string(file).map_err(Failure::file("read", file))?;
    let plan = read_plan(&text).map_err(|fault| Failure::SavedPlan(fault.to_string()))?;
    // What the project says about its store and cluster holds for saved plans too.
    let stacks = args.folders.find()?;
    let stack = stacks
        .iter()
        .find(|it| it.project.name == plan.key.project && it.name == plan.key.stack)
        .ok_or_else(|| {
            let key = &plan.key;
            Failure::SavedPlan(format!("the plan is for {key}; name the folder of that stack"))
        })?;
    let mut desk = Desk::new(view, &args.cluster, &args.backend, args.steps.parallel())?;
    let stop = Stop::default();
    work::change(view, &stop, async {
        let place = desk.open(stack).await?;
        run_plan(args, view, &stop, &place, plan).await
    })
}

async fn run_plan(
    args: &Args,
    view: &Arc<View>,
    stop: &Stop,
    place: &Place,
    plan: Plan,
) -> Result<Exit, Failure> {
    if plan.key != place.key {
        let message = if plan.key.cluster == place.key.cluster {
            format!("the plan is for {}, not for {}", plan.key, place.key)
        } else {
            "the plan was made for another cluster".to_owned()
        };
        return Err(Failure::SavedPlan(message));
    }
    let options = args.steps.options(args.plan.options(), args.lock.options("apply"), stop);
    let operating = Operating::new(view, stop, true, "", place);
    view.plan(&place.title, &plan, &[]);
    view.begin(&place.title);
    let done = place.engine.apply_plan(plan, &options).await;
    finish(args, &operating, place, operating.conclude(done)?).await
}
