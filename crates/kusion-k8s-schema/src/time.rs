//! Times as text: RFC 3339, read and written in the one form that servers use.

/// A point in time: seconds since 1970 and billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// Seconds since the start of 1970, UTC.
    pub seconds: i64,
    /// Billionths of a second.
    pub nanos: u32,
}

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const MICRO_LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";

/// Reads a time and returns it in seconds, UTC; the error is the server's message.
pub fn canonical_time(text: &str) -> Result<String, String> {
    parse(text, LAYOUT).map(|instant| write(instant, false))
}

/// Reads a time and returns it in microseconds, UTC; the error is the server's message.
pub fn canonical_micro_time(text: &str) -> Result<String, String> {
    parse(text, MICRO_LAYOUT).map(|instant| write(instant, true))
}

/// Reads a time.
pub fn parse_time(text: &str) -> Option<Instant> {
    parse(text, LAYOUT).ok()
}

/// Writes a time in seconds, UTC (`2026-01-02T03:04:05Z`).
pub fn format_time(seconds: i64) -> String {
    write(Instant { seconds, nanos: 0 }, false)
}

/// Writes a time in microseconds, UTC (`2026-01-02T03:04:05.000006Z`).
pub fn format_micro_time(instant: Instant) -> String {
    write(instant, true)
}

fn write(instant: Instant, micro: bool) -> String {
    let days = instant.seconds.div_euclid(86_400);
    let second = instant.seconds.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = if micro { format!(".{:06}", instant.nanos / 1000) } else { String::new() };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Reads part after part; the message names the part that does not fit.
struct Scan<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'a str,
}

impl Scan<'_> {
    fn fail<T>(&self, part: &str) -> Result<T, String> {
        Err(format!(
            "parsing time {:?} as {:?}: cannot parse {:?} as {part:?}",
            self.text, self.layout, self.rest
        ))
    }

    fn digits(&mut self, count: usize, part: &str) -> Result<i64, String> {
        match self.rest.get(..count) {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = digits.parse().unwrap_or_default();
                self.rest = &self.rest[count..];
                Ok(number)
            }
            _ => self.fail(part),
        }
    }

    fn mark(&mut self, mark: &str) -> Result<(), String> {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.fail(mark),
        }
    }

    fn within(&self, number: i64, low: i64, high: i64, what: &str) -> Result<i64, String> {
        if (low..=high).contains(&number) {
            return Ok(number);
        }
        Err(format!("parsing time {:?}: {what} out of range", self.text))
    }

    fn fraction(&mut self) -> u32 {
        let Some(rest) = self.rest.strip_prefix('.') else { return 0 };
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return 0;
        }
        let nanos = (0..9).fold(0, |sum, at| {
            sum * 10
                + rest.as_bytes().get(at).filter(|_| at < count).map_or(0, |b| u32::from(b - b'0'))
        });
        self.rest = &rest[count..];
        nanos
    }

    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let bytes = self.rest.as_bytes();
        let digit =
            |at: usize| bytes.get(at).filter(|b| b.is_ascii_digit()).map(|b| i64::from(b - b'0'));
        let sign = match bytes.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return self.fail("Z07:00"),
        };
        let (Some(a), Some(b), Some(b':'), Some(c), Some(d)) =
            (digit(1), digit(2), bytes.get(3), digit(4), digit(5))
        else {
            return self.fail("Z07:00");
        };
        let (hours, minutes) = (a * 10 + b, c * 10 + d);
        if hours > 24 || minutes > 60 {
            return self.fail("Z07:00");
        }
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

fn parse(text: &str, layout: &str) -> Result<Instant, String> {
    let mut scan = Scan { text, rest: text, layout };
    let year = scan.digits(4, "2006")?;
    scan.mark("-")?;
    let month = scan.digits(2, "01")?;
    let month = scan.within(month, 1, 12, "month")?;
    scan.mark("-")?;
    let day = scan.digits(2, "02")?;
    scan.mark("T")?;
    let hour = scan.digits(2, "15")?;
    let hour = scan.within(hour, 0, 23, "hour")?;
    scan.mark(":")?;
    let minute = scan.digits(2, "04")?;
    let minute = scan.within(minute, 0, 59, "minute")?;
    scan.mark(":")?;
    let second = scan.digits(2, "05")?;
    let second = scan.within(second, 0, 59, "second")?;
    if layout == MICRO_LAYOUT && !scan.rest.starts_with('.') {
        return scan.fail(".000000");
    }
    let nanos = scan.fraction();
    let offset = scan.zone()?;
    if !scan.rest.is_empty() {
        return Err(format!("parsing time {text:?}: extra text: {:?}", scan.rest));
    }
    scan.within(day, 1, days_in(year, month), "day")?;
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Ok(Instant { seconds: seconds - offset, nanos })
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date; years start in March so that leap days come last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a day since 1970-01-01.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (given, expected) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
            ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
            ("2024-02-29T00:00:00-05:00", "2024-02-29T05:00:00Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(canonical_time(given).as_deref(), Ok(expected));
        }
        assert_eq!(
            canonical_micro_time("2026-01-02T03:04:05.1Z").as_deref(),
            Ok("2026-01-02T03:04:05.100000Z")
        );
    }

    #[test]
    fn the_message_names_the_part() {
        assert_eq!(
            canonical_time("zz").expect_err("no time"),
            "parsing time \"zz\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"zz\" as \"2006\""
        );
        assert!(
            canonical_time("2026-13-01T00:00:00Z").expect_err("no").ends_with("month out of range")
        );
        assert!(
            canonical_time("2025-02-29T00:00:00Z").expect_err("no").ends_with("day out of range")
        );
        assert!(canonical_time("2026-01-02é").is_err());
    }
}
