//! `kusion release show`.

use super::{StackArgs, wanted};
use crate::failure::{Exit, Failure};
use crate::view::words;
use crate::work;
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
    let view = args.stack.view.view();
    view.tell(work::read(async {
        let place = args.stack.open(&view).await?;
        let state = place.engine.store().read(&place.key).await?;
        let missing = || Failure::NoRelease { stack: place.key.clone(), revision: args.revision };
        let release = state.release(args.revision).ok_or_else(missing)?;
        let spec = wanted(&place, args.revision, &|_| Value::from("(secret)")).await?;
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
        Ok(Exit::Success)
    }))
}
