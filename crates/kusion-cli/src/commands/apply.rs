//! `kusion apply`.

use crate::arguments::{ChangeArgs, SiteArgs, SourceArgs, ViewArgs};
use crate::desk::Place;
use crate::failure::{Exit, Failure};
use crate::operate::{APPLY, Operating, change};
use crate::view::{View, report};
use kusion_engine::{EngineError, Report, read_plan};
use kusion_generate::Compiled;
use kusion_model::Plan;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is applied, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    change: ChangeArgs,
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
    args.view.show(|view| match &args.saved {
        Some(file) => apply_saved(args, view, file),
        None => apply(args, view),
    })
}

fn apply(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let compiled = args.source.compile()?;
    change(view, &args.site, &args.change, async |desk, stop| {
        let mut last = None;
        for (number, stack) in compiled.iter().enumerate() {
            view.compiled(stack);
            let place = desk.open(&stack.stack).await?;
            let operating = Operating::new(view, &place, &args.change, APPLY, stop);
            let (spec, origins, options) = (&stack.spec, &stack.origins, operating.options());
            let done =
                place.engine.apply(&place.key, spec, origins, options, &operating.ask()).await;
            let exit = finish(args, &operating, done).await?;
            if exit != Exit::Success {
                tell_of_others(view, &compiled[number + 1..]);
                return Ok(exit);
            }
            last = Some(place);
        }
        if let Some(place) = last.filter(|it| args.watch && it.cluster.sandbox.is_some()) {
            let arguments = format!("{}{}", args.source.folders.words(), args.site.cluster.words());
            view.text(&report::what_next(&place, &arguments, view.style()));
        }
        Ok(Exit::Success)
    })
}

/// Shows how an operation ended, and waits until everything is ready where that is wanted.
async fn finish(
    args: &Args,
    operating: &Operating<'_>,
    done: Result<Report, EngineError>,
) -> Result<Exit, Failure> {
    let report = operating.conclude(done)?;
    match operating.exit(&report) {
        Exit::Success if args.watch => operating.watch(report.live).await,
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
    let stacks = args.source.folders.find()?;
    let stack = stacks
        .iter()
        .find(|it| it.project.name == plan.key.project && it.name == plan.key.stack)
        .ok_or_else(|| {
            let key = &plan.key;
            Failure::SavedPlan(format!("the plan is for {key}; name the folder of that stack"))
        })?;
    change(view, &args.site, &args.change, async |desk, stop| {
        let place = desk.open(stack).await?;
        check_place(&plan, &place)?;
        let operating = Operating::new(view, &place, &args.change, APPLY, stop);
        view.plan(&place.title, &plan, &[]);
        view.begin(&place.title);
        let done = place.engine.apply_plan(plan, operating.options()).await;
        finish(args, &operating, done).await
    })
}

/// Checks that a plan was made for the stack at its place.
fn check_place(plan: &Plan, place: &Place) -> Result<(), Failure> {
    if plan.key == place.key {
        return Ok(());
    }
    Err(Failure::SavedPlan(if plan.key.cluster == place.key.cluster {
        format!("the plan is for {}, not for {}", plan.key, place.key)
    } else {
        "the plan was made for another cluster".to_owned()
    }))
}
