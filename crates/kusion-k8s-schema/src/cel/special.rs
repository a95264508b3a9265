//! Values that rules create from texts: times, spans of time, amounts, addresses and URLs.

use super::access::AccessQuery;
use super::eval::{Cel, Failure};
use super::semver::Semver;
use crate::Quantity;
use crate::time::{Instant, civil, format_time, parse_time};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::net::IpAddr;

const SECOND: i128 = 1_000_000_000;
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1000),
    ("\u{b5}s", 1000),
    ("\u{3bc}s", 1000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];

/// A value with its own functions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Special {
    /// A span of time, in billionths of a second.
    Duration(i128),
    /// A point in time.
    Time(Instant),
    /// An amount.
    Quantity(Quantity),
    /// An address.
    Ip(IpAddr),
    /// A range of addresses: one of them, and the bits that all have in common.
    Cidr(IpAddr, u8),
    /// An address on the web.
    Url(String),
    /// A semantic version.
    Semver(Semver),
    /// The type of a value, by its name.
    Type(String),
    /// A named format of texts.
    Format(&'static str),
    /// A question about what a user may do, as far as it has been asked.
    Access(Box<AccessQuery>),
}

impl Special {
    /// Creates a value by the name of its function; `None` if the text is invalid.
    pub(crate) fn parse(name: &str, text: &str) -> Option<Self> {
        match name {
            "duration" => duration(text).map(Self::Duration),
            "timestamp" => parse_time(text).map(Self::Time),
            "quantity" => Quantity::parse(text).map(Self::Quantity),
            "ip" => address(text).map(Self::Ip),
            "cidr" => range(text),
            "url" => is_url(text).then(|| Self::Url(text.to_owned())),
            "semver" => Semver::parse(text, false).map(Self::Semver),
            _ => None,
        }
    }

    /// The name of the function that creates such a value.
    fn maker(&self) -> &'static str {
        match self {
            Self::Duration(_) => "duration",
            Self::Time(_) => "timestamp",
            Self::Quantity(_) => "quantity",
            Self::Ip(_) => "ip",
            Self::Cidr(..) => "cidr",
            Self::Url(_) => "url",
            Self::Semver(_) => "semver",
            Self::Type(_) | Self::Format(_) | Self::Access(_) => "",
        }
    }

    /// Orders two values of one kind; a text of a field is parsed first.
    pub(super) fn order(&self, other: &Cel) -> Option<Ordering> {
        let read;
        let other = match other {
            Cel::Special(other) => other,
            Cel::String(text) => {
                read = Self::parse(self.maker(), text)?;
                &read
            }
            _ => return None,
        };
        match (self, other) {
            (Self::Duration(left), Self::Duration(right)) => Some(left.cmp(right)),
            (Self::Time(left), Self::Time(right)) => Some(left.cmp(right)),
            (Self::Quantity(left), Self::Quantity(right)) => Some(left.cmp(right)),
            (Self::Ip(left), Self::Ip(right)) => Some(left.cmp(right)),
            (Self::Semver(left), Self::Semver(right)) => Some(left.cmp(right)),
            (left, right) => (left == right).then_some(Ordering::Equal),
        }
    }

    /// Adds or subtracts.
    pub(super) fn plus(&self, other: &Self, subtract: bool) -> Option<Self> {
        let sign = if subtract { -1 } else { 1 };
        Some(match (self, other) {
            (Self::Duration(left), Self::Duration(right)) => Self::Duration(left + sign * right),
            (Self::Time(time), Self::Duration(span)) => Self::Time(at(nanos(*time) + sign * span)?),
            (Self::Duration(span), Self::Time(time)) if !subtract => {
                Self::Time(at(nanos(*time) + span)?)
            }
            (Self::Time(left), Self::Time(right)) if subtract => {
                Self::Duration(nanos(*left) - nanos(*right))
            }
            _ => return None,
        })
    }

    /// Returns the value as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Duration(span) => {
                let (whole, part) = (span / SECOND, (span % SECOND).abs());
                if part == 0 {
                    return format!("{whole}s");
                }
                let sign = if *span < 0 && whole == 0 { "-" } else { "" };
                let digits = format!("{part:09}");
                format!("{sign}{whole}.{}s", digits.trim_end_matches('0'))
            }
            Self::Time(time) => format_time(time.seconds),
            Self::Quantity(amount) => amount.to_string(),
            Self::Ip(address) => address.to_string(),
            Self::Cidr(address, bits) => format!("{address}/{bits}"),
            Self::Url(text) | Self::Type(text) => text.clone(),
            Self::Format(name) => (*name).to_owned(),
            Self::Semver(_) | Self::Access(_) => String::new(),
        }
    }

    /// Calls a function of the value.
    pub(super) fn call<'a>(&self, name: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
        let found = match self {
            Self::Duration(span) => of_duration(*span, name, arguments),
            Self::Time(time) => of_time(*time, name, arguments),
            Self::Quantity(amount) => of_quantity(*amount, name, arguments),
            Self::Ip(address) => of_address(*address, name, arguments),
            Self::Cidr(address, bits) => of_range(*address, *bits, name, arguments),
            Self::Url(text) => of_url(text, name, arguments),
            Self::Semver(version) => of_version(version, name, arguments),
            Self::Format(format) => of_format(format, name, arguments),
            Self::Type(_) | Self::Access(_) => None,
        };
        found.ok_or(Failure::Unknown)
    }
}

