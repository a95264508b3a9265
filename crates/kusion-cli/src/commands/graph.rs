//! `kusion graph`.

use crate::arguments::SourceArgs;
use crate::failure::Failure;
use crate::view;
use kusion_generate::Compiled;
use kusion_plan::graph::{Cycle, Graph, GraphError, Node};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Whose graph is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Form of the graph
    #[arg(long, short, value_enum, default_value_t)]
    output: Form,
}

/// The form of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Form {
    /// Resources in the order in which they are made, each with what it needs.
    #[default]
    Text,
    /// The language of Graphviz.
    Dot,
    /// For programs.
    Json,
}

/// Shows which resources need which, without what follows from the rest.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let compiled = args.source.compile()?;
    let mut text = String::new();
    let mut stacks = Vec::new();
    for stack in &compiled {
        let shown = Shown::new(stack)?;
        // Writing to a string does not fail.
        let _ = match args.output {
            Form::Text => shown.text(&mut text, compiled.len() > 1),
            Form::Dot => shown.dot(&mut text),
            Form::Json => {
                stacks.push(shown.json());
                Ok(())
            }
        };
    }
    if args.output == Form::Json {
        text = format!("{:#}\n", json!({"version": 1, "stacks": stacks}));
    }
    view::result(&text)
}

/// The graph of a stack, with the fewest edges.
struct Shown<'a> {
    stack: &'a Compiled,
    graph: Graph,
    order: Vec<Node>,
    edges: Vec<Vec<Node>>,
}

impl<'a> Shown<'a> {
    fn new(stack: &'a Compiled) -> Result<Self, Failure> {
        let wrong = |error: GraphError| Failure::Graph(error.to_string());
        let circle = |cycle: Cycle| Failure::Graph(cycle.to_string());
        let graph = Graph::of_resources(&stack.spec.resources).map_err(wrong)?;
        let order = graph.order().map_err(circle)?;
        let edges = graph.reduced().map_err(circle)?;
        Ok(Self { stack, graph, order, edges })
    }

    fn title(&self) -> String {
        format!("{}/{}", self.stack.stack.project.name, self.stack.stack.name)
    }

    fn text(&self, out: &mut String, with_title: bool) -> std::fmt::Result {
        let indent = if with_title { "  " } else { "" };
        if with_title {
            writeln!(out, "{}", self.title())?;
        }
        for node in &self.order {
            writeln!(out, "{indent}{}", self.graph.id(*node))?;
            for need in &self.edges[node.index()] {
                writeln!(out, "{indent}  needs {}", self.graph.id(*need))?;
            }
        }
        Ok(())
    }

    fn dot(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "digraph {} {{", quoted(&self.title()))?;
        for node in &self.order {
            writeln!(out, "  {};", quoted(self.graph.id(*node).as_str()))?;
        }
        for node in &self.order {
            for need in &self.edges[node.index()] {
                let (from, to) = (self.graph.id(*node), self.graph.id(*need));
                writeln!(out, "  {} -> {};", quoted(from.as_str()), quoted(to.as_str()))?;
            }
        }
        writeln!(out, "}}")
    }

    fn json(&self) -> Value {
        let resources: Vec<Value> = self
            .order
            .iter()
            .map(|node| {
                let needs = self.edges[node.index()].iter().map(|need| self.graph.id(*need));
                let resource = &self.stack.spec.resources[node.index()];
                json!({
                    "id": resource.id,
                    "type": resource.resource_type,
                    "needs": needs.collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "project": self.stack.stack.project.name,
            "stack": self.stack.stack.name,
            "resources": resources,
        })
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
