//! `kusion destroy`.

use crate::arguments::{ChangeArgs, FolderArgs, SiteArgs, ViewArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{DESTROY, Operating, change};

/// What is destroyed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    view: ViewArgs,
}

/// Deletes everything of stacks, the last one first.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        let stacks = args.folders.find()?;
        change(view, &args.site, &args.change, async |desk, stop| {
            for stack in stacks.iter().rev() {
                let place = desk.open(stack).await?;
                let operating = Operating::new(view, &place, &args.change, DESTROY, stop);
                let (options, ask) = (operating.options(), operating.ask());
                let exit = operating.end(place.engine.destroy(&place.key, options, &ask).await)?;
                if exit != Exit::Success {
                    return Ok(exit);
                }
            }
            Ok(Exit::Success)
        })
    })
}
