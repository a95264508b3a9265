//! Addresses and ranges of addresses in fields.

use super::report::Report;
use serde_json::Value;
use std::net::IpAddr;

const BAD_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const BAD_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Reports a text that is no address; returns whether it is one.
pub(super) fn valid(path: &str, value: &Value, report: &mut Report) -> bool {
    let text = value.as_str().unwrap_or_default();
    let detail = match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            "must not be an IPv4-mapped IPv6 address"
        }
        Ok(_) => return true,
        Err(_) if without_zeros(text).parse::<IpAddr>().is_ok() => "must not have leading 0s",
        Err(_) => BAD_ADDRESS,
    };
    let shown = Value::from(text);
    report.invalid(path, &shown, detail);
    false
}

/// Removes the zeros with which numbers of an IPv4 address begin.
pub(crate) fn without_zeros(text: &str) -> String {
    let parts: Vec<&str> = text
        .split('.')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0",
            rest => rest,
        })
        .collect();
    parts.join(".")
}

/// Reports an address that no one else could reach.
pub(super) fn reachable(path: &str, value: &Value, report: &mut Report) {
    let text = value.as_str().unwrap_or_default();
    let Ok(address) = text.parse::<IpAddr>() else {
        return report.invalid(path, &Value::from(text), "must be a valid IP address");
    };
    let (local, multicast) = match address {
        IpAddr::V4(it) => (it.is_link_local(), it.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(it) => (it.is_unicast_link_local(), it.segments()[0] & 0xff0f == 0xff02),
    };
    if address.is_unspecified() {
        report.invalid(path, value, &format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        report.invalid(path, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if local {
        let detail = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
        report.invalid(path, value, detail);
    }
    if multicast {
        let detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
        report.invalid(path, value, detail);
    }
}

/// Reports a text that is no range of addresses; returns its address and length if it is one.
pub(super) fn range(path: &str, text: &str, report: &mut Report) -> Option<(IpAddr, u32)> {
    let (address, length) = text.split_once('/').unwrap_or_default();
    let parsed = without_zeros(address).parse::<IpAddr>().ok();
    let bits = length.parse::<u32>().ok().filter(|_| length.bytes().all(|it| it.is_ascii_digit()));
    let (Some(start), Some(bits)) = (parsed, bits) else {
        report.invalid(path, &Value::from(text), BAD_RANGE);
        return None;
    };
    let is_mapped = matches!(start, IpAddr::V6(it) if it.to_ipv4_mapped().is_some());
    let detail = if bits > if start.is_ipv4() { 32 } else { 128 } {
        BAD_RANGE
    } else if address.parse::<IpAddr>().is_err() || (length.len() > 1 && length.starts_with('0')) {
        "must not have leading 0s in IP or prefix length"
    } else if is_mapped {
        "must not have an IPv4-mapped IPv6 address"
    } else if start_of_range(start, bits) != start {
        "must not have bits set beyond the prefix length"
    } else {
        return Some((start, bits));
    };
    report.invalid(path, &Value::from(text), detail);
    None
}

/// The first address of the range in which an address is.
pub(crate) fn start_of_range(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(it) & mask).into())
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(it) & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let mut report = Report::default();
        let value = Value::from(text);
        if valid("ip", &value, &mut report) {
            reachable("ip", &value, &mut report);
        }
        report.causes.into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn addresses_are_judged_as_the_server_does() {
        assert!(messages("10.1.2.3").is_empty());
        assert!(messages("2001:db8::1").is_empty());
        for (text, detail) in [
            ("x", BAD_ADDRESS),
            ("", BAD_ADDRESS),
            ("010.1.2.3", "must not have leading 0s"),
            ("::ffff:10.1.2.3", "must not be an IPv4-mapped IPv6 address"),
            ("127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
            ("0.0.0.0", "may not be unspecified (0.0.0.0)"),
        ] {
            assert_eq!(messages(text), [format!("Invalid value: {text:?}: {detail}")]);
        }
    }

    #[test]
    fn ranges_are_judged_as_the_server_does() {
        let message = |text: &str| {
            let mut report = Report::default();
            range("r", text, &mut report);
            report.causes.pop().map(|it| it.message)
        };
        for good in ["10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "::/0", "1.2.3.4/32"] {
            assert_eq!(message(good), None);
        }
        for (text, detail) in [
            ("", BAD_RANGE),
            ("10.0.0.0", BAD_RANGE),
            ("10.0.0.0/33", BAD_RANGE),
            ("10.0.0.0/+8", BAD_RANGE),
            ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
            ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
            ("::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address"),
            ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
        ] {
            assert_eq!(message(text), Some(format!("Invalid value: {text:?}: {detail}")));
        }
    }
}
