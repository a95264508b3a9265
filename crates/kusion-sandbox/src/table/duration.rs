//! Spans of time as people read them.

use crate::clock;
use jiff::Timestamp;
use serde_json::Value;

/// Returns how long ago a time was; `<unknown>` when there is none.
pub(crate) fn since(time: &Value) -> String {
    match time.as_str().and_then(clock::parse) {
        Some(time) => human(Timestamp::now().duration_since(time).as_secs()),
        None => "<unknown>".to_owned(),
    }
}

/// Returns the time between two times; until now when the second is missing.
pub(crate) fn between(start: &Value, end: &Value) -> String {
    let Some(start) = start.as_str().and_then(clock::parse) else { return String::new() };
    let end = end.as_str().and_then(clock::parse).unwrap_or_else(Timestamp::now);
    human(end.duration_since(start).as_secs())
}

/// Returns the age of an object.
pub(crate) fn age(object: &Value) -> Value {
    since(&object["metadata"]["creationTimestamp"]).into()
}

/// Returns a number of seconds in at most two units.
pub(crate) fn human(seconds: i64) -> String {
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{small_unit}") }
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two(days, "d", hours % 24, "h"),
        () if days < 730 => format!("{days}d"),
        () if days < 8 * 365 => two(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn spans_have_at_most_two_units() {
        let texts = [5, 119, 120, 125, 3600, 10_800, 11_000, 100_000, 180_000, 800_000].map(human);
        assert_eq!(texts, ["5s", "119s", "2m", "2m5s", "60m", "3h", "3h3m", "27h", "2d2h", "9d"]);
    }
}
