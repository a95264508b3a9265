//! `kusion check`.

use crate::arguments::FolderArgs;
use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::view::{self, Output, words};
use base_system::OsSystem;
use kusion_app::wire::{CheckDocument, Finding};
use kusion_cells::{Resolver, Side};
use kusion_generate::{LayeredStack, StackLayers, today};
use std::fmt::Write as _;

/// Arguments of `kusion check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    /// Kind of checks to run [default: all]
    #[arg(long, value_enum, value_name = "KIND")]
    only: Option<Only>,
    /// Also report values for which only the order of the axes decides between two layers
    #[arg(long)]
    strict: bool,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// A kind of checks.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Only {
    /// Conflicts, locks and expired layers, at all cells
    Layers,
}

/// Checks the layers of stacks without compiling the stacks.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    // There is one kind so far.
    let _ = args.only;
    let stacks = args.folders.layers(None)?;
    let today = today(&OsSystem);
    let mut findings: Vec<Finding> = Vec::new();
    for stack in &stacks {
        match &stack.layers {
            Ok(layers) => check(args, &today, stack, layers, &mut findings),
            Err(error) => findings.push(finding("error", "layers", &error.to_string(), stack)),
        }
    }
    // A layer of the repository has the same finding in many stacks.
    findings.dedup_by(|a, b| a.message == b.message && a.code == b.code);
    let n_errors = findings.iter().filter(|it| it.severity == "error").count();
    let n_cells: usize = stacks.iter().map(|it| it.cells.len()).sum();
    let mut text = String::new();
    for it in &findings {
        let message = one_line(&it.message);
        let _ = writeln!(text, "{}[{}] {}: {message}", it.severity, it.code, it.stack);
    }
    let stacks = stacks.len();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{}, {}: {}",
        words::count(stacks, "stack"),
        words::count(n_cells, "cell"),
        words::count(n_errors, "error")
    );
    view::result(&match args.output {
        Output::Json => CheckDocument::new(stacks, n_cells, findings).text(),
        Output::Text => text,
    })?;
    Ok(if n_errors == 0 { Exit::Success } else { Exit::Failed })
}

fn check(
    args: &Args,
    today: &str,
    stack: &LayeredStack,
    layers: &StackLayers,
    findings: &mut Vec<Finding>,
) {
    let axes = &layers.dims.axes;
    let resolver = Resolver::new(axes, &layers.layers);
    let Some(cell) = &stack.cells[0].cell else { return };
    for problem in resolver.check_within(&cell.covers) {
        let message = problem.message(axes, &layers.layers);
        findings.push(finding("error", problem.kind.code(), &message, stack));
    }
    for layer in layers.layers.iter().filter(|it| it.is_expired(today)) {
        let date = layer.expires.as_deref().unwrap_or_default();
        let owner = layer.owner.as_ref().map_or(String::new(), |it| format!(" (owner {it})"));
        let message = format!(
            "the layer {}{owner} expired on {date}; remove it or change the date",
            layer.origin
        );
        findings.push(finding("error", "L008", &message, stack));
    }
    if args.strict {
        for crossing in resolver.crossings() {
            let [winner, loser] = crossing.sides.each_ref().map(Side::text);
            let axis = &axes.axes()[crossing.axis].name;
            let message = format!(
                "only the order of the axes decides `{}`: {winner} beats {loser} by `{axis}` at {}",
                crossing.path,
                axes.cell_text(&crossing.cell)
            );
            findings.push(finding("error", "L009", &message, stack));
        }
    }
}

fn finding(severity: &'static str, code: &str, message: &str, stack: &LayeredStack) -> Finding {
    Finding {
        severity,
        code: code.to_owned(),
        stack: stack.shown.display().to_string(),
        message: message.to_owned(),
    }
}
