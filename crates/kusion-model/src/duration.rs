//! Durations, as users write them.

use std::time::Duration;

/// Reads `90`, `30s`, `5m`, `1h` or `500ms`; a bare number means seconds.
///
/// # Errors
///
/// If the text is none of these; the message says what is expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let wrong = || {
        format!(
            "invalid duration `{text}`: expected a number and a unit, such as `500ms`, `30s`, `5m`"
        )
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = |factor: u64| number.checked_mul(factor).map(Duration::from_secs);
    let duration = match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" | "" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        _ => None,
    };
    // A century is for ever, and still can be added to an instant.
    duration.map(|it| it.min(Duration::from_hours(876_600))).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_hours(2)));
        for wrong in ["", "s", "1d", "-1s", "1.5s", "99999999999999999999", "5mm"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        assert!(parse_duration("18446744073709551615h").is_err());
    }
}
