//! `kusion release rollback`.

use crate::arguments::{ChangeArgs, SandboxStart, SettleArgs, StackArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{Failures, OperationRunner, ROLLBACK, change, run_all};
use kusion_app::OpenStack;
use kusion_engine::{Goal, Report, last_ready};

/// Arguments of `kusion release rollback`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision to roll back to; `ready` is the last release before the current one that was ready
    #[arg(value_name = "REV", default_value = "ready", value_parser = revision)]
    revision: Revision,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    change: ChangeArgs,
    /// Wait until all resources are ready, and show their progress
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    settle: SettleArgs,
}

/// The release to roll back to.
#[derive(Debug, Clone, Copy)]
enum Revision {
    /// By its number.
    Number(u64),
    /// The last one before the current one that was ready.
    Ready,
}

fn revision(word: &str) -> Result<Revision, String> {
    match word.parse() {
        Ok(number) => Ok(Revision::Number(number)),
        Err(_) if word == "ready" => Ok(Revision::Ready),
        Err(_) => Err("expected a revision or `ready`, and then the folder".to_owned()),
    }
}

/// Rolls a stack back to the Spec of an earlier release.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.view.show(|view| {
        args.settle.check(args.watch, "`--watch`")?;
        let stack = args.stack.folders.find_one()?;
        change(view, &args.stack.site, &args.change, SandboxStart::Known, async |opener, stop| {
            let open = opener.open(&stack).await?;
            let to = match args.revision {
                Revision::Number(number) => number,
                Revision::Ready => ready_revision(&open).await?,
            };
            let change = &args.change;
            let runner = OperationRunner::new(view, &open, Some(&stack), change, ROLLBACK, stop);
            let finish =
                async |runner: &OperationRunner<'_>, report: Report| match runner.exit(&report) {
                    Exit::Success if args.watch => runner.watch(report, args.settle.time()).await,
                    exit => Ok(exit),
                };
            let done =
                run_all(view, &[(runner, Goal::Rollback { to })], Failures::of_one(), &finish)
                    .await;
            done.map_err(|failure| failure.about_release(open.key()))
        })
    })
}

/// Returns the revision of the last release before the current one that was seen ready.
pub(crate) async fn ready_revision(open: &OpenStack) -> Result<u64, Failure> {
    let state = open.stack.state().await?;
    let release = last_ready(&state).map(|it| it.head.revision);
    release.ok_or_else(|| Failure::NoReadyRelease {
        stack: Box::new(open.key().clone()),
        releases: super::list::text(&state.releases),
    })
}