fn nanos(time: Instant) -> i128 {
    i128::from(time.seconds) * SECOND + i128::from(time.nanos)
}

fn at(nanos: i128) -> Option<Instant> {
    let seconds = i64::try_from(nanos.div_euclid(SECOND)).ok()?;
    Some(Instant { seconds, nanos: u32::try_from(nanos.rem_euclid(SECOND)).ok()? })
}

/// Reads `1h30m`, `-1.5s`, `0`.
fn duration(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i128 = 0;
    while total == 0 || !rest.is_empty() {
        let digits = rest.bytes().take_while(|it| it.is_ascii_digit() || *it == b'.').count();
        let (number, after) = rest.split_at(digits);
        let letters =
            after.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let (_, factor) = UNITS.iter().find(|it| it.0 == unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') || number.len() > 20 {
            return None;
        }
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
        total = total.checked_add(mantissa.checked_mul(*factor)? / scale)?;
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    if total > i128::from(i64::MAX) {
        return None;
    }
    Some(if negative { -total } else { total })
}

/// An address in plain form: IPv4, or IPv6 that is not IPv4 in disguise and has no zone.
fn address(text: &str) -> Option<IpAddr> {
    let address = text.parse::<IpAddr>().ok()?;
    match address {
        IpAddr::V6(it) if it.to_ipv4_mapped().is_some() => None,
        _ => Some(address),
    }
}

fn range(text: &str) -> Option<Special> {
    let (base, bits) = text.split_once('/')?;
    let base = address(base)?;
    let plain =
        bits.bytes().all(|it| it.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let bits: u8 = bits.parse().ok().filter(|_| plain)?;
    (bits <= width(base)).then_some(Special::Cidr(base, bits))
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with all bits beyond the first ones cleared.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4((it.to_bits() & mask).into())
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6((it.to_bits() & mask).into())
        }
    }
}

fn of_duration<'a>(span: i128, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    let unit = match (name, arguments) {
        ("getHours", []) => 3600 * SECOND,
        ("getMinutes", []) => 60 * SECOND,
        ("getSeconds", []) => SECOND,
        ("getMilliseconds", []) => SECOND / 1000,
        _ => return None,
    };
    i64::try_from(span / unit).ok().map(Cel::Int)
}

