//! `kusion state mv`.

use super::EditArgs;
use crate::failure::{Exit, Failure};
use kusion_engine::RunOptions;
use kusion_model::ResourceId;
use kusion_store::Holder;

/// Arguments of `kusion state mv`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the resource, as `kusion stack show` shows it
    #[arg(value_name = "ID")]
    from: String,
    /// Its new id
    #[arg(value_name = "NEW-ID")]
    to: String,
    #[command(flatten)]
    edit: EditArgs,
}

/// Gives a recorded resource another id.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.edit.stack.read(async |view, open| {
        let (from, to) = (ResourceId::new(args.from.as_str()), ResourceId::new(args.to.as_str()));
        let key = open.key();
        open.stack.recorded(&from).await?;
        let question = format!("Move {from} to {to} in the state of {key}?");
        args.edit.confirm(view, &question)?;
        let options = RunOptions::new(Holder::current("kusion state mv"));
        let mut locked = open.stack.lock(&options).await?;
        let moved = locked.rename(&from, &to).await;
        locked.release().await?;
        moved?;
        view.text(&format!("moved {from} to {to} in the state of {key}\n"));
        Ok(())
    })
}
