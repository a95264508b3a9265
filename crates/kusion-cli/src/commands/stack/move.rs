//! `kusion stack move`.

use crate::arguments::StackArgs;
use crate::failure::{Exit, Failure};
use kusion_engine::RunOptions;
use kusion_store::Holder;

/// Arguments of `kusion stack move`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stack: StackArgs,
}

/// Records where the files of a stack are now.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.read(async |view, open| {
        let options = RunOptions::new(Holder::current("kusion stack move"));
        let mut locked = open.stack.lock(&options).await?;
        let moved = locked.move_source().await;
        locked.release().await?;
        let key = open.key();
        view.text(&match moved? {
            Some(source) => format!("{key} is now deployed from {source}\n"),
            None => format!("{key} is deployed from here already\n"),
        });
        Ok(())
    })
}