fn of_time<'a>(time: Instant, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    let offset = match arguments {
        [] => 0,
        [Cel::String(zone)] if zone == "UTC" => 0,
        [Cel::String(zone)] => offset(zone)?,
        _ => return None,
    };
    let local = time.seconds.checked_add(offset)?;
    let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    Some(Cel::Int(match name {
        "getFullYear" => year,
        "getMonth" => month - 1,
        "getDate" => day,
        "getDayOfMonth" => day - 1,
        "getDayOfWeek" => (days + 4).rem_euclid(7),
        "getDayOfYear" => {
            let first = parse_time(&format!("{year:04}-01-01T00:00:00Z"))?;
            days - first.seconds.div_euclid(86_400)
        }
        "getHours" => second / 3600,
        "getMinutes" => second / 60 % 60,
        "getSeconds" => second % 60,
        "getMilliseconds" => i64::from(time.nanos / 1_000_000),
        _ => return None,
    }))
}

/// Reads the seconds of `02:00`, `+02:00`, `-08:30`.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, zone.strip_prefix('+').unwrap_or(zone)),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| text.parse::<i64>().ok().filter(|it| (0..60).contains(it));
    Some(sign * (number(hours)? * 3600 + number(minutes)? * 60))
}

fn of_quantity<'a>(amount: Quantity, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    let whole = amount.nano() % SECOND == 0;
    let other = match arguments {
        [] => None,
        [Cel::Special(Special::Quantity(other))] => Some(*other),
        [Cel::Int(number)] => Some(Quantity::count(*number)),
        _ => return None,
    };
    Some(match (name, other) {
        ("isInteger", None) => Cel::Bool(whole && i64::try_from(amount.nano() / SECOND).is_ok()),
        ("asInteger", None) if whole => Cel::Int(i64::try_from(amount.nano() / SECOND).ok()?),
        ("asApproximateFloat", None) => Cel::Double(amount.nano() as f64 / 1e9),
        ("sign", None) => Cel::Int(amount.nano().signum() as i64),
        ("isGreaterThan", Some(other)) => Cel::Bool(amount > other),
        ("isLessThan", Some(other)) => Cel::Bool(amount < other),
        ("compareTo", Some(other)) => Cel::Int(amount.cmp(&other) as i64),
        ("add", Some(other)) => Cel::Special(Special::Quantity(amount.plus(other))),
        ("sub", Some(other)) => Cel::Special(Special::Quantity(amount.minus(other))),
        _ => return None,
    })
}

fn of_version<'a>(version: &Semver, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    Some(match (name, arguments) {
        ("major", []) => Cel::Int(version.number(0)),
        ("minor", []) => Cel::Int(version.number(1)),
        ("patch", []) => Cel::Int(version.number(2)),
        (_, [Cel::Special(Special::Semver(other))]) => match name {
            "isLessThan" => Cel::Bool(version < other),
            "isGreaterThan" => Cel::Bool(version > other),
            "compareTo" => Cel::Int(version.cmp(other) as i64),
            _ => return None,
        },
        _ => return None,
    })
}

fn of_format<'a>(format: &str, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    let ("validate", [Cel::String(text)]) = (name, arguments) else { return None };
    let list = super::library::violations(format, text);
    let texts = list.into_iter().map(|it| Cel::String(Cow::Owned(it)));
    let found = Cel::List(texts.collect());
    let is_good = matches!(&found, Cel::List(list) if list.is_empty());
    Some(Cel::Optional((!is_good).then(|| Box::new(found))))
}

fn of_address<'a>(address: IpAddr, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    if !arguments.is_empty() {
        return None;
    }
    let (local, multicast) = match address {
        IpAddr::V4(it) => (it.is_link_local(), it.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(it) => (it.is_unicast_link_local(), it.segments()[0] & 0xff0f == 0xff02),
    };
    let global = !(address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || local
        || matches!(address, IpAddr::V4(it) if it.is_broadcast()));
    Some(match name {
        "family" => Cel::Int(if address.is_ipv4() { 4 } else { 6 }),
        "isUnspecified" => Cel::Bool(address.is_unspecified()),
        "isLoopback" => Cel::Bool(address.is_loopback()),
        "isLinkLocalMulticast" => Cel::Bool(multicast),
        "isLinkLocalUnicast" => Cel::Bool(local),
        "isGlobalUnicast" => Cel::Bool(global),
        _ => return None,
    })
}

