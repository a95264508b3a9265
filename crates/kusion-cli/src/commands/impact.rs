//! `kusion impact`.

use crate::arguments::FolderArgs;
use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::view::{self, Output, words};
use base_system::OsSystem;
use kusion_app::wire::{ImpactDocument, ImpactedValue, SkippedValue};
use kusion_generate::{CompileOptions, Impact, impact};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Arguments of `kusion impact`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folders: FolderArgs,
    /// Revision to compare with: a branch, a tag, the id of a commit, or one of these with `~N`
    #[arg(long, value_name = "REV")]
    from: String,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// The largest number of cells that are named in one line.
const SHOWN_CELLS: usize = 5;

/// Shows which values at which cells the changes since a commit affect.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let options = CompileOptions {
        work_dir: args.folders.workdir.clone(),
        folders: args.folders.folders.clone(),
        cells: args.folders.cell.clone(),
        ..CompileOptions::default()
    };
    let found = impact(&OsSystem, &options, &args.from)?;
    view::result(&match args.output {
        Output::Json => document(&found).text(),
        Output::Text => text(&found),
    })?;
    Ok(Exit::Success)
}

fn text(found: &Impact) -> String {
    let mut text = String::new();
    for file in &found.files {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {}", file.change, one_line(&file.file));
    }
    // One entry for a change of a value, with the cells.
    let mut affected: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for it in &found.affected {
        let change =
            format!("{}: {} -> {}", it.path, shown(it.before.as_ref()), shown(it.after.as_ref()));
        let cells = affected.entry((it.origin.to_string(), change)).or_default();
        cells.push(format!("{} in {}", it.stack, it.cell));
    }
    for ((origin, change), cells) in &affected {
        let _ = writeln!(text, "{}  {}", one_line(origin), one_line(change));
        let _ = writeln!(text, "  affected: {}", named(cells));
    }
    let mut unaffected: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for it in &found.unaffected {
        let place = format!("{}  {}", it.origin, it.path);
        let cells = unaffected.entry((place, it.reason.clone())).or_default();
        cells.push(format!("{} in {}", it.stack, it.cell));
    }
    for ((place, reason), cells) in &unaffected {
        let _ = writeln!(text, "{}", one_line(place));
        let _ = writeln!(text, "  not affected: {}: {}", named(cells), one_line(reason));
    }
    for note in &found.notes {
        let _ = writeln!(text, "note: {}", one_line(note));
    }
    let files = words::count(found.files.len(), "file");
    let cells = words::count(found.n_cells, "cell");
    let _ = writeln!(text, "{files} changed; {} of {cells} affected", found.n_affected_cells);
    text
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

fn named(cells: &[String]) -> String {
    let mut text: Vec<String> = cells.iter().take(SHOWN_CELLS).map(|it| one_line(it)).collect();
    let more = cells.len().saturating_sub(SHOWN_CELLS);
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    text.join("; ")
}

fn document(found: &Impact) -> ImpactDocument {
    let affected = found.affected.iter().map(|it| ImpactedValue {
        stack: it.stack.clone(),
        cell: it.cell.clone(),
        path: it.path.clone(),
        before: it.before.clone(),
        after: it.after.clone(),
        file: it.origin.file.to_string(),
        line: it.origin.line,
    });
    let unaffected = found.unaffected.iter().map(|it| SkippedValue {
        stack: it.stack.clone(),
        cell: it.cell.clone(),
        path: it.path.clone(),
        file: it.origin.file.to_string(),
        line: it.origin.line,
        reason: it.reason.clone(),
    });
    let files = found.files.iter().map(|it| (it.file.clone(), it.change));
    let counts = (found.n_cells, found.n_affected_cells);
    let notes = found.notes.clone();
    ImpactDocument::new(files, affected.collect(), unaffected.collect(), counts, notes)
}
