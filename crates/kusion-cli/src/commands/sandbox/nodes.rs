//! The nodes of a sandbox, as options of `kusion sandbox up` and in its state file.

use kusion_sandbox::Nodes;
use serde_json::{Value, json};
use std::process::Command;

/// Options for the nodes of a sandbox.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct NodeArgs {
    /// Number of simulated nodes (default: 2)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(Nodes::MOST)))]
    nodes: Option<u16>,
    /// Number of zones to spread the nodes over; with 0, nodes have no zone labels (default: 0)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=i64::from(Nodes::MOST_ZONES)))]
    zones: Option<u16>,
    /// CPUs of each node (default: 64)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    node_cpu: Option<u32>,
    /// Memory of each node (default: 256Gi)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    node_memory: Option<String>,
}

/// Reads an amount of memory.
fn size(text: &str) -> Result<String, String> {
    if Nodes::is_memory(text) {
        return Ok(text.to_owned());
    }
    Err(format!("invalid size `{text}`: expected a number and a unit, such as `16Gi`"))
}

impl NodeArgs {
    /// Returns the options that lead to these nodes.
    pub(crate) fn from_nodes(nodes: &Nodes) -> Self {
        Self {
            nodes: Some(nodes.count),
            zones: Some(nodes.zones),
            node_cpu: Some(nodes.cpu),
            node_memory: Some(nodes.memory.clone()),
        }
    }

    /// Returns the nodes; what is not given has its default.
    pub(crate) fn to_nodes(&self) -> Nodes {
        self.over(&Nodes::default())
    }

    /// Returns whether nodes are what the options ask for.
    pub(crate) fn accept(&self, nodes: &Nodes) -> bool {
        self.over(nodes) == *nodes
    }

    fn over(&self, nodes: &Nodes) -> Nodes {
        Nodes {
            count: self.nodes.unwrap_or(nodes.count),
            zones: self.zones.unwrap_or(nodes.zones),
            cpu: self.node_cpu.unwrap_or(nodes.cpu),
            memory: self.node_memory.clone().unwrap_or_else(|| nodes.memory.clone()),
        }
    }

    /// Passes the options on to a process.
    pub(crate) fn pass(&self, command: &mut Command) {
        let options = [
            ("--nodes", self.nodes.map(|it| it.to_string())),
            ("--zones", self.zones.map(|it| it.to_string())),
            ("--node-cpu", self.node_cpu.map(|it| it.to_string())),
            ("--node-memory", self.node_memory.clone()),
        ];
        for (option, value) in options {
            if let Some(value) = value {
                command.args([option, &value]);
            }
        }
    }
}

/// Writes nodes into a state file.
pub(crate) fn to_value(nodes: &Nodes) -> Value {
    json!({"count": nodes.count, "zones": nodes.zones, "cpu": nodes.cpu, "memory": nodes.memory})
}

/// Reads nodes from a state file; what is missing has its default.
pub(crate) fn from_value(value: &Value) -> Nodes {
    let default = Nodes::default();
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    let small =
        |key: &str, default| number(key).and_then(|it| it.try_into().ok()).unwrap_or(default);
    let memory = value.get("memory").and_then(Value::as_str).filter(|it| Nodes::is_memory(it));
    Nodes {
        count: small("count", default.count),
        zones: small("zones", default.zones),
        cpu: number("cpu").and_then(|it| it.try_into().ok()).unwrap_or(default.cpu),
        memory: memory.map_or(default.memory, str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_survive_the_state_file_and_the_command_line() {
        let nodes = Nodes { count: 3, zones: 3, cpu: 4, memory: "8Gi".to_owned() };
        assert_eq!(from_value(&to_value(&nodes)), nodes);
        assert_eq!(NodeArgs::from_nodes(&nodes).to_nodes(), nodes);
        assert_eq!(from_value(&Value::Null), Nodes::default());
        let asked = NodeArgs { zones: Some(3), ..NodeArgs::default() };
        assert!(asked.accept(&nodes) && !asked.accept(&Nodes::default()));
    }
}
