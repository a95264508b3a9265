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

/// Returns the table of releases.
pub(super) fn text(releases: &[ReleaseEntry]) -> String {
    let heads = ["REVISION", "OPERATION", "STATE", "HEALTH", "STARTED", "TOOK", "BY", "MESSAGE"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for release in releases {
        let head = &release.head;
        let ended = release.ended.as_deref().and_then(|it| it.parse().ok());
        let took = ended.and_then(|it| words::between(&release.started, it));
        rows.push(vec![
            head.revision.to_string(),
            words::of_operation(head.operation),
            words::of_phase(release.phase).0.to_owned(),
            release
                .health
                .as_ref()
                .map(|it| words::of_release_health(it.health))
                .unwrap_or_default()
                .to_owned(),
            release.started.clone(),
            took.map(words::of_duration).unwrap_or_default(),
            style::one_line(&head.operator),
            style::one_line(if head.message.is_empty() { &release.message } else { &head.message }),
        ]);
    }
    style::table(&rows)
}
