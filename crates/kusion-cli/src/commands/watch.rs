//! `kusion watch`.

use crate::arguments::{FolderArgs, SettleArgs, SiteArgs, ViewArgs};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::operate::{record_health, watched};
use crate::view::View;
use futures::future::join_all;
use kusion_engine::{StackHealth, Stop, WatchOptions};
use std::sync::Arc;

/// Arguments of `kusion watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    /// Exit when all resources are ready, or when one has failed
    #[arg(long)]
    until_ready: bool,
    #[command(flatten)]
    settle: SettleArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Shows the health of stacks until it is interrupted.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| watch(args, view))
}

fn watch(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let stacks = args.folders.find()?;
    args.site.check_named_cluster(&stacks)?;
    let mut opener = args.site.opener(view)?;
    let ends = interrupt::read(async {
        let mut opened = Vec::new();
        for stack in &stacks {
            opened.push(opener.open(stack).await?);
        }
        let keys: Vec<_> = opened.iter().map(|it| it.key().clone()).collect();
        let titles: Vec<String> = keys.iter().map(ToString::to_string).collect();
        view.begin_several(&keys, &format!("watching {}", titles.join(", ")));
        let options = WatchOptions {
            timeout: None,
            forever: !args.until_ready,
            settle: args.settle.time(),
            since: None,
            stop: Stop::default(),
        };
        let ends = join_all(opened.iter().map(|it| it.stack.watch(&options))).await;
        for (open, end) in opened.iter().zip(&ends) {
            let seen = end.as_ref().ok().and_then(StackHealth::of_watch);
            record_health(open, seen, "kusion watch").await;
        }
        Ok(opened.into_iter().zip(ends).collect::<Vec<_>>())
    });
    view.end();
    let ends = match ends {
        // Nothing else ends a watch.
        Err(Failure::Interrupted) if view.has_failures() => return Ok(Exit::Failed),
        Err(Failure::Interrupted) => return Ok(Exit::Interrupted),
        other => other?,
    };
    let mut exit = Exit::Success;
    let has_several = ends.len() > 1;
    for (open, end) in ends {
        if has_several {
            view.text(&format!("{}: ", open.key()));
        }
        exit = exit.worse(watched(view, &open, &end?));
    }
    Ok(exit)
}
