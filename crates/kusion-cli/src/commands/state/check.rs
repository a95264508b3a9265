//! `kusion state check`.

use crate::arguments::{StoreArgs, ViewArgs, app};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{style, words};
use kusion_app::{Audited, wire};
use kusion_engine::EventSink;
use std::fmt::Write as _;
use std::sync::Arc;

/// Arguments of `kusion state check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Checks all values of all stacks of a store. Changes nothing, and needs no cluster.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        interrupt::read(async {
            let mut app = app(Arc::clone(view) as Arc<dyn EventSink>, 1)?;
            let backend = args.store.url()?;
            let audited = app.audit(backend.as_deref()).await?;
            app.close().await;
            for stack in &audited {
                view.json(&wire::CheckLine::new(stack));
            }
            view.text(&text(&audited));
            let is_good = audited.iter().all(|it| it.problems.is_empty());
            Ok(if is_good { Exit::Success } else { Exit::Failed })
        })
    })
}

fn text(audited: &[Audited]) -> String {
    let mut text = String::new();
    for stack in audited {
        let key = &stack.key;
        let name = format!("{}/{} at {}", key.project, key.stack, key.place);
        let _ = match stack.problems.as_slice() {
            [] => writeln!(text, "{}: good", style::one_line(&name)),
            problems => {
                let count = words::count(problems.len(), "problem");
                writeln!(text, "{}: {count}", style::one_line(&name))
            }
        };
        for problem in &stack.problems {
            let _ = writeln!(text, "  {}", style::one_line(problem));
        }
    }
    let bad = audited.iter().filter(|it| !it.problems.is_empty()).count();
    let _ = match (audited.len(), bad) {
        (0, _) => writeln!(text, "no stacks"),
        (all, 0) => writeln!(text, "{} checked", words::count(all, "stack")),
        (all, bad) => writeln!(
            text,
            "{} checked, {bad} damaged; restore the store from a backup",
            words::count(all, "stack")
        ),
    };
    text
}
