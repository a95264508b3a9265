//! `kusion release list`.

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::view::{style, words};
use kusion_app::wire;
use kusion_store::ReleaseEntry;

/// Arguments of `kusion release list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

/// Lists the releases of a stack, the newest last.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
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

/// Returns the table of releases. Commits have a column if a release has one.
pub(super) fn text(releases: &[ReleaseEntry]) -> String {
    let has_commits = releases.iter().any(|it| it.head.git.is_some());
    let mut heads = vec!["REVISION", "OPERATION", "STATE", "HEALTH", "STARTED", "TOOK", "BY"];
    heads.extend(has_commits.then_some("COMMIT"));
    heads.push("MESSAGE");
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect()];
    rows.extend(releases.iter().map(|it| row(it, has_commits)));
    style::table(&rows)
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
