//! Exact decimal numbers.

use std::cmp::Ordering;
use std::fmt;

/// The greatest number of digits, and of zeros behind or before them.
const MAX_DIGITS: usize = 4_000;

/// A decimal number, exactly as it was written. Equal numbers have one form: `1`, `1.0` and `10e-1`
/// are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number {
    is_negative: bool,
    /// Digits without zeros at either end; empty for zero.
    digits: Box<str>,
    /// The power of ten of the last digit.
    exponent: i32,
}

/// A text that is not a valid number, or one that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberError;

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a decimal number of at most {MAX_DIGITS} digits")
    }
}

impl std::error::Error for NumberError {}

impl Number {
    /// Reads a decimal number: digits, perhaps with a sign, a fraction and an exponent.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i32>().map_err(|_| NumberError)?)
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |it: &str| it.bytes().all(|b| b.is_ascii_digit());
        let is_empty = whole.is_empty() && fraction.is_empty();
        if is_empty || !is_digits(whole) || !is_digits(fraction) || mantissa.len() > MAX_DIGITS {
            return Err(NumberError);
        }
        let digits = format!("{whole}{fraction}");
        Self::normal(is_negative, &digits, i64::from(exponent) - fraction.len() as i64)
    }

    /// Creates the exact value of a binary number; `None` if it is not finite.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return Some(Self::from(value as i64));
        }
        // A binary number has at most 767 decimal digits.
        Self::parse(&format!("{value:.767e}")).ok()
    }

    fn normal(is_negative: bool, digits: &str, exponent: i64) -> Result<Self, NumberError> {
        let short = digits.trim_start_matches('0');
        let kept = short.trim_end_matches('0');
        if kept.is_empty() {
            return Ok(Self { is_negative: false, digits: Box::default(), exponent: 0 });
        }
        let exponent = exponent + (short.len() - kept.len()) as i64;
        if exponent.unsigned_abs() > MAX_DIGITS as u64 {
            return Err(NumberError);
        }
        Ok(Self { is_negative, digits: kept.into(), exponent: exponent as i32 })
    }

    /// Returns the number as an integer, if it is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if self.exponent < 0 || self.digits.len() + self.exponent as usize > 19 {
            return None;
        }
        self.to_string().parse().ok()
    }

    /// Returns the number as a binary one, if that is exact.
    pub fn as_f64(&self) -> Option<f64> {
        let near = self.nearest_f64();
        (Self::from_f64(near).as_ref() == Some(self)).then_some(near)
    }

    /// Returns the nearest binary number.
    pub fn nearest_f64(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        format!("{sign}{}e{}", self.or_zero(), self.exponent).parse().unwrap_or(f64::NAN)
    }

    fn or_zero(&self) -> &str {
        if self.digits.is_empty() { "0" } else { &self.digits }
    }

    /// Returns the number of digits before the point, which may be negative.
    fn magnitude(&self) -> i64 {
        self.digits.len() as i64 + i64::from(self.exponent)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::from_integer(value < 0, value.unsigned_abs())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::from_integer(false, value)
    }
}

impl Number {
    fn from_integer(is_negative: bool, value: u64) -> Self {
        let text = value.to_string();
        let kept = text.trim_end_matches('0');
        let is_zero = kept.is_empty();
        let exponent = if is_zero { 0 } else { (text.len() - kept.len()) as i32 };
        Self { is_negative: is_negative && !is_zero, digits: kept.into(), exponent }
    }
}

impl fmt::Display for Number {
    /// Writes the number without an exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative {
            f.write_str("-")?;
        }
        let digits = self.or_zero();
        if self.exponent >= 0 {
            return write!(f, "{digits}{:0<width$}", "", width = self.exponent as usize);
        }
        let places = self.exponent.unsigned_abs() as usize;
        match digits.len().checked_sub(places) {
            Some(whole) if whole > 0 => write!(f, "{}.{}", &digits[..whole], &digits[whole..]),
            _ => write!(f, "0.{digits:0>places$}"),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    /// Compares by value.
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |it: &Self| match (it.digits.is_empty(), it.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || self.magnitude().cmp(&other.magnitude()).then(self.digits.cmp(&other.digits));
        sign(self)
            .cmp(&sign(other))
            .then_with(|| if self.is_negative { size().reverse() } else { size() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).expect("a number")
    }

    #[test]
    fn equal_numbers_have_one_form() {
        for (text, shown) in [
            ("1", "1"),
            ("1.0", "1"),
            ("+10e-1", "1"),
            ("-0", "0"),
            ("0.10", "0.1"),
            ("1e3", "1000"),
            ("-12.5e-3", "-0.0125"),
            ("007", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
        ] {
            assert_eq!(number(text).to_string(), shown);
            assert_eq!(number(shown), number(text));
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let sorted =
            ["-100", "-2", "-1.5", "0", "0.001", "0.5", "0.51", "1", "9", "10", "1e3", "1001"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(number(a).cmp(&number(b)), i.cmp(&j), "{a} and {b}");
            }
        }
    }

    #[test]
    fn binary_numbers_are_exact() {
        let tenth = Number::from_f64(0.1).expect("a number");
        assert_eq!(tenth.to_string(), "0.1000000000000000055511151231257827021181583404541015625");
        assert_ne!(tenth, number("0.1"));
        assert_eq!((tenth.as_f64(), number("0.1").as_f64()), (Some(0.1), None));
        for value in [0.0, 1.5, -2.0, 1e300, 5e-324, f64::MAX, 9_007_199_254_740_993.0] {
            assert_eq!(Number::from_f64(value).and_then(|it| it.as_f64()), Some(value), "{value}");
        }
        assert_eq!(Number::from_f64(f64::INFINITY), None);
        assert_eq!(Number::from_f64(f64::NAN), None);
    }

    #[test]
    fn integers_keep_all_digits() {
        for value in [0, 1, -1, 10, i64::MAX, i64::MIN] {
            assert_eq!(Number::from(value).as_i64(), Some(value));
            assert_eq!(Number::from(value), number(&value.to_string()));
        }
        assert_eq!(Number::from(u64::MAX).to_string(), u64::MAX.to_string());
        assert_eq!(Number::from(u64::MAX).as_i64(), None);
    }

    #[test]
    fn what_is_not_a_number_is_an_error() {
        for text in
            ["", "-", ".", "1e", "1x", "0x10", "1_000", "NaN", "inf", "1e99999", "1e-99999", "--1"]
        {
            assert_eq!(Number::parse(text), Err(NumberError), "{text}");
        }
        assert!(Number::parse(&"1".repeat(5_000)).is_err());
    }
}
