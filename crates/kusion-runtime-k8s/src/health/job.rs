//! Jobs.

use super::fields::{Condition, condition, flag, number};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    let is = |kind: &str| condition(object, kind).filter(Condition::is_true);
    if let Some(failed) = is("Failed").or_else(|| is("FailureTarget")) {
        return failed.failed();
    }
    let succeeded = number(object, "/status/succeeded");
    if is("Complete").is_some() {
        return Health::ready(match succeeded {
            1 => "1 pod has finished".to_owned(),
            n => format!("{n} pods have finished"),
        });
    }
    if flag(object, "/spec/suspend") {
        return Health::ready("it is suspended");
    }
    let active = number(object, "/status/active");
    // Without a count, the job is done when its first pod succeeds and all have ended.
    let words = match object.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded} of {wanted} pods have finished, {active} run"),
        None => format!("{active} pods run"),
    };
    Health::progressing(words)
}
