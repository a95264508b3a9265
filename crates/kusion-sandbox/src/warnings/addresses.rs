//! Addresses and ranges that are not written in their usual form.

use crate::validate::{address_without_zeros as without_zeros, at, items, start_of_range, text};
use serde_json::Value;
use std::net::IpAddr;

/// Warns about an address.
pub(super) fn address(path: &str, value: &str, out: &mut Vec<String>) {
    let Some((address, standard)) = read(value) else { return };
    if !standard {
        out.push(format!(
            "{path}: non-standard IP address {value:?} is invalid: use \"{address}\""
        ));
    } else if address.is_ipv6() && address.to_string() != value {
        out.push(format!(
            "{path}: IPv6 address {value:?} should be in RFC 5952 canonical format (\"{address}\")"
        ));
    }
}

/// Reads an address; says whether it is written as one should be.
fn read(value: &str) -> Option<(IpAddr, bool)> {
    match value.parse::<IpAddr>() {
        Ok(IpAddr::V6(it)) if it.to_ipv4_mapped().is_some() => {
            Some((IpAddr::V4(it.to_ipv4_mapped()?), false))
        }
        Ok(it) => Some((it, true)),
        Err(_) => without_zeros(value).parse().ok().map(|it| (it, false)),
    }
}

/// Warns about a range of addresses.
fn range(path: &str, value: &str, out: &mut Vec<String>) {
    let Some((start, length)) = value.split_once('/') else { return };
    let (Some((address, standard)), Ok(mut bits)) = (read(start), length.parse::<u32>()) else {
        return;
    };
    let width = if address.is_ipv4() { 32 } else { 128 };
    if !standard && start.contains(':') {
        // The first 96 bits of such an address only say what it is.
        bits = bits.saturating_sub(96);
    }
    let masked = start_of_range(address, bits.min(width));
    let before = out.len();
    if masked != address {
        out.push(format!(
            "{path}: CIDR value {value:?} is ambiguous in this context (should be \
             \"{masked}/{bits}\" or \"{address}/{width}\"?)"
        ));
    }
    if !standard {
        out.push(format!(
            "{path}: non-standard CIDR value {value:?} is invalid: use \"{masked}/{bits}\""
        ));
    }
    let usual = format!("{address}/{bits}");
    if out.len() == before && address.is_ipv6() && usual != value {
        out.push(format!(
            "{path}: IPv6 CIDR value {value:?} should be in RFC 5952 canonical format ({usual:?})"
        ));
    }
}

/// Warns about the addresses of a service.
pub(super) fn service(spec: &Value, headless: bool, out: &mut Vec<String>) {
    let lists = [("clusterIPs", !headless), ("externalIPs", true)];
    for (key, _) in lists.into_iter().filter(|it| it.1) {
        for (path, it) in items(spec, key, "spec") {
            address(&path, it.as_str().unwrap_or_default(), out);
        }
    }
    address("spec.loadBalancerIP", text(spec, "loadBalancerIP"), out);
    for (path, it) in items(spec, "loadBalancerSourceRanges", "spec") {
        range(&path, it.as_str().unwrap_or_default(), out);
    }
}

/// Warns about the old form of endpoints.
pub(super) fn endpoints(endpoints: &Value, out: &mut Vec<String>) {
    for (path, subset) in items(endpoints, "subsets", "") {
        for key in ["addresses", "notReadyAddresses"] {
            for (path, it) in items(subset, key, &path) {
                address(&format!("{path}.ip"), text(it, "ip"), out);
            }
        }
    }
}

/// Warns about endpoints in slices.
pub(super) fn slice(slice: &Value, created: bool, out: &mut Vec<String>) {
    if created && text(slice, "addressType") == "FQDN" {
        out.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    if text(slice, "addressType") == "FQDN" {
        return;
    }
    for (path, endpoint) in items(slice, "endpoints", "") {
        for (path, it) in items(endpoint, "addresses", &path) {
            address(&path, it.as_str().unwrap_or_default(), out);
        }
    }
}

/// Warns about the ranges of a network policy.
pub(super) fn policy(spec: &Value, out: &mut Vec<String>) {
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for (path, rule) in items(spec, rules, "spec") {
            for (path, peer) in items(rule, peers, &path) {
                let block = at(peer, "ipBlock");
                let path = format!("{path}.ipBlock");
                range(&format!("{path}.cidr"), text(block, "cidr"), out);
                for (path, it) in items(block, "except", &path) {
                    range(&path, it.as_str().unwrap_or_default(), out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_forms_are_told() {
        let mut out = Vec::new();
        for it in ["10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4", "2001:DB8::1", "no"] {
            address("a", it, &mut out);
        }
        for it in ["10.0.0.0/8", "10.0.0.1/8", "::/0", "2001:0db8::/32"] {
            range("r", it, &mut out);
        }
        assert_eq!(
            out,
            [
                r#"a: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1""#,
                r#"a: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4""#,
                r#"a: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")"#,
                r#"r: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)"#,
                r#"r: IPv6 CIDR value "2001:0db8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")"#,
            ]
        );
    }
}
