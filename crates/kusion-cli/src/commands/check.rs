//! `kusion check`.

use crate::arguments::FolderArgs;
use crate::commands::policy::report::{ReportOutput, show};
use crate::failure::{Exit, Failure};
use base_system::OsSystem;
use kusion_app::policies::{CheckedStacks, actor, check_compiled, now};
use kusion_app::wire::Finding;
use kusion_cells::{Resolver, Side};
use kusion_generate::{
    CompileOptions, LayeredStack, RepositoryPolicies, Stack, StackLayers, compile, layer_inputs,
    today,
};
use std::collections::BTreeSet;
use std::path::Path;

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
    output: ReportOutput,
}

/// A kind of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Only {
    /// Conflicts, locks and expired layers, at all cells; stacks are not compiled
    Layers,
    /// The policies of the repository, on the Specs of stacks
    Policies,
}

/// Checks the layers of stacks, and evaluates policies on their Specs.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let layered = match args.folders.layers(None) {
        Ok(stacks) => stacks,
        // Most stacks have no cells, but have policies.
        Err(Failure::NoCells) if args.only != Some(Only::Layers) => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let mut findings: Vec<Finding> = Vec::new();
    if args.only != Some(Only::Policies) {
        let today = today(&OsSystem);
        for stack in &layered {
            match &stack.layers {
                Ok(layers) => check(args, &today, stack, layers, &mut findings),
                Err(error) => findings.push(finding("error", "layers", &error.to_string(), stack)),
            }
        }
        // A layer of the repository has the same finding in many stacks.
        findings.dedup_by(|a, b| a.message == b.message && a.code == b.code);
    }
    let checked = match args.only {
        Some(Only::Layers) => CheckedStacks::default(),
        // A stack whose layers are in conflict does not compile.
        None if !findings.is_empty() => CheckedStacks::default(),
        _ => check_policies(args, &layered)?,
    };
    let mut folders: BTreeSet<&Path> = layered.iter().map(|it| it.shown.as_path()).collect();
    if args.only == Some(Only::Policies) {
        folders.clear();
    }
    folders.extend(checked.stacks.iter().map(|it| it.folder.as_path()));
    let n_cells: usize = layered.iter().map(|it| it.cells.len()).sum();
    show(&checked, &findings, args.output, folders.len(), n_cells)
}

/// Evaluates policies on the Specs of the stacks; compiles nothing if there are none.
fn check_policies(args: &Args, layered: &[LayeredStack]) -> Result<CheckedStacks, Failure> {
    let stacks = args.folders.find()?;
    let mut has_policies = false;
    for stack in &stacks {
        has_policies |= !RepositoryPolicies::of_stack(&OsSystem, stack)?.is_empty();
    }
    if !has_policies {
        return Ok(CheckedStacks::default());
    }
    let options = CompileOptions {
        work_dir: args.folders.workdir.clone(),
        folders: args.folders.folders.clone(),
        cells: args.folders.cell.clone(),
        ..CompileOptions::default()
    };
    let compiled = compile(&OsSystem, &options)?;
    let layers = |stack: &Stack| {
        let own = layered.iter().find(|it| it.cells.iter().any(|it| it.folder == stack.folder));
        own.and_then(|it| it.layers.as_ref().ok()).map(layer_inputs).unwrap_or_default()
    };
    Ok(check_compiled(&compiled, &layers, &actor(), now())?)
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
        finding: None,
    }
}
