//! `kusion destroy`.

use crate::arguments::{
    BackendArgs, ClusterArgs, FolderArgs, LockArgs, PlanArgs, StepArgs, ViewArgs,
};
use crate::desk::Desk;
use crate::failure::{Exit, Failure};
use crate::operate::Operating;
use crate::view::View;
use crate::work;
use kusion_engine::Stop;
use std::sync::Arc;

/// What is destroyed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
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
    #[command(flatten)]
    view: ViewArgs,
}

/// Deletes everything of stacks, the last one first.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let view = args.view.view();
    view.tell(destroy(args, &view))
}

fn destroy(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let stacks = args.folders.find()?;
    let mut desk = Desk::new(view, &args.cluster, &args.backend, args.steps.parallel())?;
    let stop = Stop::default();
    work::change(view, &stop, async {
        for stack in stacks.iter().rev() {
            let place = desk.open(stack).await?;
            let lock = args.lock.options("destroy");
            let options = args.steps.options(args.plan.options(), lock, &stop);
            let question = "Delete all of these?";
            let operating = Operating::new(view, &stop, args.yes, question, &place);
            let ask = |previewed: &_| operating.confirm(previewed);
            let done = place.engine.destroy(&place.key, &options, &ask).await;
            let exit = operating.exit(&operating.conclude(done)?);
            if exit != Exit::Success {
                return Ok(exit);
            }
        }
        Ok(Exit::Success)
    })
}
