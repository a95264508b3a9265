//! The document of `kusion impact`.

use super::documents::indented;
use kusion_engine::EVENT_VERSION;
use serde::Serialize;
use serde_json::Value;

/// What the changes since a commit do: `kusion impact`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImpactDocument {
    version: u32,
    files: Vec<ImpactedFile>,
    affected: Vec<ImpactedValue>,
    unaffected: Vec<SkippedValue>,
    n_cells: usize,
    n_affected_cells: usize,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ImpactedFile {
    file: String,
    /// `added`, `removed` or `modified`.
    change: &'static str,
}

/// A value that differs at a cell.
#[derive(Debug, Serialize)]
pub struct ImpactedValue {
    /// Project and stack.
    pub stack: String,
    /// The cell.
    pub cell: String,
    /// The path.
    pub path: String,
    /// The value at the commit; `null` if there was none.
    pub before: Option<Value>,
    /// The value now; `null` if there is none.
    pub after: Option<Value>,
    /// The file that sets it.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// A changed value of a layer that has no effect at a cell.
#[derive(Debug, Serialize)]
pub struct SkippedValue {
    /// Project and stack.
    pub stack: String,
    /// The cell.
    pub cell: String,
    /// The path.
    pub path: String,
    /// The file that changed.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Why it has no effect.
    pub reason: String,
}

impl ImpactDocument {
    /// Creates the document. `counts` are the numbers of all cells and of those that are affected.
    pub fn new(
        files: impl IntoIterator<Item = (String, &'static str)>,
        affected: Vec<ImpactedValue>,
        unaffected: Vec<SkippedValue>,
        counts: (usize, usize),
        notes: Vec<String>,
    ) -> Self {
        let files = files.into_iter().map(|(file, change)| ImpactedFile { file, change }).collect();
        let (n_cells, n_affected_cells) = counts;
        let version = EVENT_VERSION;
        Self { version, files, affected, unaffected, n_cells, n_affected_cells, notes }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}
