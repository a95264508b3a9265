//! Format specifications, `{:>+8,.2f}`: `[[fill]align][sign][#][0][width][,][.precision][type]`.

use kcl_value::{Fault, Result};

/// How to write a value.
#[derive(Debug, Default)]
pub(super) struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Wider fields are refused instead of exhausting memory.
const MAX_WIDTH: usize = 1 << 24;
/// More digits than this cannot be written.
const MAX_PRECISION: usize = u16::MAX as usize;

impl FormatSpec {
    /// Reads a specification.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut spec = Self::default();
        if text.is_empty() {
            return Ok(spec);
        }
        let mut rest = text;
        if let Some(after) = rest.strip_prefix('!') {
            let mut chars = after.chars();
            if chars.next().is_some_and(|c| "srab".contains(c)) {
                rest = chars.as_str();
            }
        }
        let mut chars = rest.chars();
        let (first, second) = (chars.next(), chars.clone().next());
        if second.is_some_and(is_align) {
            (spec.fill, spec.align) = (first, second);
            chars.next();
            rest = chars.as_str();
        } else if first.is_some_and(is_align) {
            spec.align = first;
            rest = chars.as_str();
        }
        spec.sign = take(&mut rest, "-+ ");
        spec.alternate = take(&mut rest, "#").is_some();
        let zero = take(&mut rest, "0").is_some();
        spec.width = take_number(&mut rest)?.unwrap_or(0);
        spec.grouping = take(&mut rest, "_,");
        if let Some(mut after) = rest.strip_prefix('.')
            && let Some(precision) = take_number(&mut after)?
        {
            spec.precision = Some(precision);
            rest = after;
        }
        spec.kind = take(&mut rest, "sbcdoxXeEfFgGn%");
        if !rest.is_empty() {
            return Err(Fault::new("Invalid format specifier"));
        }
        if zero && spec.fill.is_none() {
            spec.fill = Some('0');
            spec.align = spec.align.or(Some('='));
        }
        if spec.width > MAX_WIDTH {
            return Err(Fault::new("Too many decimal digits in format string"));
        }
        Ok(spec)
    }

    /// The least number of characters that are written.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Writes a string.
    pub(super) fn string(&self, text: &str) -> Result<String> {
        if !matches!(self.kind, None | Some('s')) {
            return Err(Fault::new("Unknown format code for object of type 'str'"));
        }
        if self.sign.is_some() {
            return Err(Fault::new("Sign not allowed in string format specifier"));
        }
        if self.alternate {
            return Err(Fault::new("Alternate form (#) not allowed in string format specifier"));
        }
        if self.align == Some('=') {
            return Err(Fault::new("'=' alignment not allowed in string format specifier"));
        }
        let text = match self.precision.and_then(|n| text.char_indices().nth(n)) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        Ok(self.aligned("", text, '<'))
    }

    /// Writes an integer.
    pub(super) fn int(&self, number: i64) -> Result<String> {
        let magnitude = number.unsigned_abs();
        let (prefix, digits) = match self.kind {
            None | Some('d' | 'n') => ("", magnitude.to_string()),
            Some('b') => ("0b", format!("{magnitude:b}")),
            Some('o') => ("0o", format!("{magnitude:o}")),
            Some('x') => ("0x", format!("{magnitude:x}")),
            Some('X') => ("0x", format!("{magnitude:X}")),
            Some('e' | 'E' | 'f' | 'F' | '%') => return self.float(number as f64),
            Some(kind) => return Err(unknown(kind, "int")),
        };
        let prefix = if self.alternate { prefix } else { "" };
        let magnitude = format!("{prefix}{}", self.grouped(digits)?);
        Ok(self.aligned(self.sign_of(number < 0), &magnitude, '>'))
    }

    /// Writes a float.
    pub(super) fn float(&self, number: f64) -> Result<String> {
        let precision = self.precision.unwrap_or(6);
        if precision > MAX_PRECISION {
            return Err(Fault::new("Formatting argument out of range"));
        }
        let magnitude = number.abs();
        let upper = matches!(self.kind, Some('E' | 'F' | 'G'));
        let digits = match self.kind {
            Some('n') => {
                return Err(Fault::new(
                    "Format code 'n' for object of type 'float' not implemented yet",
                ));
            }
            Some(kind @ ('d' | 'b' | 'o' | 'x' | 'X' | 's' | 'c')) => {
                return Err(unknown(kind, "float"));
            }
            kind if !number.is_finite() => {
                let name = if number.is_nan() { "nan" } else { "inf" };
                if kind == Some('%') { format!("{name}%") } else { name.to_owned() }
            }
            Some('e' | 'E') => exponent_form(magnitude, precision),
            Some('g' | 'G') => general_form(magnitude, precision.max(1)),
            Some('%') => format!("{:.precision$}%", magnitude * 100.0),
            None => shortest(magnitude),
            Some(_) => format!("{magnitude:.precision$}"),
        };
        let digits = if upper { digits.to_uppercase() } else { digits };
        let negative = number.is_sign_negative() && !number.is_nan();
        Ok(self.aligned(self.sign_of(negative), &self.grouped(digits)?, '>'))
    }

    fn sign_of(&self, negative: bool) -> &'static str {
        match self.sign {
            _ if negative => "-",
            Some('+') => "+",
            Some(' ') => " ",
            _ => "",
        }
    }

    /// Puts separators between groups of digits before the decimal point.
    fn grouped(&self, digits: String) -> Result<String> {
        let Some(separator) = self.grouping else { return Ok(digits) };
        let interval = match self.kind {
            None | Some('d' | 'n' | 'f' | 'F') => 3,
            Some('b' | 'o' | 'x' | 'X') => 4,
            _ => return Err(Fault::new("Separators only valid for numbers!")),
        };
        let whole = digits.find('.').unwrap_or(digits.len());
        let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
        for (at, c) in digits.char_indices() {
            if at > 0 && at < whole && (whole - at).is_multiple_of(interval) {
                out.push(separator);
            }
            out.push(c);
        }
        Ok(out)
    }

    fn aligned(&self, sign: &str, text: &str, default: char) -> String {
        let len = sign.len() + text.chars().count();
        let missing = self.width.saturating_sub(len);
        if missing == 0 {
            return format!("{sign}{text}");
        }
        let fill = |n: usize| self.fill.unwrap_or(' ').to_string().repeat(n);
        match self.align.unwrap_or(default) {
            '<' => format!("{sign}{text}{}", fill(missing)),
            '=' => format!("{sign}{}{text}", fill(missing)),
            '^' => {
                let left = missing / 2;
                format!("{}{sign}{text}{}", fill(left), fill(missing - left))
            }
            _ => format!("{}{sign}{text}", fill(missing)),
        }
    }
}

