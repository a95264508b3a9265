//! `kusion destroy`.

use crate::arguments::{ChangeArgs, FolderArgs, SiteArgs, ViewArgs, WideArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{DESTROY, OperationRunner, change, run_all};
use kusion_engine::Goal;

/// Arguments of `kusion destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    wide: WideArgs,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Deletes all resources of stacks, the last stack first.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        let mut stacks = args.folders.find()?;
        args.wide.check("destroy", &args.folders, &stacks)?;
        stacks.reverse();
        change(view, &args.site, &args.change, async |opener, stop| {
            let mut opened = Vec::with_capacity(stacks.len());
            for stack in &stacks {
                opened.push(opener.open(stack).await?);
            }
            let mut operations = Vec::with_capacity(stacks.len());
            for (stack, open) in stacks.iter().zip(&opened) {
                let runner = OperationRunner::new(view, open, stack, &args.change, DESTROY, stop);
                operations.push((runner, Goal::Destroy));
            }
            let finish = async |runner: &OperationRunner<'_>, report| Ok(runner.exit(&report));
            run_all(view, &operations, &finish).await
        })
    })
}
