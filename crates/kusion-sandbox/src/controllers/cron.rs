//! Cron schedules: five fields, names, ranges, steps, and the usual shorthands.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use kusion_k8s_schema::milliseconds;

/// When something is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    any_day: bool,
    any_weekday: bool,
    every_ms: Option<i64>,
}

const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// How many days ahead the next time is looked for.
const HORIZON_DAYS: i32 = 5 * 366;

impl Schedule {
    /// Reads a schedule; none when it is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let expanded = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            _ => text,
        };
        if let Some(every) = expanded.strip_prefix("@every ") {
            let every_ms = milliseconds(every)?.max(1000);
            return Some(Self {
                minutes: 0,
                hours: 0,
                days: 0,
                months: 0,
                weekdays: 0,
                any_day: true,
                any_weekday: true,
                every_ms: Some(every_ms),
            });
        }
        let fields: Vec<&str> = expanded.split_ascii_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else { return None };
        let star = |field: &str| field.starts_with(['*', '?']);
        let mut days_of_week = field(weekdays, 0, 7, WEEKDAYS)?;
        if days_of_week & (1 << 7) != 0 {
            days_of_week = (days_of_week | 1) & !(1 << 7);
        }
        Some(Self {
            minutes: field(minutes, 0, 59, &[])?,
            hours: field(hours, 0, 23, &[])?,
            days: field(days, 1, 31, &[])?,
            months: field(months, 1, 12, MONTHS)?,
            weekdays: days_of_week,
            any_day: star(days),
            any_weekday: star(weekdays),
            every_ms: None,
        })
    }

    /// The first time after `after` in a time zone; none when there is none in five years.
    pub(crate) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        if let Some(every) = self.every_ms {
            return Timestamp::from_second((after.as_millisecond() + every) / 1000).ok();
        }
        let local = zone.to_datetime(after);
        let mut day = local.date();
        for ahead in 0..HORIZON_DAYS {
            if self.takes_day(day.month(), day.day(), day.weekday()) {
                let from = if ahead == 0 { i32::from(local.hour()) } else { 0 };
                for hour in from..24 {
                    if self.hours & (1 << hour) == 0 {
                        continue;
                    }
                    if let Some(found) = self.minute_in(day, hour as i8, after, zone) {
                        return Some(found);
                    }
                }
            }
            day = day.checked_add(1.day()).ok()?;
        }
        None
    }

    fn minute_in(
        &self,
        day: jiff::civil::Date,
        hour: i8,
        after: Timestamp,
        zone: &TimeZone,
    ) -> Option<Timestamp> {
        for minute in 0..60 {
            if self.minutes & (1 << minute) == 0 {
                continue;
            }
            let time = DateTime::from_parts(day, jiff::civil::Time::constant(hour, minute, 0, 0));
            let zoned = zone.to_ambiguous_zoned(time).compatible().ok()?;
            // A time that a change of the clock skips does not exist on this day.
            if zoned.datetime() == time && zoned.timestamp() > after {
                return Some(zoned.timestamp());
            }
        }
        None
    }

    fn takes_day(&self, month: i8, day: i8, weekday: Weekday) -> bool {
        if self.months & (1 << month) == 0 {
            return false;
        }
        let by_day = self.days & (1 << day) != 0;
        let by_weekday = self.weekdays & (1 << weekday.to_sunday_zero_offset()) != 0;
        if self.any_day || self.any_weekday { by_day && by_weekday } else { by_day || by_weekday }
    }
}

/// Reads one field into a set of bits.
fn field(text: &str, low: u32, high: u32, names: &[&str]) -> Option<u64> {
    let mut bits = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse::<u32>().ok().filter(|it| *it > 0)?),
            None => (part, 1),
        };
        let (first, last) = if range == "*" || range == "?" {
            (low, if high == 7 { 6 } else { high })
        } else if let Some((first, last)) = range.split_once('-') {
            (number(first, low, names)?, number(last, low, names)?)
        } else {
            let only = number(range, low, names)?;
            (only, if part.contains('/') { high } else { only })
        };
        if first < low || last > high || first > last {
            return None;
        }
        for value in (first..=last).step_by(step as usize) {
            bits |= 1 << value;
        }
    }
    Some(bits)
}

fn number(text: &str, low: u32, names: &[&str]) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    if let Some(idx) = names.iter().position(|it| *it == lower) {
        return Some(idx as u32 + low);
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, after: &str, zone: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let found = Schedule::parse(schedule).unwrap().next(after.parse().unwrap(), &zone);
        found.unwrap().to_string()
    }

    #[test]
    fn the_next_time_is_found() {
        for (schedule, after, expected) in [
            ("*/1 * * * ?", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"),
            ("0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
            ("30 4 1,15 * 5", "2026-01-02T05:00:00Z", "2026-01-09T04:30:00Z"),
            ("0 12 * jan-mar mon", "2026-03-31T00:00:00Z", "2027-01-04T12:00:00Z"),
            ("@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z"),
            ("@every 1h", "2026-01-01T00:10:00Z", "2026-01-01T01:10:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ] {
            assert_eq!(next(schedule, after, "UTC"), expected, "{schedule}");
        }
    }

    #[test]
    fn time_zones_count() {
        assert_eq!(
            next("0 9 * * *", "2026-06-01T00:00:00Z", "America/New_York"),
            "2026-06-01T13:00:00Z"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "* * * *", "60 * * * *", "* * * * 8", "a * * * *", "*/0 * * * *", "5-1 * * * *"]
        {
            assert_eq!(Schedule::parse(text), None, "{text}");
        }
    }
}
