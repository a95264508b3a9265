//! `kusion release rollback`.

use super::StackArgs;
use crate::arguments::{LockArgs, PlanArgs, StepArgs};
use crate::desk::Desk;
use crate::failure::{Exit, Failure};
use crate::operate::Operating;
use crate::work;
use kusion_engine::Stop;

/// Where a stack is brought back to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The release whose wants count again
    #[arg(value_name = "REV")]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    lock: LockArgs,
    #[command(flatten)]
    steps: StepArgs,
    /// Agree to the plan without being asked
    #[arg(long, short)]
    yes: bool,
}

/// Brings a stack to what an earlier release wanted.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let view = args.stack.view.view();
    let stop = Stop::default();
    view.tell(work::change(&view, &stop, async {
        let stack = args.stack.folders.find_one()?;
        let parallel = args.steps.parallel();
        let mut desk = Desk::new(&view, &args.stack.cluster, &args.stack.backend, parallel)?;
        let place = desk.open(&stack).await?;
        let lock = args.lock.options("release rollback");
        let options = args.steps.options(args.plan.options(), lock, &stop);
        let operating = Operating::new(&view, &stop, args.yes, "Go back to this?", &place);
        let ask = |previewed: &_| operating.confirm(previewed);
        let done = place.engine.rollback(&place.key, args.revision, &options, &ask).await;
        Ok(operating.exit(&operating.conclude(done)?))
    }))
}
