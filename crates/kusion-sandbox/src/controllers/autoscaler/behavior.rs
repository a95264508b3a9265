//! How fast an autoscaler may scale: stabilization windows and policies.

use crate::controllers::meta::{int, items, text};
use serde_json::Value;

/// How long lower recommendations wait if the autoscaler does not say it, in seconds.
const DOWN_WINDOW: i64 = 300;

/// What is remembered of an autoscaler between two looks.
#[derive(Debug, Default, Clone)]
pub(crate) struct Memory {
    /// Times (milliseconds) and numbers of replicas that were recommended.
    recommendations: Vec<(i64, i64)>,
    /// Times and changes of replicas.
    scalings: Vec<(i64, i64)>,
}

/// A number of replicas within limits, and the conditions that say why.
pub(super) struct Limited {
    pub(super) desired: i64,
    /// Reason and message of `AbleToScale`.
    pub(super) able: (&'static str, &'static str),
    /// Status, reason and message of `ScalingLimited`.
    pub(super) scaling: (bool, &'static str, &'static str),
}

const WITHIN: (bool, &str, &str) =
    (false, "DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_FEW: (bool, &str, &str) =
    (true, "TooFewReplicas", "the desired replica count is less than the minimum replica count");
const TOO_MANY: (bool, &str, &str) =
    (true, "TooManyReplicas", "the desired replica count is more than the maximum replica count");
const UP_LIMIT: (bool, &str, &str) = (
    true,
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
);
const DOWN_LIMIT: (bool, &str, &str) = (
    true,
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
);
const STEADY: (&str, &str) = ("ReadyForNewScale", "recommended size matches current size");
const HIGHER: (&str, &str) = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const LOWER: (&str, &str) = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);

impl Memory {
    /// Notes the size of a target that is seen for the first time.
    pub(super) fn start(&mut self, current: i64, now: i64) {
        if self.recommendations.is_empty() {
            self.recommendations.push((now, current));
        }
    }

    /// Notes that a target was scaled.
    pub(super) fn scaled(&mut self, before: i64, after: i64, now: i64) {
        self.scalings.push((now, after - before));
        let longest = 3600 * 1000;
        self.scalings.retain(|(time, _)| now - time <= longest);
    }

    /// Brings a recommendation into the limits of an autoscaler.
    pub(super) fn limit(&mut self, spec: &Value, current: i64, wanted: i64, now: i64) -> Limited {
        let behavior = &spec["behavior"];
        let window = |key: &str, default: i64| {
            1000 * int(&behavior[key]["stabilizationWindowSeconds"], default)
        };
        let (up, down) = (window("scaleUp", 0), window("scaleDown", DOWN_WINDOW));
        let (stable, able) = self.stabilized(current, wanted, now, up, down);
        let (lowest, highest) = (int(&spec["minReplicas"], 1), int(&spec["maxReplicas"], 0));
        let (desired, scaling) = if behavior.is_object() {
            self.by_policies(behavior, current, stable, now, (lowest, highest))
        } else {
            let fastest = (2 * current).max(4);
            match stable {
                stable if stable < lowest => (lowest, TOO_FEW),
                stable if stable > highest.min(fastest) => {
                    let reason = if highest > fastest { UP_LIMIT } else { TOO_MANY };
                    (highest.min(fastest), reason)
                }
                stable => (stable, WITHIN),
            }
        };
        Limited { desired, able, scaling }
    }

    /// The recommendation that recent ones allow: no lower than those of the window for scaling
    /// down, no higher than those of the window for scaling up.
    fn stabilized(
        &mut self,
        current: i64,
        wanted: i64,
        now: i64,
        up: i64,
        down: i64,
    ) -> (i64, (&'static str, &'static str)) {
        let longest = up.max(down);
        self.recommendations.retain(|(time, _)| now - time <= longest);
        let recent = |window: i64| {
            self.recommendations.iter().filter(move |(time, _)| now - time < window).map(|it| it.1)
        };
        let lowest = recent(up).chain([wanted]).min().unwrap_or(wanted);
        let highest = recent(down).chain([wanted]).max().unwrap_or(wanted);
        let mut stable = current;
        stable = stable.max(lowest);
        stable = stable.min(highest);
        self.recommendations.push((now, wanted));
        let able = match stable {
            stable if stable == wanted => STEADY,
            stable if stable > wanted => HIGHER,
            _ => LOWER,
        };
        (stable, able)
    }

