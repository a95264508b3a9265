//! `net`

use crate::args::{get, missing, need, strings, text};
use crate::function::{Function, Module};
use crate::host::Host;
use kcl_value::{CallArgs, Dict, Fault, Result, Str, Value, show};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

mod cidr;

pub(super) const MODULE: Module = Module {
    name: "net",
    functions: &[
        Function::new("CIDR_host", cidr::host),
        Function::new("CIDR_netmask", cidr::netmask),
        Function::new("CIDR_subnet", cidr::subnet),
        Function::new("CIDR_subnets", cidr::subnets),
        Function::new("split_host_port", split_host_port),
        Function::new("join_host_port", join_host_port),
        Function::new("fqdn", fqdn),
        Function::new("parse_IP", |_, args| ip_string(args)),
        Function::new("IP_string", |_, args| ip_string(args)),
        Function::new("to_IP4", to_ip4),
        Function::new("to_IP6", to_ip6),
        Function::new("is_IPv4", |_, a| test(a, "is_IPv4", |_| true, |_| false)),
        Function::new("is_IPv6", |_, a| test(a, "is_IPv6", |_| false, |_| true)),
        Function::new("is_IP", |_, args| test(args, "is_IP", |_| true, |_| true)),
        Function::new("is_loopback_IP", |_, args| {
            test(args, "is_loopback_IP", Ipv4Addr::is_loopback, Ipv6Addr::is_loopback)
        }),
        Function::new("is_multicast_IP", |_, args| {
            test(args, "kcl_net_is_multicast_IP", Ipv4Addr::is_multicast, Ipv6Addr::is_multicast)
        }),
        Function::new("is_interface_local_multicast_IP", |_, args| {
            test(args, "is_interface_local_multicast_IP", |_| false, |ip| has_scope(ip, 1))
        }),
        Function::new("is_link_local_multicast_IP", |_, args| {
            test(
                args,
                "is_link_local_multicast_IP",
                |ip| matches!(ip.octets(), [224, 0, 0, _]),
                |ip| has_scope(ip, 2),
            )
        }),
        Function::new("is_link_local_unicast_IP", |_, args| {
            test(
                args,
                "is_link_local_unicast_IP",
                Ipv4Addr::is_link_local,
                Ipv6Addr::is_unicast_link_local,
            )
        }),
        Function::new("is_global_unicast_IP", |_, args| {
            test(args, "is_global_unicast_IP", is_global_v4, is_global_v6)
        }),
        Function::new("is_unspecified_IP", |_, args| {
            test(args, "is_unspecified_IP", Ipv4Addr::is_unspecified, Ipv6Addr::is_unspecified)
        }),
        Function::new("parse_CIDR", parse_cidr),
        Function::new("is_IP_in_CIDR", cidr::contains),
    ],
    constants: &[],
};

fn split_host_port(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let end_point = text(need(args, 0, "ip_end_point", "split_host_port")?);
    let fault = |what: &str| {
        Err(Fault::new(format!("ip_end_point \"{}\" {what}", end_point.escape_default())))
    };
    let Some((host, port)) = end_point.rsplit_once(':') else { return fault("missing port") };
    if host.starts_with('[') {
        let Some(end) = end_point.find(']') else { return fault("missing ']'") };
        if end > host.len() || !end_point[end + 1..].starts_with(':') {
            return fault("missing port");
        }
        if end + 1 < host.len() {
            return fault("too many colons");
        }
        if end_point[1..].contains('[') {
            return fault("unexpected '['");
        }
        if port.contains(']') {
            return fault("unexpected ']'");
        }
        return Ok(strings([&host[1..end], port]));
    }
    if host.contains(':') {
        return fault("too many colons");
    }
    if end_point.chars().skip(1).any(|c| c == '[') {
        return fault("unexpected '['");
    }
    if end_point.contains(']') {
        return fault("unexpected ']'");
    }
    Ok(strings([host, port]))
}

