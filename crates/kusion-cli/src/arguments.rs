//! Arguments that several commands share.

mod backend;
mod cluster;
mod confine;
mod diff;
pub(crate) mod duration;
mod layers;
mod operation;
mod providers;
pub(crate) mod runtimes;
mod settle;
mod site;
mod stacks;
mod wide;

pub(crate) use backend::{BackendArgs, StoreArgs};
pub(crate) use cluster::{ClusterArgs, SandboxStart};
pub(crate) use diff::{DiffArgs, DiffForm};
pub(crate) use layers::leaf_path;
pub(crate) use operation::{ChangeArgs, ParallelArgs, PlanArgs};
pub(crate) use providers::{ProviderArgs, installed};
pub(crate) use settle::SettleArgs;
pub(crate) use site::{Opener, SiteArgs, app, trusts_by_environment, user_config};
pub(crate) use stacks::{FolderArgs, SourceArgs, StackArgs, quoted};
pub(crate) use wide::WideArgs;

use crate::failure::Failure;
use crate::view::{Color, Output, PlanOutput, View};
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

/// Options of the output of plans.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct PlanViewArgs {
    /// Output format; `json` writes one object per line, `markdown` a comment for a pull request
    #[arg(long, short, value_enum, default_value_t)]
    output: PlanOutput,
    /// When to use colors
    #[arg(long, value_enum, default_value_t)]
    color: Color,
    #[command(flatten)]
    diff: DiffArgs,
}

impl PlanViewArgs {
    /// Runs a command with a view; also reports a failure in the output for programs.
    pub(crate) fn show<T>(
        self,
        work: impl FnOnce(&Arc<View>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let view = View::new(self.output, self.color);
        view.set_diff_form(self.diff.form());
        view.tell(work(&view))
    }
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
