//! `kusion release rollback`.

use crate::arguments::{ChangeArgs, StackArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{OperationRunner, ROLLBACK, change, run_all};
use kusion_engine::Goal;

/// Arguments of `kusion release rollback`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision to roll back to
    #[arg(value_name = "REV")]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Rolls a stack back to the Spec of an earlier release.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.view.show(|view| {
        let stack = args.stack.folders.find_one()?;
        change(view, &args.stack.site, &args.change, async |opener, stop| {
            let open = opener.open(&stack).await?;
            let runner = OperationRunner::new(view, &open, &stack, &args.change, ROLLBACK, stop);
            let operations = [(runner, Goal::Rollback { to: args.revision })];
            let finish = async |runner: &OperationRunner<'_>, report| Ok(runner.exit(&report));
            let done = run_all(view, &operations, &finish).await;
            done.map_err(|failure| failure.about_release(open.key()))
        })
    })
}