    /// How many replicas were added (or removed) in the last seconds.
    fn change(&self, seconds: i64, now: i64, added: bool) -> i64 {
        self.scalings
            .iter()
            .filter(|(time, change)| now - time < 1000 * seconds && (*change > 0) == added)
            .map(|(_, change)| change.abs())
            .sum()
    }

    fn by_policies(
        &self,
        behavior: &Value,
        current: i64,
        wanted: i64,
        now: i64,
        (lowest, highest): (i64, i64),
    ) -> (i64, (bool, &'static str, &'static str)) {
        if wanted > current {
            let limit = self.limit_of(&behavior["scaleUp"], current, now, true).max(current);
            let most = highest.min(limit);
            if wanted > most {
                return (most, if highest > limit { UP_LIMIT } else { TOO_MANY });
            }
        } else if wanted < current {
            let limit = self.limit_of(&behavior["scaleDown"], current, now, false).min(current);
            let least = lowest.max(limit);
            if wanted < least {
                return (least, if lowest < limit { DOWN_LIMIT } else { TOO_FEW });
            }
        }
        match wanted {
            wanted if wanted < lowest => (lowest, TOO_FEW),
            wanted if wanted > highest => (highest, TOO_MANY),
            wanted => (wanted, WITHIN),
        }
    }

    /// The replicas to which the policies of one direction let a target scale now.
    fn limit_of(&self, rules: &Value, current: i64, now: i64, up: bool) -> i64 {
        let select = text(&rules["selectPolicy"]);
        if select == "Disabled" {
            return current;
        }
        let limits = items(&rules["policies"]).iter().map(|policy| {
            let (value, seconds) = (int(&policy["value"], 0), int(&policy["periodSeconds"], 0));
            let base = if up {
                current - self.change(seconds, now, true)
            } else {
                current + self.change(seconds, now, false)
            };
            match (text(&policy["type"]), up) {
                ("Pods", true) => base + value,
                ("Pods", false) => base - value,
                (_, true) => (base as f64 * (1.0 + value as f64 / 100.0)).ceil() as i64,
                (_, false) => (base as f64 * (1.0 - value as f64 / 100.0)) as i64,
            }
        });
        // The policy that changes most, or least.
        let found = match (up, select == "Min") {
            (true, false) | (false, true) => limits.max(),
            (true, true) | (false, false) => limits.min(),
        };
        found.unwrap_or(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> Value {
        json!({"minReplicas": 1, "maxReplicas": 10})
    }

    #[test]
    fn scaling_down_waits_for_the_window() {
        let mut memory = Memory::default();
        memory.start(5, 0);
        let limited = memory.limit(&spec(), 5, 2, 1000);
        assert_eq!((limited.desired, limited.able.0), (5, "ScaleDownStabilized"));
        let limited = memory.limit(&spec(), 5, 2, 302_000);
        assert_eq!((limited.desired, limited.able.0), (2, "ReadyForNewScale"));
    }

    #[test]
    fn scaling_up_is_immediate_and_limited() {
        let mut memory = Memory::default();
        memory.start(1, 0);
        let limited = memory.limit(&spec(), 1, 9, 1000);
        assert_eq!((limited.desired, limited.scaling.1), (4, "ScaleUpLimit"));
        let limited = memory.limit(&spec(), 8, 20, 2000);
        assert_eq!((limited.desired, limited.scaling.1), (10, "TooManyReplicas"));
        let limited = memory.limit(&spec(), 3, 4, 3000);
        assert_eq!((limited.desired, limited.scaling.1), (4, "DesiredWithinRange"));
    }

    #[test]
    fn policies_limit_the_rate() {
        let spec = json!({"minReplicas": 1, "maxReplicas": 100, "behavior": {
            "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15}]},
            "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Min", "policies": [
                {"type": "Pods", "value": 2, "periodSeconds": 60},
                {"type": "Percent", "value": 50, "periodSeconds": 60}]},
        }});
        let mut memory = Memory::default();
        let limited = memory.limit(&spec, 10, 50, 1000);
        assert_eq!((limited.desired, limited.scaling.1), (20, "ScaleUpLimit"));
        memory.scaled(10, 20, 1000);
        let limited = memory.limit(&spec, 20, 50, 2000);
        assert_eq!(limited.desired, 20, "the rate of this period is used up");
        let limited = memory.limit(&spec, 20, 50, 17_000);
        assert_eq!(limited.desired, 40);
        let limited = memory.limit(&spec, 40, 1, 18_000);
        assert_eq!((limited.desired, limited.scaling.1), (38, "ScaleDownLimit"));
    }
}
