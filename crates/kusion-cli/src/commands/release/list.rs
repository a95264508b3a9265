//! `kusion release list`.

use crate::arguments::{StackArgs, app, user_config};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{style, words};
use kusion_app::{StackEntry, wire};
use kusion_engine::EventSink;
use kusion_model::StackKey;
use kusion_store::ReleaseEntry;
use std::sync::Arc;

/// Arguments of `kusion release list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
    /// List the releases of all stacks of the state store, without their files
    #[arg(long, conflicts_with_all = ["folders", "workdir", "sandbox", "place"])]
    all: bool,
}

/// Lists the releases of a stack, the newest last.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.all {
        return list_all(args);
    }
    args.stack.read(async |view, open| {
        let releases = open.stack.state().await?.releases;
        for release in &releases {
            view.json(&wire::ReleaseLine::new(open.key(), release, None));
        }
        view.text(&if releases.is_empty() {
            format!("{} has no releases\n", open.title())
        } else {
            text(&releases)
        });
        Ok(())
    })
}

/// Lists the releases of all stacks of a store, in the order of their starts.
fn list_all(args: &Args) -> Result<Exit, Failure> {
    args.stack.view.show(|view| {
        interrupt::read(async {
            let mut app = app(Arc::clone(view) as Arc<dyn EventSink>, 1)?;
            let backend = args.stack.site.backend.backend.clone().or(user_config()?.backend);
            let entries = app.inventory(backend.as_deref()).await?;
            app.close().await;
            let mut releases = Vec::new();
            let mut exit = Exit::Success;
            for StackEntry { key, state, .. } in &entries {
                match state {
                    Ok(state) => releases.extend(state.releases.iter().map(|it| (key, it))),
                    Err(error) => {
                        view.notice(&style::printable(&format!("error: {key}: {error}")));
                        exit = Exit::Failed;
                    }
                }
            }
            releases.sort_by(|(_, a), (_, b)| a.started.cmp(&b.started));
            for (key, release) in &releases {
                view.json(&wire::ReleaseLine::new(key, release, None));
            }
            view.text(&text_of_all(&releases));
            Ok(exit)
        })
    })
}

fn text_of_all(releases: &[(&StackKey, &ReleaseEntry)]) -> String {
    if releases.is_empty() {
        return "no releases\n".to_owned();
    }
    let has_commits = releases.iter().any(|(_, it)| it.head.git.is_some());
    let mut rows = vec![heads(has_commits)];
    rows[0].splice(0..0, ["STACK", "PLACE"].map(str::to_owned));
    for (key, release) in releases {
        let mut row = row(release, has_commits);
        let name = style::one_line(&format!("{}/{}", key.project, key.stack));
        row.splice(0..0, [name, key.place.to_string()]);
        rows.push(row);
    }
    style::table(&rows)
}

/// Returns the table of releases. Commits have a column if a release has one.
pub(super) fn text(releases: &[ReleaseEntry]) -> String {
    let has_commits = releases.iter().any(|it| it.head.git.is_some());
    let mut rows = vec![heads(has_commits)];
    rows.extend(releases.iter().map(|it| row(it, has_commits)));
    style::table(&rows)
}

fn heads(has_commits: bool) -> Vec<String> {
    let mut heads = vec!["REVISION", "OPERATION", "STATE", "HEALTH", "STARTED", "TOOK", "BY"];
    heads.extend(has_commits.then_some("COMMIT"));
    heads.push("MESSAGE");
    heads.into_iter().map(str::to_owned).collect()
}

fn row(release: &ReleaseEntry, has_commits: bool) -> Vec<String> {
    let head = &release.head;
    let ended = release.ended.as_deref().and_then(|it| it.parse().ok());
    let took = ended.and_then(|it| words::between(&release.started, it));
    let health = release.health.as_ref().map(|it| words::of_release_health(it.health));
    let message = if head.message.is_empty() { &release.message } else { &head.message };
    let mut row = vec![
        head.revision.to_string(),
        words::of_operation(head.operation),
        words::of_phase(release.phase).0.to_owned(),
        health.unwrap_or_default().to_owned(),
        release.started.clone(),
        took.map(words::of_duration).unwrap_or_default(),
        style::one_line(&head.operator),
    ];
    let commit = head.git.as_ref().map(words::of_commit);
    row.extend(has_commits.then(|| commit.unwrap_or_default()));
    row.push(style::one_line(message));
    row
}
