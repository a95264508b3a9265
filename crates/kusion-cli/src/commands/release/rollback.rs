//! `kusion release rollback`.

use crate::arguments::{ChangeArgs, StackArgs};
use crate::failure::{Exit, Failure};
use crate::operate::{Operating, ROLLBACK, change};

/// Where a stack is brought back to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The release whose wants count again
    #[arg(value_name = "REV")]
    revision: u64,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Brings a stack to what an earlier release wanted.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.stack.view.show(|view| {
        let stack = args.stack.folders.find_one()?;
        change(view, &args.stack.site, &args.change, async |desk, stop| {
            let place = desk.open(&stack).await?;
            let operating = Operating::new(view, &place, &args.change, ROLLBACK, stop);
            let (to, options, ask) = (args.revision, operating.options(), operating.ask());
            operating.end(place.engine.rollback(&place.key, to, options, &ask).await)
        })
    })
}
