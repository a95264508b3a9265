//! `kusion explain`.

use crate::arguments::{FolderArgs, leaf_path};
use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::view::{self, Output};
use kusion_app::wire::{ExplainDocument, ExplainedLayer, ExplainedValue};
use kusion_cells::{Candidate, Explanation, LeafPath, Resolver};
use kusion_generate::{Stack, StackLayers};
use std::fmt::Write as _;

/// Arguments of `kusion explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Path of a value in the configuration, such as `app.replicas`
    #[arg(value_name = "PATH", value_parser = leaf_path)]
    path: LeafPath,
    #[command(flatten)]
    folders: FolderArgs,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Shows which layer sets a value at cells, and which layers lost.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut text = String::new();
    let mut values = Vec::new();
    let mut exit = Exit::Success;
    for stack in args.folders.layers(Some(&args.path))? {
        let layers = stack.layers?;
        let resolver = Resolver::new(&layers.dims.axes, &layers.layers);
        for cell in &stack.cells {
            let explained = explained(&resolver, &args.path, cell);
            if explained.iter().any(|it| it.problem.is_some()) {
                exit = Exit::Failed;
            }
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}", cell.full_name());
            if explained.is_empty() {
                text.push_str(
                    "  neither the program nor a layer sets it; the default of the model counts\n",
                );
            }
            for one in &explained {
                show(&mut text, &layers, one, one.path != args.path);
                values.push(wire(&layers, cell, one));
            }
        }
    }
    view::result(&match args.output {
        Output::Json => ExplainDocument::new(values).text(),
        Output::Text => text,
    })?;
    Ok(exit)
}

/// Explains the value at a path, or those below it.
fn explained(resolver: &Resolver<'_>, path: &LeafPath, stack: &Stack) -> Vec<Explanation> {
    let Some(cell) = &stack.cell else { return Vec::new() };
    let below = resolver.paths().filter(|it| path.is_prefix_of(it));
    let all: Vec<Explanation> =
        below.filter_map(|path| resolver.explain(path, &cell.cell)).collect();
    let is_map = |it: &Explanation| {
        it.path == *path && it.problem.is_none() && it.value == Some(serde_json::json!({}))
    };
    match all.as_slice() {
        // The map itself says nothing if its parts are shown.
        [first, _, ..] if is_map(first) => all[1..].to_vec(),
        _ => all,
    }
}

fn show(text: &mut String, layers: &StackLayers, explained: &Explanation, with_path: bool) {
    let axes = &layers.dims.axes;
    let when = |candidate: &Candidate| {
        let layer = &layers.layers[candidate.layer];
        let selector = layer.when.text(axes);
        let mut text =
            if selector.is_empty() { String::new() } else { format!("  when {selector}") };
        if let Some(why) = &layer.why {
            let _ = write!(text, "  ({})", one_line(why));
        }
        text
    };
    let line = |candidate: &Candidate| {
        format!("{}  {}{}", candidate.says, candidate.origin, when(candidate))
    };
    if with_path {
        let _ = writeln!(text, "  {}", explained.path);
    }
    match &explained.problem {
        Some(problem) => {
            let _ = writeln!(text, "  {}", layers.message(problem));
        }
        None => {
            for winner in &explained.winners {
                let _ = writeln!(text, "  {}", line(winner));
            }
        }
    }
    for loss in &explained.losses {
        let because = match loss.because.as_str() {
            "" => String::new(),
            because => format!("  because {because}"),
        };
        let _ = writeln!(text, "    beats {}{because}", line(&loss.candidate));
    }
}

fn wire(layers: &StackLayers, stack: &Stack, explained: &Explanation) -> ExplainedValue {
    let axes = &layers.dims.axes;
    let layer = |candidate: &Candidate, because: Option<&str>, by_axis_order: bool| {
        let layer = &layers.layers[candidate.layer];
        ExplainedLayer {
            says: candidate.says.clone(),
            file: candidate.origin.file.to_string(),
            line: candidate.origin.line,
            column: candidate.origin.column,
            when: layer.when.text(axes),
            owner: layer.owner.clone(),
            why: layer.why.clone(),
            because: because.filter(|it| !it.is_empty()).map(str::to_owned),
            by_axis_order,
        }
    };
    let losses = explained.losses.iter();
    ExplainedValue {
        project: stack.project.name.clone(),
        stack: stack.name.clone(),
        cell: stack.cell_name().to_owned(),
        path: explained.path.to_string(),
        value: explained.value.clone(),
        problem: explained.problem.as_ref().map(|it| layers.message(it)),
        winners: explained.winners.iter().map(|it| layer(it, None, false)).collect(),
        beaten: losses
            .map(|it| layer(&it.candidate, Some(&it.because), it.by_axis_order))
            .collect(),
    }
}
