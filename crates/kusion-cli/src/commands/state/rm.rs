//! `kusion state rm`.

use super::EditArgs;
use crate::failure::{Exit, Failure};
use kusion_engine::RunOptions;
use kusion_model::ResourceId;
use kusion_store::Holder;

/// Arguments of `kusion state rm`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the resource, as `kusion stack show` shows it
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    edit: EditArgs,
}

/// Removes a resource from the state of a stack.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.edit.stack.read(async |view, open| {
        let id = ResourceId::new(args.id.as_str());
        let key = open.key();
        open.stack.recorded(&id).await?;
        let question = format!(
            "Remove {id} from the state of {key}? Its object is left alone, and the next apply \
             adopts it."
        );
        args.edit.confirm(view, &question)?;
        let options = RunOptions::new(Holder::current("kusion state rm"));
        let mut locked = open.stack.lock(&options).await?;
        let removed = locked.forget(std::slice::from_ref(&id)).await;
        locked.release().await?;
        removed?;
        view.text(&format!("removed {id} from the state of {key}; its object was left alone\n"));
        Ok(())
    })
}
