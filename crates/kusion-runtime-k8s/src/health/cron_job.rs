//! Cron jobs.

use super::fields::{flag, list};
use kusion_model::Health;
use serde_json::Value;

/// A cron job has done its duty when it is there; its first run may be a year away.
pub(super) fn health(object: &Value) -> Health {
    if flag(object, "/spec/suspend") {
        return Health::ready("it is suspended");
    }
    match list(object, "/status/active").len() {
        0 => Health::ready("it waits for its time"),
        1 => Health::ready("1 job runs"),
        n => Health::ready(format!("{n} jobs run")),
    }
}
