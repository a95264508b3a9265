//! A point in time as policies see it.

use serde_json::{Value, json};

/// A point in time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Milliseconds since the Unix epoch.
    pub millis: u64,
}

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

impl Moment {
    /// Returns the date: `2026-12-01`.
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.seconds() / 86_400);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Returns the time of day: `17:05`.
    pub fn time(self) -> String {
        let minutes = self.seconds() % 86_400 / 60;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// Returns the day of the week: `Mon`.
    pub fn weekday(self) -> &'static str {
        WEEKDAYS[(self.seconds() / 86_400 % 7) as usize]
    }

    /// Returns date and time: `2026-12-01T17:05:09Z`.
    pub fn text(self) -> String {
        format!("{}T{}:{:02}Z", self.date(), self.time(), self.seconds() % 60)
    }

    /// Returns the input `now` of rules.
    pub(crate) fn input(self) -> Value {
        json!({
            "text": self.text(),
            "date": self.date(),
            "time": self.time(),
            "weekday": self.weekday(),
            "unix": self.seconds(),
        })
    }

    fn seconds(self) -> u64 {
        self.millis / 1000
    }
}

/// Returns year, month and day of a number of days since 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that a leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_weekdays_are_right_around_leap_days() {
        let text = |seconds: u64| {
            let at = Moment { millis: seconds * 1000 };
            format!("{} {}", at.weekday(), at.text())
        };
        assert_eq!(text(0), "Thu 1970-01-01T00:00:00Z");
        assert_eq!(text(1_709_164_799), "Wed 2024-02-28T23:59:59Z");
        assert_eq!(text(1_709_164_800), "Thu 2024-02-29T00:00:00Z");
        assert_eq!(text(1_709_251_200), "Fri 2024-03-01T00:00:00Z");
        assert_eq!(text(1_796_083_509), "Tue 2026-12-01T00:05:09Z");
    }
}
