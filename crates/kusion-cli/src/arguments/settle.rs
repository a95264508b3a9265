//! The settling time of commands that wait until resources are ready.

use super::duration;
use kusion_engine::DEFAULT_SETTLE;
use std::time::Duration;

/// The settling time.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct SettleArgs {
    /// How long pods without a readiness probe, and pods that restarted, must stay ready
    /// [default: 3s; a controller with `minReadySeconds` waits itself]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    settle: Option<Duration>,
}

impl SettleArgs {
    /// Returns the settling time.
    pub(crate) fn time(self) -> Duration {
        self.settle.unwrap_or(DEFAULT_SETTLE)
    }
}
