//! Cron jobs.

use super::fields::{flag, list};
use kusion_model::Health;
use serde_json::Value;

/// A cron job is ready when it exists; its first run may be far in the future.
pub(super) fn health(object: &Value) -> Health {
    if flag(object, "/spec/suspend") {
        return Health::ready("suspended");
    }
    match list(object, "/status/active").len() {
        0 => Health::ready("waiting for the next scheduled run"),
        1 => Health::ready("1 active job"),
        n => Health::ready(format!("{n} active jobs")),
    }
}