fn join_host_port(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (Some(host), Some(port)) = (get(args, 0, "host"), get(args, 1, "port")) else {
        return Err(Fault::new(
            "join_host_port() missing 2 required positional arguments: 'host' and 'port'",
        ));
    };
    let is_v6 = text(host).contains(':');
    let (host, port) = (show(host), show(port));
    Ok(Value::str(if is_v6 { format!("[{host}]:{port}") } else { format!("{host}:{port}") }))
}

fn fqdn(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let name = get(args, 0, "name").map_or("", text);
    if !name.is_empty() {
        return Ok(Value::str(name));
    }
    let system = host.system();
    let own = system
        .env("HOSTNAME")
        .or_else(|| system.read_to_string(Path::new("/proc/sys/kernel/hostname")).ok());
    Ok(Value::str(own.unwrap_or_default().trim()))
}

fn ip_string(args: &CallArgs) -> Result<Value> {
    let ip = text(need(args, 0, "ip", "IP_string")?);
    Ok(Value::str(ip.parse::<IpAddr>().map_or_else(|_| String::new(), |ip| ip.to_string())))
}

fn to_ip4(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let ip = text(need(args, 0, "ip", "IP_string")?);
    if let Ok(v4) = ip.parse::<Ipv4Addr>() {
        return Ok(Value::str(v4.to_string()));
    }
    Ok(Value::str(match ip.parse::<Ipv6Addr>() {
        Ok(v6) => match v6.to_ipv4() {
            Some(v4) => v4.to_string(),
            None => format!("can not parse {ip} ipv6 to ipv4!"),
        },
        Err(error) => format!("can not both parse {ip} to ipv6 and ipv4,err:{error}"),
    }))
}

fn to_ip6(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let ip = text(need(args, 0, "ip", "IP_string")?);
    if let Ok(v6) = ip.parse::<Ipv6Addr>() {
        return Ok(Value::str(v6.to_string()));
    }
    Ok(Value::str(match ip.parse::<Ipv4Addr>() {
        Ok(v4) => v4.to_ipv6_mapped().to_string(),
        Err(error) => format!("can not both parse {ip} to ipv6 and ipv4,err:{error}"),
    }))
}

/// Whether an address is one for which the test of its kind holds.
fn test(
    args: &CallArgs,
    function: &str,
    v4: fn(&Ipv4Addr) -> bool,
    v6: fn(&Ipv6Addr) -> bool,
) -> Result<Value> {
    let ip = text(get(args, 0, "ip").ok_or_else(|| missing(function, "ip"))?);
    Ok(Value::Bool(match ip.parse() {
        Ok(IpAddr::V4(ip)) => v4(&ip),
        Ok(IpAddr::V6(ip)) => v6(&ip),
        Err(_) => false,
    }))
}

/// Whether an IPv6 address is one for multicast of a scope.
fn has_scope(ip: &Ipv6Addr, scope: u16) -> bool {
    ip.segments()[0] & 0xff0f == 0xff00 | scope
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "tests of addresses have one signature")]
fn is_global_v4(ip: &Ipv4Addr) -> bool {
    match ip.octets() {
        // Two of the addresses for protocols are global all the same.
        [192, 0, 0, 9 | 10] => true,
        // This network, protocols, shared, benchmarks, reserved.
        [0 | 240..=255, ..] | [192, 0, 0, _] | [100, 64..=127, ..] | [198, 18 | 19, ..] => false,
        _ => {
            !(ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_documentation()
                || ip.is_multicast())
        }
    }
}

fn is_global_v6(ip: &Ipv6Addr) -> bool {
    match ip.segments() {
        // Documentation and benchmarks.
        [0x2001, 0xdb8, ..] | [0x2001, 2, 0, ..] => false,
        // IPv4 addresses in translation.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_global_v4(&Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

fn parse_cidr(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let network = text(need(args, 0, "cidr", "parse_CIDR")?);
    let mut dict = Dict::new();
    if let Ok(network) = network.parse::<cidr::Cidr>() {
        dict.insert(Str::from("ip"), Value::str(network.address.to_string()));
        dict.insert(Str::from("mask"), Value::Int(network.length.into()));
    }
    Ok(Value::dict(dict))
}
