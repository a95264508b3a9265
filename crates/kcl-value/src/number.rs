//! How numbers are written.

use std::fmt::Write;

/// The numbers from 00 to 99.
const PAIRS: &str = "\
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Appends an integer.
pub(crate) fn push_int(out: &mut String, number: i64) {
    if number < 0 {
        out.push('-');
    }
    push_digits(out, number.unsigned_abs());
}

fn push_digits(out: &mut String, number: u64) {
    let pair = match number {
        0..=9 => return out.push(char::from(b'0' + number as u8)),
        10..=99 => number as usize,
        _ => {
            push_digits(out, number / 100);
            (number % 100) as usize
        }
    };
    out.push_str(&PAIRS[2 * pair..2 * pair + 2]);
}

/// Appends a finite float as JSON has it: the shortest digits that give the number back, ties
/// to even, with an exponent outside 1e-5 … 1e16 and always with a mark of a float.
pub(crate) fn push_json_float(out: &mut String, number: f64) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(number);
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => {
            out.push_str(digits);
            out.push_str("e+");
            out.push_str(exponent);
        }
        _ => out.push_str(text),
    }
}

/// Appends a finite float as YAML has it: like JSON, but without `+` in exponents.
///
/// The reference writes YAML from JSON text, whose digits it reads with two roundings. The
/// last digit of long numbers shows this, and output must be the same byte by byte.
pub(crate) fn push_yaml_float(out: &mut String, number: f64) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(number);
    let read = read_twice_rounded(text);
    if read.to_bits() == number.to_bits() || !read.is_finite() {
        out.push_str(text);
    } else {
        out.push_str(ryu::Buffer::new().format_finite(read));
    }
}

/// Reads the text of a float: the digits as one number, rounded, then scaled, rounded again.
fn read_twice_rounded(text: &str) -> f64 {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    exponent -= fraction.len() as i32;
    // At most 17 digits and one zero, so the sum fits.
    let digits = whole.bytes().chain(fraction.bytes());
    let whole = digits.fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    let mut number = whole as f64;
    if exponent < -308 {
        number /= 1e308;
        exponent += 308;
    }
    let scale = power_of_ten(exponent.unsigned_abs());
    let number = if exponent < 0 { number / scale } else { number * scale };
    if is_negative { -number } else { number }
}

fn power_of_ten(exponent: u32) -> f64 {
    if exponent <= 22 {
        // Exact up to here.
        return 10f64.powi(exponent as i32);
    }
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// Appends a float as `str(x)` gives it: never with an exponent.
pub(crate) fn push_plain_float(out: &mut String, number: f64) {
    let start = out.len();
    // Writing to a string cannot fail.
    let _ = write!(out, "{number}");
    if number.is_finite() && !out[start..].contains('.') {
        out.push_str(".0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(number: f64) -> String {
        let mut out = String::new();
        push_yaml_float(&mut out, number);
        out
    }

    fn plain(number: f64) -> String {
        let mut out = String::new();
        push_plain_float(&mut out, number);
        out
    }

    #[test]
    fn floats_switch_to_exponents_at_the_right_places() {
        for (number, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e16"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (12_345_678_901_234_568.0, "1.2345678901234568e16"),
            (1e22, "1e22"),
            (1e-4, "0.0001"),
            (1e-5, "0.00001"),
            (1e-6, "1e-6"),
            (1.5e-7, "1.5e-7"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::MIN, "-1.7976931348623157e308"),
            (123.456, "123.456"),
            (1_234_567.125, "1234567.125"),
        ] {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn yaml_shows_the_second_rounding() {
        for (number, text) in [
            (100.12 - 100.0, "0.12000000000000456"),
            (100.0 - 100.12, "-0.12000000000000456"),
            (2.0 / 9_223_372_036_854_775_807.0, "2.1684043449710093e-19"),
            (1e300 * 1.1, "1.1000000000000004e300"),
            (1_180_591_620_717_411_303_424.0, "1.1805916207174112e21"),
            (2.225_073_858_507_201_4e-308, "2.2250738585072014e-308"),
            (1e16 / 3.0, "3333333333333333.5"),
        ] {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn a_tie_between_two_shortest_forms_goes_to_the_even_digit() {
        let tie = 1_352_859_753_448_704.0 + 0.25;
        assert_eq!(float(tie), "1352859753448704.2");
        assert_eq!(float(tie + 0.5), "1352859753448704.8");
        let mut json = String::new();
        push_json_float(&mut json, tie);
        assert_eq!(json, "1352859753448704.2");
    }

    #[test]
    fn json_has_signs_in_exponents() {
        for (number, text) in [(1e16, "1e+16"), (-1.5e300, "-1.5e+300"), (1e-7, "1e-7")] {
            let mut out = String::new();
            push_json_float(&mut out, number);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn plain_floats_have_no_exponent() {
        for (number, text) in [
            (1.0, "1.0"),
            (1e16, "10000000000000000.0"),
            (1.5e-7, "0.00000015"),
            (0.1, "0.1"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(plain(number), text);
        }
    }

    #[test]
    fn integers_of_all_sizes() {
        for number in [0, 7, -7, 10, i64::MAX, i64::MIN] {
            let mut out = String::new();
            push_int(&mut out, number);
            assert_eq!(out, number.to_string());
        }
    }
}
