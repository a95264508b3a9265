//! `kusion release show`.

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::view::words;
use kusion_app::{releases, secrets, wire};
use kusion_generate::spec_yaml;
use serde_json::Value;
use std::fmt::Write as _;

/// Arguments of `kusion release show`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision of the release
    #[arg(value_name = "REV", value_parser = super::number)]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
}

/// Shows a release and its Spec, without secrets.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.read(async |view, open| {
        let state = open.stack.state().await?;
        let missing = || Failure::NoRelease { stack: open.key().clone(), revision: args.revision };
        let release = state.release(args.revision).ok_or_else(missing)?;
        let stored = releases::spec_with_origins(&open.stack, args.revision).await?;
        let (mut spec, origins) = stored;
        view.json(&wire::ReleaseLine::new(open.key(), release, Some((&spec, &origins))));
        for resource in &mut spec.resources {
            secrets::hide(&mut resource.attributes, &|_| Value::from("(secret)"));
        }
        let head = &release.head;
        let mut text = format!(
            "# release {} of {}: {}, {}\n# started {} by {}\n",
            head.revision,
            open.title(),
            words::of_operation(head.operation),
            words::of_phase(release.phase).0,
            release.started,
            head.operator,
        );
        if let Some(git) = &head.git {
            let _ = writeln!(text, "# {}", words::of_commit_long(git));
        }
        for message in [&head.message, &release.message].into_iter().filter(|it| !it.is_empty()) {
            let _ = writeln!(text, "# {}", crate::view::style::one_line(message));
        }
        text.push_str(&spec_yaml(&spec));
        view.text(&text);
        Ok(())
    })
}