fn of_range<'a>(base: IpAddr, bits: u8, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    let inside = |address: IpAddr| {
        address.is_ipv4() == base.is_ipv4() && masked(address, bits) == masked(base, bits)
    };
    Some(match (name, arguments) {
        ("prefixLength", []) => Cel::Int(i64::from(bits)),
        ("ip", []) => Cel::Special(Special::Ip(base)),
        ("masked", []) => Cel::Special(Special::Cidr(masked(base, bits), bits)),
        ("containsIP", [Cel::Special(Special::Ip(it))]) => Cel::Bool(inside(*it)),
        ("containsIP", [Cel::String(text)]) => Cel::Bool(inside(address(text)?)),
        ("containsCIDR", [Cel::Special(Special::Cidr(it, length))]) => {
            Cel::Bool(inside(*it) && *length >= bits)
        }
        ("containsCIDR", [Cel::String(text)]) => {
            let Special::Cidr(it, length) = range(text)? else { return None };
            Cel::Bool(inside(it) && length >= bits)
        }
        _ => return None,
    })
}

/// Whether a text is a URL with a scheme, or an absolute path.
fn is_url(text: &str) -> bool {
    if text.bytes().any(|it| it <= b' ' || it == 0x7f) {
        return false;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return text.starts_with('/') };
    if text.starts_with('/') {
        return true;
    }
    let named = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
    let (_, port) = host_and_port(authority(text));
    named && rest.starts_with('/') && port.bytes().all(|it| it.is_ascii_digit())
}

/// The part between `//` and the path.
fn authority(text: &str) -> &str {
    let Some((_, rest)) = text.split_once("://") else { return "" };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let place = &rest[..end];
    place.rsplit_once('@').map_or(place, |it| it.1)
}

fn host_and_port(authority: &str) -> (&str, &str) {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').unwrap_or((rest, ""));
        return (host, after.strip_prefix(':').unwrap_or(""));
    }
    authority.rsplit_once(':').unwrap_or((authority, ""))
}

fn of_url<'a>(url: &str, name: &str, arguments: &[Cel<'a>]) -> Option<Cel<'a>> {
    if !arguments.is_empty() {
        return None;
    }
    let text = |it: &str| Some(Cel::String(Cow::Owned(it.to_owned())));
    let place = authority(url);
    let (before, query) = url.split_once('?').unwrap_or((url, ""));
    match name {
        "getScheme" if url.starts_with('/') => text(""),
        "getScheme" => text(&url.split_once(':')?.0.to_ascii_lowercase()),
        "getHost" => text(place),
        "getHostname" => text(host_and_port(place).0),
        "getPort" => text(host_and_port(place).1),
        "getEscapedPath" => {
            let rest = before.split_once("://").map_or(before, |it| it.1);
            let path = rest.find('/').map_or("", |at| &rest[at..]);
            text(path.split('#').next().unwrap_or_default())
        }
        "getQuery" => {
            let mut entries: Vec<(Cel, Cel)> = Vec::new();
            let query = query.split('#').next().unwrap_or_default();
            for pair in query.split('&').filter(|it| !it.is_empty()) {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                let known =
                    entries.iter_mut().find(|it| matches!(&it.0, Cel::String(own) if own == key));
                match known {
                    Some((_, Cel::List(values))) => values.push(text(value)?),
                    _ => entries.push((text(key)?, Cel::List(vec![text(value)?]))),
                }
            }
            Some(Cel::Map(entries))
        }
        _ => None,
    }
}
