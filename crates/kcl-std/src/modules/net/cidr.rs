//! Networks, `10.0.0.0/8`.

use crate::args::{get, strict_integer, text};
use crate::host::Host;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network: an address and the length of its prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cidr {
    pub(super) address: IpAddr,
    pub(super) length: u8,
}

impl Cidr {
    /// The bits of an address of this kind.
    fn bits(self) -> u8 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    /// The first address as a number.
    fn number(self) -> u128 {
        match self.address {
            IpAddr::V4(ip) => ip.to_bits().into(),
            IpAddr::V6(ip) => ip.to_bits(),
        }
    }

    /// An address of this kind.
    fn address_of(self, number: u128) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => Ipv4Addr::from_bits(number as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from_bits(number).into(),
        }
    }

    fn name(self) -> &'static str {
        if self.address.is_ipv4() { "IPv4" } else { "IPv6" }
    }
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (address, length) = match text.rsplit_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address
            .parse()
            .map_err(|error| format!("couldn't parse address in network: {error}"))?;
        let network = Cidr { address, length: 0 };
        let bits = network.bits();
        let length = match length {
            Some(length) => length
                .parse()
                .map_err(|error| format!("couldn't parse length in network: {error}"))?,
            None => bits,
        };
        if length > bits {
            let kind = if bits == 32 { "Ipv4" } else { "Ipv6" };
            return Err(format!(
                "invalid length for network: Network length {length} is too long for {kind} \
                 (maximum: {bits})"
            ));
        }
        if network.number() & below(bits - length) != 0 {
            return Err("host part of address was not zero".to_owned());
        }
        Ok(Cidr { address, length })
    }
}

/// The number with the lowest `bits` bits set.
fn below(bits: u8) -> u128 {
    1_u128.checked_shl(bits.into()).map_or(u128::MAX, |bit| bit - 1)
}

/// The network argument.
fn network(args: &CallArgs, index: usize, function: &str, missing: &str) -> Result<Cidr> {
    let cidr = get(args, index, "cidr")
        .ok_or_else(|| Fault::new(format!("{function}() missing {missing}")))?;
    text(cidr)
        .parse()
        .map_err(|error: String| Fault::new(format!("{function}() invalid cidr: {error}")))
}

pub(super) fn contains(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = "2 required positional arguments: 'ip' and 'cidr'";
    let ip = get(args, 0, "ip")
        .ok_or_else(|| Fault::new(format!("is_IP_in_CIDR() missing {missing}")))?;
    let ip: IpAddr = text(ip)
        .parse()
        .map_err(|error| Fault::new(format!("is_IP_in_CIDR() invalid ip: {error}")))?;
    let network = network(args, 1, "is_IP_in_CIDR", missing)?;
    let number = match (ip, network.address) {
        (IpAddr::V4(ip), IpAddr::V4(_)) => ip.to_bits().into(),
        (IpAddr::V4(ip), IpAddr::V6(_)) => ip.to_ipv6_mapped().to_bits(),
        (IpAddr::V6(ip), IpAddr::V6(_)) => ip.to_bits(),
        (IpAddr::V6(_), IpAddr::V4(_)) => return Ok(Value::Bool(false)),
    };
    let host_bits = network.bits() - network.length;
    Ok(Value::Bool(number & !below(host_bits) == network.number()))
}

pub(super) fn subnet(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = "3 required positional arguments: 'cidr', 'additional_bits', and 'net_num'";
    let network = network(args, 0, "CIDR_subnet", missing)?;
    let number = |index, name| {
        let value = get(args, index, name)
            .ok_or_else(|| Fault::new(format!("CIDR_subnet() missing {missing}")))?;
        let number = strict_integer(value)?;
        u64::try_from(number)
            .map_err(|_| Fault::new(format!("CIDR_subnet() invalid {name}: cannot be negative")))
    };
    let bits = number(1, "additional_bits")?;
    let subnet = allocate(network, bits, number(2, "net_num")?.into());
    subnet.map(Value::str).map_err(|error| Fault::new(format!("CIDR_subnet() {error}")))
}

