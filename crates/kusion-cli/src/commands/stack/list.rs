//! `kusion stack list`.

use crate::arguments::{StoreArgs, ViewArgs, app};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{style, words};
use kusion_app::{StackEntry, wire};
use kusion_engine::EventSink;
use std::sync::Arc;

/// Arguments of `kusion stack list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Include stacks without resources
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    view: ViewArgs,
}

/// Lists the stacks of a store; needs neither their files nor a cluster.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        interrupt::read(async {
            let mut app = app(Arc::clone(view) as Arc<dyn EventSink>, 1)?;
            let backend = args.store.url()?;
            let mut entries = app.inventory(backend.as_deref()).await?;
            app.close().await;
            entries.retain(|it| args.all || is_deployed(it));
            for entry in &entries {
                view.json(&wire::StackLine::new(entry));
            }
            view.text(&text(&entries));
            let is_broken = entries.iter().any(|it| it.state.is_err());
            Ok(if is_broken { Exit::Failed } else { Exit::Success })
        })
    })
}

fn is_deployed(entry: &StackEntry) -> bool {
    entry.state.as_ref().map_or(true, |it| !it.resources.is_empty() || !it.pending.is_empty())
}

fn text(entries: &[StackEntry]) -> String {
    if entries.is_empty() {
        return "no stacks\n".to_owned();
    }
    let heads = ["STACK", "PLACE", "RESOURCES", "RELEASE", "STATE", "STARTED", "SOURCE"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for entry in entries {
        let key = &entry.key;
        let cell = if key.cell.is_empty() { "" } else { "/" };
        let name = format!("{}/{}{cell}{}", key.project, key.stack, key.cell);
        let name = style::one_line(&name);
        let mut row = vec![name, key.place.to_string()];
        match &entry.state {
            Err(error) => row.push(style::one_line(&format!("unreadable: {error}"))),
            Ok(state) => {
                row.push(state.resources.len().to_string());
                let release = state.releases.last();
                row.push(release.map(|it| it.head.revision.to_string()).unwrap_or_default());
                row.push(release.map(|it| words::of_phase(it.phase).0).unwrap_or_default().into());
                row.push(release.map(|it| it.started.clone()).unwrap_or_default());
                let source = state.source.as_ref().map(ToString::to_string).unwrap_or_default();
                row.push(style::one_line(&source));
            }
        }
        rows.push(row);
    }
    style::table(&rows)
}