fn is_align(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '^')
}

fn take(text: &mut &str, options: &str) -> Option<char> {
    let first = text.chars().next().filter(|c| options.contains(*c))?;
    *text = &text[first.len_utf8()..];
    Some(first)
}

fn take_number(text: &mut &str) -> Result<Option<usize>> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return Ok(None);
    }
    let (digits, rest) = text.split_at(end);
    *text = rest;
    match digits.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(Fault::new("Too many decimal digits in format string")),
    }
}

#[cold]
fn unknown(kind: char, ty: &str) -> Box<Fault> {
    Fault::new(format!("Unknown format code '{kind}' for object of type '{ty}'"))
}

/// Splits `1.5e-7` into its digits and its exponent.
fn split_exponent(text: &str) -> (&str, i32) {
    match text.split_once('e') {
        Some((digits, exponent)) => (digits, exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

fn exponent_form(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = split_exponent(&text);
    format!("{digits}e{exponent:+03}")
}

fn general_form(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.*e}", precision - 1);
    let (digits, exponent) = split_exponent(&text);
    if exponent < -4 || i64::from(exponent) >= precision as i64 {
        return format!("{}e{exponent:+03}", without_zeros(digits));
    }
    let places = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
    without_zeros(&format!("{magnitude:.places$}")).to_owned()
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// The shortest digits that give the number back, with an exponent if it is large or small.
fn shortest(magnitude: f64) -> String {
    let text = format!("{magnitude:e}");
    let (digits, exponent) = split_exponent(&text);
    if (-5 < exponent) && exponent < 16 {
        if magnitude.fract() == 0.0 { format!("{magnitude:.1}") } else { magnitude.to_string() }
    } else {
        format!("{digits}e{exponent:+03}")
    }
}
