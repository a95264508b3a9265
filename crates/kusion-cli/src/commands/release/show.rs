//! `kusion release show`.

use super::wanted;
use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use crate::view::words;
use kusion_generate::spec_yaml;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Which release is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The release
    #[arg(value_name = "REV")]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
}

/// Shows a release and what it wanted, without its secrets.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.read(async |view, place| {
        let state = place.engine.store().read(&place.key).await?;
        let missing = || Failure::NoRelease { stack: place.key.clone(), revision: args.revision };
        let release = state.release(args.revision).ok_or_else(missing)?;
        let spec = wanted(place, args.revision, &|_| Value::from("(secret)")).await?;
        let mut value = json!(release);
        if let Some(map) = value.as_object_mut() {
            map.insert("event".to_owned(), "release".into());
            map.insert("spec".to_owned(), json!(spec));
        }
        view.json(&value);
        let head = &release.head;
        let mut text = format!(
            "# release {} of {}: {}, {}\n# started {} by {}\n",
            head.revision,
            place.title,
            words::of_operation(head.operation),
            words::of_phase(release.phase).0,
            head.started,
            head.operator,
        );
        if !release.message.is_empty() {
            let _ = writeln!(text, "# {}", crate::view::style::one_line(&release.message));
        }
        text.push_str(&spec_yaml(&spec));
        view.text(&text);
        Ok(())
    })
}
