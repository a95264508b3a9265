//! `kusion watch`.

use crate::arguments::{FolderArgs, SiteArgs, ViewArgs};
use crate::failure::{Exit, Failure};
use crate::operate::watched;
use crate::view::View;
use crate::work;
use futures::future::join_all;
use kusion_engine::{Stop, WatchOptions};
use std::sync::Arc;

/// What is watched.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    /// End when everything is ready, or cannot get ready
    #[arg(long)]
    until_ready: bool,
    #[command(flatten)]
    view: ViewArgs,
}

/// Shows how stacks fare, until it is interrupted.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| watch(args, view))
}

fn watch(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let stacks = args.folders.find()?;
    let mut desk = args.site.desk(view)?;
    let ends = work::read(async {
        let mut places = Vec::new();
        for stack in &stacks {
            places.push(desk.open(stack).await?);
        }
        let titles: Vec<String> = places.iter().map(|it| it.key.to_string()).collect();
        view.begin(&format!("watching {}", titles.join(", ")));
        let options =
            WatchOptions { timeout: None, forever: !args.until_ready, stop: Stop::default() };
        let watches = places.iter().map(|it| it.engine.watch_stack(&it.key, &options));
        let ends = join_all(watches).await;
        Ok(places.into_iter().zip(ends).collect::<Vec<_>>())
    });
    view.end();
    let ends = match ends {
        // Nothing else ends a watch.
        Err(Failure::Interrupted) => return Ok(Exit::Interrupted),
        other => other?,
    };
    let mut exit = Exit::Success;
    for (place, end) in ends {
        exit = exit.worse(watched(view, &place, &end?));
    }
    Ok(exit)
}
