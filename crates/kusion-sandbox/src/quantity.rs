//! Amounts of resources (`500m`, `1Gi`, `12e3`): reading, adding, comparing, writing.

use std::fmt;

const NANO: i128 = 1_000_000_000;

/// How an amount is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `500m`, `2k`.
    Decimal,
    /// `1Gi`.
    Binary,
    /// `1e3`.
    Exponent,
}

/// An exact amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
}

impl Quantity {
    /// Nothing.
    pub(crate) const ZERO: Self = Self { nanos: 0, format: Format::Decimal };

    /// A whole number.
    pub(crate) fn count(count: i64) -> Self {
        Self { nanos: i128::from(count) * NANO, format: Format::Decimal }
    }

    /// Reads an amount; numbers are taken as they are.
    pub(crate) fn of(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::String(text) => Self::parse(text),
            serde_json::Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads an amount.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = digits.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let (factor, format) = factor(suffix)?;
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()).take(30) {
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        let scale = 10_i128.checked_pow(fraction.len().min(30) as u32)?;
        let product = match factor {
            Factor::Times(factor) => mantissa.checked_mul(factor)?,
            Factor::Over(divisor) => mantissa.checked_mul(NANO)? / divisor,
        };
        let up = i128::from(product % scale != 0);
        let nanos = product / scale + up;
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// Adds; the format is that of the first amount that is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// Subtracts.
    pub(crate) fn minus(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_sub(other.nanos), format }
    }

    /// The larger of two.
    pub(crate) fn max(self, other: Self) -> Self {
        if other.nanos > self.nanos { other } else { self }
    }

    /// Whether it is nothing.
    pub(crate) fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Whether it is less than nothing.
    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// The amount in thousandths, rounded up.
    pub(crate) fn milli(self) -> i128 {
        (self.nanos + 999_999).div_euclid(1_000_000)
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.nanos.cmp(&other.nanos))
    }
}

enum Factor {
    /// Nano-units per unit of the suffix.
    Times(i128),
    /// For suffixes below one.
    Over(i128),
}

fn factor(suffix: &str) -> Option<(Factor, Format)> {
    let decimal = |exponent: u32| Some((Factor::Times(10_i128.pow(9 + exponent)), Format::Decimal));
    let binary = |shift: u32| Some((Factor::Times(NANO << shift), Format::Binary));
    match suffix {
        "" => decimal(0),
        "n" => Some((Factor::Over(1_000_000_000), Format::Decimal)),
        "u" => Some((Factor::Over(1_000_000), Format::Decimal)),
        "m" => Some((Factor::Over(1000), Format::Decimal)),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            match exponent {
                0..=18 => Some((Factor::Times(10_i128.pow(9 + exponent as u32)), Format::Exponent)),
                -9..0 => Some((Factor::Over(10_i128.pow(-exponent as u32)), Format::Exponent)),
                _ => None,
            }
        }
    }
}

impl fmt::Display for Quantity {
    /// Writes the canonical form: no fraction, the largest suffix that allows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        if self.format == Format::Binary && self.nanos % NANO == 0 {
            let mut value = self.nanos / NANO;
            let suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
            let mut idx = 0;
            while value.abs() >= 1024 && value % 1024 == 0 && idx + 1 < suffixes.len() {
                value /= 1024;
                idx += 1;
            }
            return write!(f, "{value}{}", suffixes[idx]);
        }
        let suffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
        let exponents = ["e-9", "e-6", "e-3", "", "e3", "e6", "e9", "e12", "e15", "e18"];
        let mut value = self.nanos;
        let mut idx = 0;
        while value % 1000 == 0 && idx + 1 < suffixes.len() {
            value /= 1000;
            idx += 1;
        }
        let suffix = if self.format == Format::Exponent { exponents[idx] } else { suffixes[idx] };
        write!(f, "{value}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_canonically() {
        for (input, output) in [
            ("500m", "500m"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1000", "1k"),
            ("1Gi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("128974848", "128974848"),
            ("129e6", "129e6"),
            ("0", "0"),
            ("0.1Mi", "104857600m"),
        ] {
            assert_eq!(Quantity::parse(input).unwrap().to_string(), output, "{input}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for input in ["", "x", "1x", ".", "1..2", "1e99"] {
            assert_eq!(Quantity::parse(input), None, "{input}");
        }
    }

    #[test]
    fn sums_keep_the_format() {
        let sum = Quantity::ZERO
            .plus(Quantity::parse("512Mi").unwrap())
            .plus(Quantity::parse("512Mi").unwrap());
        assert_eq!(sum.to_string(), "1Gi");
        assert!(sum > Quantity::parse("1G").unwrap());
    }
}