/// The network with a number among those whose prefix is longer by some bits.
fn allocate(network: Cidr, bits: u64, number: u128) -> std::result::Result<String, String> {
    let length = bits.saturating_add(network.length.into());
    if length > network.bits().into() {
        return Err(too_long(network, length));
    }
    let length = length as u8;
    if number > below(bits as u8) {
        return Err(format!(
            "additional_bits of {bits} does not accommodate a net_num of {number}"
        ));
    }
    let shift = u32::from(network.bits() - length);
    let first = network.number() + number.checked_shl(shift).unwrap_or(0);
    Ok(format!("{}/{length}", network.address_of(first)))
}

fn too_long(network: Cidr, length: u64) -> String {
    format!(
        "invalid additional_bits: would extend network length to {length} bits, which is too \
         long for {}",
        network.name()
    )
}

pub(super) fn subnets(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = "2 required positional arguments: 'cidr' and 'additional_bits'";
    let network = network(args, 0, "CIDR_subnets", missing)?;
    let wanted = get(args, 1, "additional_bits")
        .ok_or_else(|| Fault::new(format!("CIDR_subnets() missing {missing}")))?;
    let wanted = wanted.as_list().ok_or_else(|| Fault::new("invalid list value"))?;
    let mut taken: Vec<(u64, u128)> = Vec::with_capacity(wanted.len());
    for bits in wanted {
        let bits = additional_bits(network, bits)?;
        taken.push((bits, first_free(&taken, bits)));
    }
    let mut subnets: Vec<String> = Vec::with_capacity(taken.len());
    for (bits, number) in taken {
        if number > below(bits as u8) {
            return Err(Fault::new(format!(
                "CIDR_subnets() not enough remaining address space for a subnet with a prefix \
                 of {} bits after {}",
                bits + u64::from(network.length),
                subnets.last().map_or("", String::as_str)
            )));
        }
        let subnet = allocate(network, bits, number);
        subnets.push(subnet.map_err(|error| Fault::new(format!("CIDR_subnets {error}")))?);
    }
    Ok(crate::args::strings(subnets))
}

fn additional_bits(network: Cidr, value: &Value) -> Result<u64> {
    let fault = |what: String| Err(Fault::new(format!("CIDR_subnets() {what}")));
    let Ok(bits) = u64::try_from(strict_integer(value)?) else {
        return fault("invalid additional_bits: cannot be negative".to_owned());
    };
    let length = bits.saturating_add(network.length.into());
    if network.address.is_ipv6() && bits > 63 {
        return fault("invalid additional_bits: cannot extend more than 63 bits".to_owned());
    }
    if length > network.bits().into() {
        return fault(too_long(network, length));
    }
    Ok(bits)
}

/// The lowest number of a subnet that overlaps none of those taken.
fn first_free(taken: &[(u64, u128)], bits: u64) -> u128 {
    let mut free = 0;
    loop {
        let before = free;
        for (other_bits, other) in taken {
            // A larger subnet takes up many numbers, a smaller one a part of one.
            let (number, count) = if *other_bits > bits {
                (other >> (other_bits - bits), 1)
            } else {
                let shift = bits - other_bits;
                (other << shift, 1 << shift)
            };
            if number == free {
                free += count;
            }
        }
        if free == before {
            return free;
        }
    }
}

pub(super) fn host(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let missing = "2 required positional arguments: 'cidr' and 'host_num'";
    let network = network(args, 0, "CIDR_host", missing)?;
    let number = get(args, 1, "host_num")
        .ok_or_else(|| Fault::new(format!("CIDR_host() missing {missing}")))?;
    let number = strict_integer(number)?;
    let host_bits = network.bits() - network.length;
    let distance = if number < 0 { -(number + 1) } else { number };
    if distance as u128 > below(host_bits) {
        return Err(Fault::new(format!(
            "CIDR_host() prefix of {} does not accommodate a host numbered {number}",
            network.length
        )));
    }
    let host = if number < 0 { below(host_bits) - distance as u128 } else { distance as u128 };
    Ok(Value::str(network.address_of(network.number() + host).to_string()))
}

pub(super) fn netmask(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let network = network(args, 0, "CIDR_netmask", "1 required positional argument: 'cidr'")?;
    if network.address.is_ipv6() {
        return Err(Fault::new("CIDR_netmask() IPv6 addresses cannot have a netmask"));
    }
    let mask = !below(32 - network.length);
    Ok(Value::str(network.address_of(mask).to_string()))
}
