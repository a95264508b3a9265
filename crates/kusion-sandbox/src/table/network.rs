//! Services, endpoints and ingresses.

use super::Layout;
use super::duration::age;
use super::words::{NONE, UNSET, items, joined, number, selector, text, text_or};
use serde_json::Value;

/// Returns how a network kind is shown.
pub(super) fn layout(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("", "Service") => Layout {
            columns: &["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"],
            cells: service,
        },
        ("", "Endpoints") => Layout { columns: &["Name", "Endpoints", "Age"], cells: endpoints },
        ("discovery.k8s.io", "EndpointSlice") => {
            Layout { columns: &["Name", "AddressType", "Ports", "Endpoints", "Age"], cells: slice }
        }
        ("networking.k8s.io", "Ingress") => Layout {
            columns: &["Name", "Class", "Hosts", "Address", "Ports", "Age"],
            cells: ingress,
        },
        ("networking.k8s.io", "IngressClass") => Layout {
            columns: &["Name", "Controller", "Parameters", "Age"],
            cells: |it| {
                let parameters = &it["spec"]["parameters"];
                let shown = if parameters.is_null() {
                    NONE.to_owned()
                } else {
                    let kind = match text(&parameters["apiGroup"]) {
                        "" => text(&parameters["kind"]).to_owned(),
                        group => format!("{}.{group}", text(&parameters["kind"])),
                    };
                    format!("{kind}/{}", text(&parameters["name"]))
                };
                vec![text(&it["spec"]["controller"]).into(), shown.into(), age(it)]
            },
        },
        ("networking.k8s.io", "NetworkPolicy") => Layout {
            columns: &["Name", "Pod-Selector", "Age"],
            cells: |it| vec![selector(&it["spec"]["podSelector"]), age(it)],
        },
        ("networking.k8s.io", "ServiceCIDR") => Layout {
            columns: &["Name", "CIDRs", "Age"],
            cells: |it| {
                let cidrs = joined(items(&it["spec"]["cidrs"]).iter().map(text));
                vec![cidrs.into(), age(it)]
            },
        },
        ("networking.k8s.io", "IPAddress") => Layout {
            columns: &["Name", "ParentRef"],
            cells: |it| {
                let parent = &it["spec"]["parentRef"];
                let parts: Vec<&str> = ["group", "resource", "namespace", "name"]
                    .iter()
                    .map(|key| text(&parent[*key]))
                    .filter(|part| !part.is_empty())
                    .collect();
                vec![parts.join("/").into()]
            },
        },
        _ => return None,
    })
}

fn balancer(it: &Value) -> Vec<&str> {
    items(&it["status"]["loadBalancer"]["ingress"])
        .iter()
        .map(|it| if text(&it["ip"]).is_empty() { text(&it["hostname"]) } else { text(&it["ip"]) })
        .collect()
}

fn service(it: &Value) -> Vec<Value> {
    let spec = &it["spec"];
    let external: Vec<&str> = items(&spec["externalIPs"]).iter().map(text).collect();
    let shown = match text(&spec["type"]) {
        "LoadBalancer" => {
            let mut all = balancer(it);
            all.extend(external);
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        "ExternalName" => text(&spec["externalName"]).to_owned(),
        _ => joined(external),
    };
    let ports: Vec<String> = items(&spec["ports"])
        .iter()
        .map(|port| {
            let protocol = text(&port["protocol"]);
            match number(&port["nodePort"]) {
                0 => format!("{}/{protocol}", number(&port["port"])),
                node => format!("{}:{node}/{protocol}", number(&port["port"])),
            }
        })
        .collect();
    vec![
        text(&spec["type"]).into(),
        text_or(&spec["clusterIP"], NONE).into(),
        shown.into(),
        joined(ports.iter().map(String::as_str)).into(),
        age(it),
        selector(&spec["selector"]),
    ]
}

/// Returns the first three of a list, and how many are left.
fn few(all: &[String], empty: &str) -> String {
    match all.len() {
        0 => empty.to_owned(),
        1..=3 => all.join(","),
        n => format!("{} + {} more...", all[..3].join(","), n - 3),
    }
}

fn endpoints(it: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in items(&it["subsets"]) {
        let ports = items(&subset["ports"]);
        for address in items(&subset["addresses"]) {
            let ip = text(&address["ip"]);
            if ports.is_empty() {
                all.push(ip.to_owned());
            }
        }
        for port in ports {
            for address in items(&subset["addresses"]) {
                all.push(format!("{}:{}", text(&address["ip"]), number(&port["port"])));
            }
        }
    }
    vec![few(&all, NONE).into(), age(it)]
}

fn slice(it: &Value) -> Vec<Value> {
    let ports = match it["ports"].as_array() {
        None => "*".to_owned(),
        Some(ports) => {
            let ports: Vec<String> = ports
                .iter()
                .map(|port| match port["port"].as_i64() {
                    Some(number) => number.to_string(),
                    None => "*".to_owned(),
                })
                .collect();
            few(&ports, UNSET)
        }
    };
    let addresses: Vec<String> = items(&it["endpoints"])
        .iter()
        .flat_map(|endpoint| items(&endpoint["addresses"]))
        .map(|address| text(address).to_owned())
        .collect();
    vec![text(&it["addressType"]).into(), ports.into(), few(&addresses, UNSET).into(), age(it)]
}

fn ingress(it: &Value) -> Vec<Value> {
    let spec = &it["spec"];
    let hosts: Vec<String> = items(&spec["rules"])
        .iter()
        .map(|rule| text(&rule["host"]))
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    let ports = if items(&spec["tls"]).is_empty() { "80" } else { "80, 443" };
    vec![
        text_or(&spec["ingressClassName"], NONE).into(),
        few(&hosts, "*").into(),
        balancer(it).join(",").into(),
        ports.into(),
        age(it),
    ]
}
