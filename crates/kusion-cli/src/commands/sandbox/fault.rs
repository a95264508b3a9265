//! `kusion sandbox fault`.

use crate::arguments::duration;
use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::view;
use clap::Subcommand;
use kusion_sandbox::{Fault, FaultKind, Faults};
use serde_json::{Value, json};
use std::time::Duration;

/// Arguments of `kusion sandbox fault`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default", global = true)]
    name: String,
    #[command(subcommand)]
    fault: Order,
}

/// A fault, or what is done about faults.
#[derive(Debug, Subcommand)]
enum Order {
    /// Delay responses
    Latency {
        /// Time by which each response is delayed, at most 1 minute
        #[arg(value_parser = duration::parse)]
        time: Duration,
        #[command(flatten)]
        concerned: Concerned,
    },
    /// Reject requests with an error
    Error {
        /// HTTP status code: 429 or 500
        #[arg(value_parser = code)]
        code: u16,
        #[command(flatten)]
        concerned: Concerned,
    },
    /// End all open watches once
    WatchCut,
    /// Lose a node: it stops, and its pods are evicted after their toleration time
    NodeLoss {
        /// Name of the node
        node: String,
    },
    /// Have a lost node return
    NodeReturn {
        /// Name of the node
        node: String,
    },
    /// Fill the pod quota of a namespace: new pods are rejected
    Quota {
        /// Name of the namespace
        namespace: String,
    },
    /// List the faults
    List,
    /// End all faults
    Clear,
}

/// The requests that a fault concerns.
#[derive(Debug, clap::Args)]
struct Concerned {
    /// Plural name of the only resource that the fault concerns, such as `pods`
    #[arg(long, value_name = "PLURAL", default_value = "", hide_default_value = true)]
    resource: String,
    /// Number of requests after which the fault ends (default: no limit)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    requests: Option<u32>,
}

/// Reads the code of an error.
fn code(text: &str) -> Result<u16, String> {
    match text {
        "429" => Ok(429),
        "500" => Ok(500),
        _ => Err(format!("invalid code `{text}`: expected 429 or 500")),
    }
}

/// Tells a sandbox to commit a fault.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let state = Daemon::load(&args.name)?.ok_or_else(|| Failure::Unknown(args.name.clone()))?;
    let with = |mut order: Value, concerned: &Concerned| {
        order["resource"] = concerned.resource.as_str().into();
        order["requests"] = concerned.requests.into();
        order
    };
    let order = match &args.fault {
        Order::Latency { time, concerned } => {
            let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            with(json!({"latency": milliseconds}), concerned)
        }
        Order::Error { code, concerned } => with(json!({"error": code}), concerned),
        Order::WatchCut => json!({"cut": true}),
        Order::NodeLoss { node } => json!({"lose": node}),
        Order::NodeReturn { node } => json!({"regain": node}),
        Order::Quota { namespace } => json!({"quota": namespace}),
        Order::List => json!({"list": true}),
        Order::Clear => json!({"clear": true}),
    };
    let reply = state.tell(&format!("fault {order}"))?;
    let reply: Value = serde_json::from_str(&reply).unwrap_or_default();
    match reply["error"].as_str() {
        Some(error) => Err(Failure::Fault { name: args.name.clone(), why: error.to_owned() }),
        None => view::result(&shown(&args.name, &args.fault, &reply)),
    }
}

fn shown(name: &str, order: &Order, reply: &Value) -> String {
    if !matches!(order, Order::List) {
        return match order {
            Order::Clear => format!("sandbox `{name}` has no faults any more\n"),
            Order::WatchCut => format!("ended all watches of sandbox `{name}`\n"),
            Order::NodeReturn { node } => format!("node `{node}` has returned\n"),
            _ => format!(
                "sandbox `{name}` has this fault until you run `kusion sandbox fault clear{}`\n",
                if name == "default" { String::new() } else { format!(" --name {name}") }
            ),
        };
    }
    let lines: Vec<&str> =
        reply["faults"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if lines.is_empty() { "no faults\n".to_owned() } else { format!("{}\n", lines.join("\n")) }
}

/// Obeys an order that came by the control port; returns the reply.
pub(super) fn obey(faults: &Faults, order: &str) -> String {
    let order: Value = serde_json::from_str(order).unwrap_or_default();
    let text = |key: &str| order[key].as_str();
    let done = if let Some(kind) = kind(&order) {
        let requests = order["requests"].as_u64().and_then(|it| u32::try_from(it).ok());
        let resource = text("resource").unwrap_or_default().to_owned();
        faults.add(Fault { kind, resource, requests });
        Ok(())
    } else if let Some(node) = text("lose") {
        faults.lose_node(node, true)
    } else if let Some(node) = text("regain") {
        faults.lose_node(node, false)
    } else if let Some(namespace) = text("quota") {
        faults.fill_quota(namespace)
    } else if order["clear"] == true {
        faults.clear()
    } else {
        if order["cut"] == true {
            faults.cut_watches();
        }
        Ok(())
    };
    let reply = match done {
        Ok(()) => json!({"faults": described(faults)}),
        Err(status) => json!({"error": status.message}),
    };
    reply.to_string()
}

fn kind(order: &Value) -> Option<FaultKind> {
    let latency = order["latency"].as_u64().map(|it| FaultKind::Latency(Duration::from_millis(it)));
    latency.or_else(|| Some(FaultKind::Error(u16::try_from(order["error"].as_u64()?).ok()?)))
}

/// The faults, a line each.
fn described(faults: &Faults) -> Vec<String> {
    let requests = faults.list().into_iter().map(|fault| {
        let what = match fault.kind {
            FaultKind::Latency(time) => format!("latency {} ms", time.as_millis()),
            FaultKind::Error(code) => format!("error {code}"),
        };
        let resource = if fault.resource.is_empty() { "all resources" } else { &fault.resource };
        let left = fault.requests.map_or_else(String::new, |it| format!(", {it} more requests"));
        format!("{what}: {resource}{left}")
    });
    let nodes = faults.lost_nodes().unwrap_or_default();
    let full = faults.full_namespaces().unwrap_or_default();
    requests
        .chain(nodes.into_iter().map(|node| format!("node-loss: {node}")))
        .chain(full.into_iter().map(|namespace| format!("quota: {namespace}")))
        .collect()
}
