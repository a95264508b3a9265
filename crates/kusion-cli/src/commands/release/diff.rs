//! `kusion release diff`.

use crate::arguments::{DiffArgs, StackArgs};
use crate::failure::{Exit, Failure};
use kusion_app::releases;

/// Arguments of `kusion release diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision of the earlier release
    #[arg(value_name = "REV", value_parser = super::number)]
    from: u64,
    /// Revision of the later release
    #[arg(value_name = "REV", value_parser = super::number)]
    to: u64,
    #[command(flatten)]
    diff: DiffArgs,
    #[command(flatten)]
    stack: StackArgs,
}

/// Shows the differences between the Specs of two releases.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.read(async |view, open| {
        let compared = releases::compare(&open.stack, args.from, args.to).await;
        let (plan, origins) = compared.map_err(|error| Failure::of_release(error, open.key()))?;
        let (from, to, title) = (args.from, args.to, open.title());
        view.set_diff_form(args.diff.form());
        let title = format!("from release {from} to release {to} of {title}");
        view.plan(&title, &plan, &[], &origins);
        Ok(())
    })
}
