//! `kusion policy scan`.

use super::report::{ReportOutput, show};
use crate::arguments::{FolderArgs, SiteArgs};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{Color, PlanOutput, View};
use kusion_app::policies::{actor, check_live, now};

/// Arguments of `kusion policy scan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    site: SiteArgs,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: ReportOutput,
}

/// Evaluates policies on the live objects of a stack.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let stack = args.folders.find_one()?;
    let view = View::new(PlanOutput::Text, Color::Never);
    let checked = interrupt::read(async {
        let mut opener = args.site.opener(&view)?;
        let open = opener.open(&stack).await?;
        let live = open.stack.live_without_secrets().await?;
        let checked = check_live(&stack, &open, &live, &actor(), now())?;
        opener.close().await;
        Ok(checked)
    })?;
    show(&checked, &[], args.output, 1, 0)
}
