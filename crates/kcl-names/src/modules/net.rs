//! `net`

use crate::signature::{Module, Param, Signature, optional, required};

const IP: &[Param] = &[required("ip", "str")];
const CIDR: &[Param] = &[required("cidr", "str")];

pub(super) const MODULE: Module = Module {
    name: "net",
    doc: "Addresses and networks.",
    functions: &[
        Signature::new(
            "CIDR_host",
            &[required("cidr", "str"), required("host_num", "int")],
            "str",
            "Returns the address of a host in a network by its number; negative numbers count \
             from the end.",
        ),
        Signature::new(
            "CIDR_netmask",
            CIDR,
            "str",
            "Returns the mask of an IPv4 network, `255.0.0.0`.",
        ),
        Signature::new(
            "CIDR_subnet",
            &[
                required("cidr", "str"),
                required("additional_bits", "int"),
                required("net_num", "int"),
            ],
            "str",
            "Returns the network with a number among those that a network has if its prefix is \
             `additional_bits` longer.",
        ),
        Signature::new(
            "CIDR_subnets",
            &[required("cidr", "str"), required("additional_bits", "[int]")],
            "[str]",
            "Returns networks within a network that do not overlap, each with a prefix that is \
             longer by the given number of bits.",
        ),
        Signature::new(
            "split_host_port",
            &[required("ip_end_point", "str")],
            "[str]",
            "Returns host and port of `host:port` or `[host]:port`.",
        ),
        Signature::new(
            "join_host_port",
            &[required("host", "str"), required("port", "int | str")],
            "str",
            "Returns `host:port`, or `[host]:port` if the host is an IPv6 address.",
        ),
        Signature::new(
            "fqdn",
            &[optional("name", "str")],
            "str",
            "Returns the name given, or the name of this machine; the network is not asked.",
        ),
        Signature::new(
            "parse_IP",
            IP,
            "str",
            "Returns an address in its usual form, or an empty string if it is none.",
        ),
        Signature::new(
            "IP_string",
            IP,
            "str",
            "Returns an address in its usual form, or an empty string if it is none.",
        ),
        Signature::new("to_IP4", IP, "str", "Returns the IPv4 form of an address."),
        Signature::new("to_IP6", IP, "str", "Returns the IPv6 form of an address."),
        Signature::new("is_IPv4", IP, "bool", "Tells whether a text is an IPv4 address."),
        Signature::new("is_IPv6", IP, "bool", "Tells whether a text is an IPv6 address."),
        Signature::new("is_IP", IP, "bool", "Tells whether a text is an address."),
        Signature::new(
            "is_loopback_IP",
            IP,
            "bool",
            "Tells whether an address is this machine's own, like 127.0.0.1.",
        ),
        Signature::new(
            "is_multicast_IP",
            IP,
            "bool",
            "Tells whether an address is one for multicast.",
        ),
        Signature::new(
            "is_interface_local_multicast_IP",
            IP,
            "bool",
            "Tells whether an address is one for multicast within an interface.",
        ),
        Signature::new(
            "is_link_local_multicast_IP",
            IP,
            "bool",
            "Tells whether an address is one for multicast within a link.",
        ),
        Signature::new(
            "is_link_local_unicast_IP",
            IP,
            "bool",
            "Tells whether an address is one of a single host within a link.",
        ),
        Signature::new(
            "is_global_unicast_IP",
            IP,
            "bool",
            "Tells whether an address is one of a single host that all the world can reach.",
        ),
        Signature::new(
            "is_unspecified_IP",
            IP,
            "bool",
            "Tells whether an address is `0.0.0.0` or `::`.",
        ),
        Signature::new(
            "parse_CIDR",
            CIDR,
            "{str:any}",
            "Returns a network as a dict with its first address, `ip`, and the length of its \
             prefix, `mask`; an empty dict if it is none.",
        ),
        Signature::new(
            "is_IP_in_CIDR",
            &[required("ip", "str"), required("cidr", "str")],
            "bool",
            "Tells whether an address lies in a network.",
        ),
    ],
    constants: &[],
};
