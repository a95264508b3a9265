//! `kusion stack show`.

use super::RecordedArgs;
use crate::arguments::ViewArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{style, words};
use kusion_app::{StackEntry, wire};
use kusion_store::StackState;
use std::fmt::Write as _;

/// Arguments of `kusion stack show`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    recorded: RecordedArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Shows a stack as its store has it.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        let mut opener = args.recorded.site.opener(view)?;
        interrupt::read(async {
            let (open, state) = opener.open_recorded(&args.recorded.stack).await?;
            view.text(&text(&open.title(), &state));
            let store = open.stack.engine().store().place().to_owned();
            let key = open.key().clone();
            view.json(&wire::StackLine::new(&StackEntry { key, store, state: Ok(state) }));
            Ok(Exit::Success)
        })
    })
}

fn text(title: &str, state: &StackState) -> String {
    let mut text = format!("{}\n", style::one_line(title));
    if let Some(source) = &state.source {
        let _ = writeln!(text, "  deployed from {}", style::one_line(&source.to_string()));
    }
    for infrastructure in state.infrastructure.values() {
        let _ = writeln!(text, "  on {}", style::one_line(&infrastructure.to_string()));
    }
    if let Some(release) = state.releases.last() {
        let (head, phase) = (&release.head, words::of_phase(release.phase).0);
        let operation = words::of_operation(head.operation);
        let _ = writeln!(
            text,
            "  release {}: {operation}, {phase}, started {} by {}",
            head.revision,
            release.started,
            style::one_line(&head.operator)
        );
    }
    let _ = writeln!(text, "{}:", words::count(state.resources.len(), "resource"));
    for id in state.resources.keys() {
        let _ = writeln!(text, "  {}", style::one_line(id.as_str()));
    }
    text
}
