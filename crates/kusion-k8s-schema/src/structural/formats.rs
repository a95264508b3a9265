//! The named formats of strings.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether a text has a format; unknown formats match every text.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => crate::time::parse_time(text).is_some(),
        "date" => {
            text.len() == 10 && crate::time::parse_time(&format!("{text}T00:00:00Z")).is_some()
        }
        "byte" => data_encoding::BASE64.decode(text.as_bytes()).is_ok(),
        "duration" => is_duration(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uri" => is_uri(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "bsonobjectid" => text.len() == 24 && is_hex(text),
        "hexcolor" => {
            let digits = text.trim_start_matches('#');
            matches!(digits.len(), 3 | 6) && is_hex(digits)
        }
        _ => true,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let plain: String = text.chars().filter(|it| *it != '-').collect();
    let dashes = text.len() - plain.len();
    plain.len() == 32
        && is_hex(&plain)
        && (dashes == 0 || dashes == 4)
        && version.is_none_or(|version| plain.chars().nth(12) == Some(version))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let limit = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.bytes().all(|byte| byte.is_ascii_digit())
        && length.parse::<u8>().is_ok_and(|it| it <= limit)
}

fn is_mac(text: &str) -> bool {
    let separator = if text.contains('-') { '-' } else { ':' };
    let parts: Vec<&str> = text.split(separator).collect();
    matches!(parts.len(), 6 | 8) && parts.iter().all(|part| part.len() == 2 && is_hex(part))
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    !name.is_empty() && !name.contains(char::is_whitespace) && is_hostname(host)
}

fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|it| it.is_alphanumeric() || it == '-')
        })
}

/// A full address or an absolute path.
fn is_uri(text: &str) -> bool {
    if text.contains(char::is_whitespace) || text.contains(char::is_control) {
        return false;
    }
    let scheme = text.split(':').next().unwrap_or_default();
    let has_scheme = text.contains(':')
        && scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'));
    has_scheme || text.starts_with('/')
}

/// Go's form (`1h30m`) or words (`2 weeks`).
fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 26] = [
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        "s",
        "m",
        "h",
        "d",
        "w",
        "nano",
        "nanosecond",
        "nanoseconds",
        "microsecond",
        "microseconds",
        "milli",
        "millisecond",
        "milliseconds",
        "second",
        "seconds",
        "minute",
        "minutes",
        "hour",
        "hours",
        "day",
        "days",
    ];
    let mut rest = text.trim().trim_start_matches(['+', '-']);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let tail = rest[digits..].trim_start();
        let end = tail.find(|it: char| it.is_ascii_digit() || it == ' ').unwrap_or(tail.len());
        let unit = &tail[..end];
        if digits == 0 || !(UNITS.contains(&unit) || matches!(unit, "week" | "weeks")) {
            return false;
        }
        rest = tail[end..].trim_start();
        parts += 1;
    }
    parts > 0
}
