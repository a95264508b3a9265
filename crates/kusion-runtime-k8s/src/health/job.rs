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
            1 => "1 pod completed".to_owned(),
            n => format!("{n} pods completed"),
        });
    }
    if flag(object, "/spec/suspend") {
        return Health::ready("suspended");
    }
    let active = number(object, "/status/active");
    // Without a count, the job is done when its first pod succeeds and all have ended.
    let words = match object.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(desired) => format!("{succeeded} of {desired} pods completed, {active} active"),
        None => format!("active pods: {active}"),
    };
    Health::progressing(words)
}
