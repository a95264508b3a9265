//! `kusion destroy`.

use crate::arguments::{ChangeArgs, FolderArgs, SiteArgs, ViewArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{DESTROY, OperationRunner, change};
use kusion_engine::Goal;

/// Arguments of `kusion destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Deletes all resources of stacks, the last stack first.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        let stacks = args.folders.find()?;
        change(view, &args.site, &args.change, async |opener, stop| {
            for stack in stacks.iter().rev() {
                let open = opener.open(stack).await?;
                let runner = OperationRunner::new(view, &open, &args.change, DESTROY, stop);
                let report = runner.run(Goal::Destroy).await?;
                let exit = runner.exit(&report);
                if exit != Exit::Success {
                    return Ok(exit);
                }
            }
            Ok(Exit::Success)
        })
    })
}
