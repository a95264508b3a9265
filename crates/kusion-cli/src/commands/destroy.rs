//! `kusion destroy`.

use crate::arguments::{ChangeArgs, FolderArgs, SandboxStart, SiteArgs, ViewArgs, WideArgs};
use crate::commands::stack::{StackName, stack_name};
use crate::failure::{Exit, Failure};
use crate::operate::{DESTROY, Failures, OperationRunner, change, run_all};
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
    wide: WideArgs,
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
        let mut stacks = args.folders.find()?;
        args.wide.check("destroy", &args.folders, &stacks.iter().collect::<Vec<_>>(), &[])?;
        args.site.check_named_cluster(&stacks)?;
        stacks.reverse();
        change(view, &args.site, &args.change, SandboxStart::Known, async |opener, stop| {
            let mut failures = Failures::new(args.wide.keep_going, stacks.len());
            let mut opened = Vec::with_capacity(stacks.len());
            for stack in &stacks {
                let open = opener.open(stack).await;
                let open = failures.take(view, &stack.full_name(), open)?;
                opened.extend(open.map(|it| (stack, it)));
            }
            let mut operations = Vec::with_capacity(opened.len());
            for (stack, open) in &opened {
                let runner =
                    OperationRunner::new(view, open, Some(stack), &args.change, DESTROY, stop);
                operations.push((runner, Goal::Destroy));
            }
            let finish = async |runner: &OperationRunner<'_>, report| Ok(runner.exit(&report));
            run_all(view, &operations, failures, &finish).await
        })
    })
}

/// Deletes all resources of a stack whose files no longer exist.
fn destroy_recorded(args: &Args, view: &Arc<View>, name: &StackName) -> Result<Exit, Failure> {
    change(view, &args.site, &args.change, SandboxStart::Known, async |opener, stop| {
        let (open, _) = opener.open_recorded(name).await?;
        let runner = OperationRunner::new(view, &open, None, &args.change, DESTROY, stop);
        let finish = async |runner: &OperationRunner<'_>, report| Ok(runner.exit(&report));
        run_all(view, &[(runner, Goal::Destroy)], Failures::of_one(), &finish).await
    })
}
