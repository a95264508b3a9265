//! Arguments that several commands share.

mod backend;
mod cluster;
pub(crate) mod duration;
mod operation;
mod stacks;

pub(crate) use backend::BackendArgs;
pub(crate) use cluster::{Cluster, ClusterArgs};
pub(crate) use operation::{LockArgs, PlanArgs, StepArgs};
pub(crate) use stacks::{FolderArgs, ProgramArgs, quoted};

use crate::view::{Color, Output, View};
use std::sync::Arc;

/// How results are shown.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ViewArgs {
    /// Form of the output; `json` writes one object per line
    #[arg(long, short, value_enum, default_value_t)]
    pub(crate) output: Output,
    /// When the output has colours
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: Color,
}

impl ViewArgs {
    /// Makes the view.
    pub(crate) fn view(self) -> Arc<View> {
        View::new(self.output, self.color)
    }
}
