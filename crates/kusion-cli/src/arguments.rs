//! Arguments that several commands share.

mod backend;
mod cluster;
mod confine;
pub(crate) mod duration;
mod operation;
mod settle;
mod site;
mod stacks;
mod wide;

pub(crate) use backend::BackendArgs;
pub(crate) use cluster::{ClusterArgs, SandboxStart};
pub(crate) use operation::{ChangeArgs, ParallelArgs, PlanArgs};
pub(crate) use settle::SettleArgs;
pub(crate) use site::{Opener, SiteArgs, app, user_config};
pub(crate) use stacks::{FolderArgs, SourceArgs, StackArgs, quoted};
pub(crate) use wide::WideArgs;

use crate::failure::Failure;
use crate::view::{Color, Output, View};
use std::sync::Arc;

/// Options of the output.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ViewArgs {
    /// Output format; `json` writes one object per line
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) output: Output,
    /// When to use colors
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: Color,
}

impl ViewArgs {
    /// Runs a command with a view; also reports a failure in the output for programs.
    pub(crate) fn show<T>(
        self,
        work: impl FnOnce(&Arc<View>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let view = View::new(self.output, self.color);
        view.tell(work(&view))
    }
}
