//! Where stacks live.

use super::{BackendArgs, ClusterArgs};
use crate::desk::Desk;
use crate::failure::Failure;
use crate::view::View;
use std::sync::Arc;

/// Where stacks live: their cluster and the store of their states.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SiteArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) backend: BackendArgs,
}

/// How many calls of commands that only read run at a time.
const READS: usize = 16;

impl SiteArgs {
    /// Makes a desk on which stacks are opened for reading.
    pub(crate) fn desk(&self, view: &Arc<View>) -> Result<Desk<'_>, Failure> {
        Desk::new(view, self, READS)
    }
}
