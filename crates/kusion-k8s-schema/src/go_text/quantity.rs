//! The parts of a quantity, as the Go type keeps them.

use crate::quantity::{Form, Quantity, read_suffix};

/// How many decimal digits a small amount may have.
const DIGITS: usize = 18;
/// The scale of the smallest amount.
const NANO: i32 = -9;

/// A quantity that was read from a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GoQuantity<'t> {
    pub(super) amount: Amount,
    /// The text, if it has the usual form; else empty.
    pub(super) kept: &'t str,
    pub(super) format: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// `value` × 10^`scale`.
    Small { value: i64, scale: i32 },
    /// The words of a whole number, the lowest first, that is divided by 10^`scale`.
    Large { negative: bool, words: [u64; 2], scale: i32 },
}

impl Default for GoQuantity<'_> {
    fn default() -> Self {
        Self { amount: Amount::Small { value: 0, scale: 0 }, kept: "", format: "" }
    }
}

impl<'t> GoQuantity<'t> {
    /// Reads a quantity; `None` if the text is not one.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        if text == "0" {
            return Some(Self { kept: text, format: "DecimalSI", ..Self::default() });
        }
        let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.trim_start_matches('0');
        let (form, multiplier, exponent) = read_suffix(suffix)?;
        let power = multiplier.trailing_zeros();
        let format = match form {
            Form::Decimal => "DecimalSI",
            Form::Exponent => "DecimalExponent",
            Form::Binary => "BinarySI",
        };
        let n_digits = whole.len() + fraction.len();
        let is_small = match form {
            // The digits of the multiplier count, about three for each ten bits.
            Form::Binary => fraction.is_empty() && whole.len() as u32 + power * 3 / 10 < 15,
            Form::Decimal | Form::Exponent => n_digits <= DIGITS,
        };
        let scale = exponent - i32::try_from(fraction.len()).ok()?;
        let digits = format!("{whole}{fraction}");
        let value: Option<i64> = digits.parse().ok();
        let product = value.and_then(|it| it.checked_mul(i64::try_from(multiplier).ok()?));
        if let (true, Some(value), Some(product)) = (is_small && scale >= NANO, value, product) {
            let is_usual = match form {
                Form::Binary => value & 7 != 0,
                Form::Decimal | Form::Exponent => {
                    scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
                }
            };
            let value = if text.starts_with('-') { -product } else { product };
            let kept = if is_usual { text } else { "" };
            return Some(Self { amount: Amount::Small { value, scale }, kept, format });
        }
        Self::large(Quantity::parse(text)?.nano(), form, format)
    }

    fn large(nano: i128, form: Form, format: &'static str) -> Option<Self> {
        let (size, one) = (nano.unsigned_abs(), 1_000_000_000);
        let largest = u128::from(i64::MAX.unsigned_abs()) * one;
        let format = if form == Form::Binary && size < one { "DecimalSI" } else { format };
        let (size, scale) = match form {
            Form::Binary if size > largest => (largest / one, 0),
            _ => (size, -NANO),
        };
        let words = [size as u64, u64::try_from(size >> 64).ok()?];
        Some(Self { amount: Amount::Large { negative: nano < 0, words, scale }, kept: "", format })
    }
}
