//! `kusion cells list`.

use crate::arguments::FolderArgs;
use crate::failure::Failure;
use crate::view::{self, Output, style};
use kusion_app::wire::{CellsDocument, ListedCell};
use kusion_generate::Stack;

/// Arguments of `kusion cells list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Lists the cells of stacks.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut stacks = args.folders.find()?;
    stacks.retain(|stack| stack.cell.is_some());
    if stacks.is_empty() {
        return Err(Failure::NoCells);
    }
    view::result(&match args.output {
        Output::Json => CellsDocument::new(stacks.iter().map(listed).collect()).text(),
        Output::Text => text(&stacks),
    })
}

fn cluster(stack: &Stack) -> Option<String> {
    stack.cell.as_ref().and_then(|cell| cell.cluster.clone())
}

fn listed(stack: &Stack) -> ListedCell {
    ListedCell {
        project: stack.project.name.clone(),
        stack: stack.name.clone(),
        cell: stack.cell_name().to_owned(),
        cluster: cluster(stack),
    }
}

fn text(stacks: &[Stack]) -> String {
    let mut rows = vec![["STACK", "CELL", "CLUSTER"].map(str::to_owned).to_vec()];
    for stack in stacks {
        let cluster = style::one_line(&cluster(stack).unwrap_or_default());
        let name = style::one_line(&stack.qualified_name());
        rows.push(vec![name, stack.cell_name().to_owned(), cluster]);
    }
    style::table(&rows)
}
