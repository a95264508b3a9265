//! `kusion stack forget`.

use super::RecordedArgs;
use crate::arguments::ViewArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{Answer, words};
use kusion_engine::{RunOptions, Stop};
use kusion_store::Holder;

/// Arguments of `kusion stack forget`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    recorded: RecordedArgs,
    /// Skip the confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    view: ViewArgs,
}

/// Removes all resources of a stack from its state; needs no cluster.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    args.view.show(|view| {
        let mut opener = args.recorded.site.opener(view)?;
        interrupt::read(async {
            let (open, state) = opener.open_recorded(&args.recorded.stack).await?;
            let count = words::count(state.resources.len(), "resource");
            if !args.yes {
                let question = format!("Forget {count} of {}?", open.key());
                match view.ask(&question, &Stop::default()) {
                    Answer::Yes => {}
                    Answer::No => return Err(Failure::Declined),
                    Answer::NoTerminal => return Err(Failure::NeedsYes),
                }
            }
            let options = RunOptions::new(Holder::current("kusion stack forget"));
            open.stack.forget_all(&options).await?;
            view.text(&format!(
                "removed {count} of {} from the state; the objects were left alone\n",
                open.key()
            ));
            opener.close().await;
            Ok(Exit::Success)
        })
    })
}
