//! `kusion graph`.

use crate::arguments::{SourceArgs, trusts_by_environment};
use crate::failure::Failure;
use crate::view;
use kusion_app::wire::{Dependencies, GraphDocument, GraphStack};
use kusion_generate::Compiled;
use kusion_plan::graph::{Cycle, Graph, GraphError, Node};
use std::fmt::Write as _;

/// Arguments of `kusion graph`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Form,
}

/// The output format of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Form {
    /// Resources in order of creation, each with its dependencies
    #[default]
    Text,
    /// Graphviz DOT
    Dot,
    /// JSON, for programs
    Json,
}

/// Shows the dependency graph of resources, without redundant edges.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let compiled = args.source.compile(trusts_by_environment())?;
    let mut text = String::new();
    let mut stacks = Vec::new();
    for stack in &compiled {
        let shown = Shown::new(stack)?;
        // Writing to a string does not fail.
        let _ = match args.output {
            Form::Text => shown.text(&mut text, compiled.len() > 1),
            Form::Dot => shown.dot(&mut text),
            Form::Json => {
                stacks.push(shown.wire());
                Ok(())
            }
        };
    }
    if args.output == Form::Json {
        text = GraphDocument::new(stacks).text();
    }
    view::result(&text)
}

/// The transitive reduction of the dependency graph of a stack.
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
        self.stack.stack.qualified_name()
    }

    fn text(&self, out: &mut String, with_title: bool) -> std::fmt::Result {
        let indent = if with_title { "  " } else { "" };
        if with_title {
            writeln!(out, "{}", self.title())?;
        }
        for node in &self.order {
            writeln!(out, "{indent}{}", self.graph.id(*node))?;
            for need in &self.edges[node.index()] {
                writeln!(out, "{indent}  depends on {}", self.graph.id(*need))?;
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

    fn wire(&self) -> GraphStack {
        let dependencies = |node: &Node| {
            let used = self.edges[node.index()].iter().map(|used| self.graph.id(*used).clone());
            let resource = &self.stack.spec.resources[node.index()];
            Dependencies {
                id: resource.id.clone(),
                resource_type: resource.resource_type.clone(),
                depends_on: used.collect(),
            }
        };
        GraphStack {
            project: self.stack.stack.project.name.clone(),
            stack: self.stack.stack.name.clone(),
            resources: self.order.iter().map(dependencies).collect(),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
