//! Amounts such as `500m`, `1.5Gi` or `1e3`, kept exactly and written in the one usual form.

use serde_json::Value;
use std::fmt;

/// The message for a text that is not a quantity.
pub const QUANTITY_MESSAGE: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// An exact amount, in billionths.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    nano: i128,
    form: Form,
}

/// How an amount is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `1k`, `500m`.
    Decimal,
    /// `1e3`.
    Exponent,
    /// `1Ki`.
    Binary,
}

const NANO: i128 = 1_000_000_000;
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Zero.
    pub const ZERO: Self = Self { nano: 0, form: Form::Decimal };

    /// Reads the amount of a field; numbers are used unchanged.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads an amount; none when the text is not a quantity.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return None;
        }
        let (form, multiplier, exponent) = read_suffix(suffix)?;
        let mut mantissa: i128 = 0;
        let digits = fraction.trim_end_matches('0');
        for byte in whole.bytes().chain(digits.bytes()) {
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
        }
        let mantissa = mantissa.checked_mul(multiplier)?;
        let power = exponent.checked_add(9)?.checked_sub(i32::try_from(digits.len()).ok()?)?;
        let nano = scale(mantissa, power)?;
        Some(Self { nano: if negative { -nano } else { nano }, form })
    }

    /// Returns the amount in billionths.
    pub fn nano(self) -> i128 {
        self.nano
    }

    /// Returns the amount in thousandths, rounded up.
    pub fn milli(self) -> i128 {
        div_up(self.nano, NANO / 1000)
    }

    /// Returns the amount as a whole number, rounded up.
    pub fn whole(self) -> i128 {
        div_up(self.nano, NANO)
    }

    /// Returns whether the amount is zero.
    pub fn is_zero(self) -> bool {
        self.nano == 0
    }

    /// Returns whether the amount is negative.
    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// Returns an amount of whole units in decimal form.
    pub fn count(units: i64) -> Self {
        Self { nano: i128::from(units) * NANO, form: Form::Decimal }
    }

    /// Adds two amounts; the form is that of the first, or of the second when the first is zero.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let form = if self.nano == 0 { other.form } else { self.form };
        Self { nano: self.nano.saturating_add(other.nano), form }
    }

    /// Subtracts an amount; the form is chosen as for [`Quantity::plus`].
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let form = if self.nano == 0 { other.form } else { self.form };
        Self { nano: self.nano.saturating_sub(other.nano), form }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return out.write_str("0");
        }
        let whole = self.nano % NANO == 0;
        if self.form == Form::Binary && whole && self.nano.abs() >= 1024 * NANO {
            let mut number = self.nano / NANO;
            let mut step = 0;
            while number % 1024 == 0 && step + 1 < BINARY.len() {
                number /= 1024;
                step += 1;
            }
            return write!(out, "{number}{}", BINARY[step]);
        }
        let mut number = self.nano;
        let mut exponent = -9;
        while number % 1000 == 0 && (exponent < 18 || self.form == Form::Exponent) {
            number /= 1000;
            exponent += 3;
        }
        if self.form == Form::Exponent {
            return if exponent == 0 {
                write!(out, "{number}")
            } else {
                write!(out, "{number}e{exponent}")
            };
        }
        let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent).map_or("", |it| it.0);
        write!(out, "{number}{suffix}")
    }
}

/// Returns the usual form of a quantity (`1000m` is `1`), or none when the text is none.
pub fn canonical_quantity(text: &str) -> Option<String> {
    Quantity::parse(text).map(|quantity| quantity.to_string())
}

/// Returns form, multiplier and power of ten of a suffix.
pub(crate) fn read_suffix(suffix: &str) -> Option<(Form, i128, i32)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((Form::Decimal, 1, *power));
    }
    if let Some(step) = BINARY.iter().position(|name| *name == suffix) {
        return Some((Form::Binary, 1 << (10 * step), 0));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((Form::Exponent, 1, exponent.parse().ok()?))
}

/// Multiplies by a power of ten; what is smaller than a billionth is rounded up.
fn scale(mantissa: i128, power: i32) -> Option<i128> {
    if mantissa == 0 {
        return Some(0);
    }
    let factor = 10_i128.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return mantissa.checked_mul(factor?);
    }
    Some(factor.map_or(1, |factor| div_up(mantissa, factor)))
}

/// Divides, away from zero.
fn div_up(number: i128, by: i128) -> i128 {
    let rest = i128::from(number % by != 0) * number.signum();
    number / by + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_form_is_as_the_server_writes_it() {
        for (given, expected) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1000", "1k"),
            ("1024", "1024"),
            ("1024Mi", "1Gi"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("100Ki", "100Ki"),
            ("1023", "1023"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("100m", "100m"),
            ("0", "0"),
            ("-1500m", "-1500m"),
            ("1.0", "1"),
            ("12e6", "12e6"),
            ("0.0001", "100u"),
            ("0.0000000001", "1n"),
            ("+5", "5"),
            (".5", "500m"),
            ("1000k", "1M"),
            ("0.1Mi", "104857600m"),
            ("129e6", "129e6"),
        ] {
            assert_eq!(canonical_quantity(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn other_texts_are_no_quantities() {
        for text in ["", "zz", "1x", "-", ".", "1..2", "1e", "1ee3", "Mi", "1 ", "1KI", "1e99999"] {
            assert_eq!(canonical_quantity(text), None, "{text}");
        }
        assert_eq!(Quantity::parse(&"9".repeat(60)), None);
    }

    #[test]
    fn amounts_add_up() {
        let sum = Quantity::parse("1Gi").and_then(|one| Some(one.plus(Quantity::parse("512Mi")?)));
        assert_eq!(sum.map(|sum| sum.to_string()).as_deref(), Some("1536Mi"));
        assert!(Quantity::parse("500m") < Quantity::parse("1"));
        assert_eq!(Quantity::parse("1Ki"), Quantity::parse("1024"));
        assert_eq!(Quantity::parse("1500m").map(Quantity::whole), Some(2));
    }
}
