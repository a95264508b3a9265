//! `kusion cells matrix`.

use crate::arguments::{FolderArgs, leaf_path};
use crate::failure::{Exit, Failure};
use crate::view::{self, style};
use kusion_cells::{Axes, LeafPath, Resolver};
use kusion_generate::LayeredStack;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Arguments of `kusion cells matrix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder of the project or stack
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Path of a value in the configuration, such as `app.replicas`
    #[arg(value_name = "PATH", value_parser = leaf_path)]
    path: LeafPath,
    /// Axis of the rows
    #[arg(long, value_name = "AXIS")]
    rows: String,
    /// Axis of the columns
    #[arg(long, value_name = "AXIS")]
    cols: String,
    /// Cells to show, such as `env=prod` [default: all]
    #[arg(long, value_name = "SELECTOR")]
    cell: Option<String>,
}

/// Values by row and column.
type Table = BTreeMap<(usize, usize), Vec<String>>;

/// Shows a value at all cells.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let folders =
        FolderArgs { folders: vec![args.folder.clone()], workdir: None, cell: args.cell.clone() };
    let stacks = folders.layers(Some(&args.path))?;
    let mut table = Table::new();
    let mut exit = Exit::Success;
    let mut axes = None;
    for stack in &stacks {
        if fill(args, stack, &mut table)? {
            exit = Exit::Failed;
        }
        axes = stack.cells[0].cell.as_ref().map(|cell| &cell.dims.axes);
    }
    if let Some(axes) = axes {
        view::result(&text(args, axes, &table)?)?;
    }
    Ok(exit)
}

fn axis(axes: &Axes, name: &str) -> Result<usize, Failure> {
    axes.position(name).ok_or_else(|| {
        let known: Vec<&str> = axes.axes().iter().map(|axis| axis.name.as_str()).collect();
        Failure::Usage(format!("unknown axis `{name}`; expected one of `{}`", known.join("`, `")))
    })
}

/// Adds the values of a stack; returns whether there is a conflict.
fn fill(args: &Args, stack: &LayeredStack, table: &mut Table) -> Result<bool, Failure> {
    let layers = match &stack.layers {
        Ok(layers) => layers,
        Err(error) => return Err(Failure::Layers(error.named())),
    };
    let axes = &layers.dims.axes;
    let (rows, cols) = (axis(axes, &args.rows)?, axis(axes, &args.cols)?);
    let resolver = Resolver::new(axes, &layers.layers);
    let mut has_conflict = false;
    for cell in stack.cells.iter().filter_map(|it| it.cell.as_ref()) {
        let shown = match resolver.explain(&args.path, &cell.cell) {
            None => "-".to_owned(),
            Some(found) if found.problem.is_some() => {
                has_conflict = true;
                "conflict".to_owned()
            }
            Some(found) => found.value.map_or("-".to_owned(), |it| it.to_string()),
        };
        let key = (cell.cell.place(rows), cell.cell.place(cols));
        let values = table.entry(key).or_default();
        if !values.contains(&shown) {
            values.push(shown);
        }
    }
    Ok(has_conflict)
}

fn text(args: &Args, axes: &Axes, table: &Table) -> Result<String, Failure> {
    let (rows, cols) = (axis(axes, &args.rows)?, axis(axes, &args.cols)?);
    let is_used = |at: usize, is_row: bool| {
        table.keys().any(|key| if is_row { key.0 == at } else { key.1 == at })
    };
    let values = |axis: usize, is_row: bool| {
        let values = axes.axes()[axis].values.iter().enumerate();
        values.filter(move |(at, _)| is_used(*at, is_row)).collect::<Vec<_>>()
    };
    let columns = values(cols, false);
    let mut head = vec![format!("{} \\ {}", args.rows, args.cols)];
    head.extend(columns.iter().map(|(_, name)| (*name).clone()));
    let mut lines = vec![head];
    for (row, name) in values(rows, true) {
        let mut line = vec![name.clone()];
        for (column, _) in &columns {
            let shown = table.get(&(row, *column)).map(|it| it.join(" | "));
            line.push(style::one_line(&shown.unwrap_or_default()));
        }
        lines.push(line);
    }
    Ok(style::table(&lines))
}
