//! The settling time of commands that wait until resources are ready.

use super::duration;
use crate::failure::Failure;
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
    /// Checks that something waits for resources; otherwise the option would have no effect.
    pub(crate) fn check(self, waits: bool, options: &str) -> Result<(), Failure> {
        if waits || self.settle.is_none() {
            return Ok(());
        }
        let text = format!("`--settle` has no effect without {options}: nothing waits for pods");
        Err(Failure::Usage(text))
    }

    /// Returns the settling time.
    pub(crate) fn time(self) -> Duration {
        self.settle.unwrap_or(DEFAULT_SETTLE)
    }
}
