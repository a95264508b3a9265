//! `kusion release log`.

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::view::{self, words};
use kusion_app::wire;
use kusion_engine::{Event, StampedEvent};
use kusion_model::ResourceId;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Arguments of `kusion release log`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision of the release
    #[arg(value_name = "REV", value_parser = super::number)]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
}

/// Shows the events of a release, with times and durations.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.read(async |view, open| {
        let events = open.stack.replay(args.revision).await;
        let events = events.map_err(|error| Failure::of_release(error, open.key()))?;
        for event in &events {
            view.json(&wire::ReplayLine(event));
        }
        view.text(&text(&events, view.style()));
        Ok(())
    })
}

/// Formats events as lines with their time; the end of a step includes its duration.
fn text(events: &[StampedEvent], style: view::style::Style) -> String {
    let mut began: HashMap<&ResourceId, &str> = HashMap::new();
    let mut text = String::new();
    for it in events {
        let took = match &it.event {
            Event::StepStarted { id, .. } => {
                began.insert(id, it.time.as_str());
                None
            }
            Event::StepEnded { id, .. } => {
                began.remove(id).and_then(|start| words::between(start, it.time.parse().ok()?))
            }
            _ => None,
        };
        let took = took.map(|it| format!("  ({})", words::of_short_duration(it)));
        if let Some(line) = view::lines::line(&it.event, style) {
            let _ = writeln!(
                text,
                "{}  {line}{}",
                view::style::one_line(&it.time),
                took.unwrap_or_default()
            );
        }
    }
    text
}
