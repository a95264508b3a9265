//! `kusion destroy`.

use crate::arguments::{ChangeArgs, FolderArgs, SiteArgs, ViewArgs};
use crate::commands::stack::{StackName, stack_name};
use crate::failure::{Exit, Failure};
use crate::operate::{DESTROY, OperationRunner, change};
use crate::view::View;
use kusion_engine::Goal;
use std::sync::Arc;

/// Arguments of `kusion destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    /// Stack whose files no longer exist, as `kusion stack list` shows it
    #[arg(long, value_name = "PROJECT/STACK", value_parser = stack_name, conflicts_with = "folders")]
    stack: Option<StackName>,
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
        if let Some(name) = &args.stack {
            return destroy_recorded(args, view, name);
        }
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

/// Deletes all resources of a stack whose files no longer exist.
fn destroy_recorded(args: &Args, view: &Arc<View>, name: &StackName) -> Result<Exit, Failure> {
    change(view, &args.site, &args.change, async |opener, stop| {
        let open = opener.open_recorded(name).await?;
        if open.stack.engine().store().read(open.key()).await?.seq == 0 {
            return Err(Failure::NoStack(open.key().clone()));
        }
        let runner = OperationRunner::new(view, &open, &args.change, DESTROY, stop);
        let report = runner.run(Goal::Destroy).await?;
        Ok(runner.exit(&report))
    })
}
