//! `kusion status`.

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::operate::record_health;
use crate::view::style::{Role, one_line, pad, short_id};
use crate::view::{View, related, words};
use kusion_app::{OpenStack, wire};
use kusion_engine::{ResourceStatus, StackHealth};
use kusion_model::{HealthState, ResourceId};
use std::collections::BTreeMap;
use std::sync::Arc;
use unicode_width::UnicodeWidthStr as _;

/// Arguments of `kusion status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stacks: StackArgs,
}

type Resources = BTreeMap<ResourceId, ResourceStatus>;

/// Shows the resources of stacks and their health.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stacks.view.show(|view| status(args, view))
}

fn status(args: &Args, view: &Arc<View>) -> Result<Exit, Failure> {
    let stacks = args.stacks.folders.find()?;
    args.stacks.site.check_named_cluster(&stacks)?;
    let mut opener = args.stacks.site.opener(view)?;
    interrupt::read(async {
        let mut exit = Exit::Success;
        for stack in &stacks {
            let open = opener.open(stack).await?;
            let resources = open.stack.status().await?;
            record_health(&open, StackHealth::of_status(&resources), "kusion status").await;
            view.json(&wire::StatusLine::new(open.key(), &resources));
            view.text(&text(view, &open, &resources));
            if resources.values().any(has_failed) {
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    })
}

/// Returns whether a resource has failed or is missing.
fn has_failed(status: &ResourceStatus) -> bool {
    status.health.as_ref().is_none_or(|it| it.state == HealthState::Failed)
}

fn text(view: &View, open: &OpenStack, resources: &Resources) -> String {
    let style = view.style();
    let mut lines = vec![style.paint(Role::Heading, &open.title())];
    if resources.is_empty() {
        let list = "`kusion stack list` shows where stacks are deployed";
        lines.push(format!("  no resources; {list}"));
    }
    // On a terminal, half of a line is left for the health.
    let room = View::columns().map(|it| it / 2);
    let label = |id: &ResourceId| short_id(&one_line(id.as_str()), room);
    let width = resources.keys().map(|id| label(id).width()).max().unwrap_or(0);
    for (id, status) in resources {
        let (mark, role, words) = match &status.health {
            None => ("?", Role::Bad, "missing; the next apply will recreate it".to_owned()),
            Some(health) => {
                let (mark, _, role) = words::of_state(health.state);
                (mark, role, words::of_health(health))
            }
        };
        let id = pad(&label(id), width);
        lines.push(format!("  {} {id}  {words}", style.paint(role, mark)));
        lines.extend(related::lines(&status.related, View::wide_frame(), style));
    }
    let is = |state: HealthState| {
        let has = |it: &&ResourceStatus| it.health.as_ref().is_some_and(|it| it.state == state);
        resources.values().filter(has).count()
    };
    if !resources.is_empty() {
        let (ready, all) = (is(HealthState::Ready), resources.len());
        lines.push(format!("{ready} of {} ready", words::count(all, "resource")));
    }
    lines.push(String::new());
    lines.join("\n")
}
