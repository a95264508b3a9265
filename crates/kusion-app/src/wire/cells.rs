//! Documents about cells and layers.

use super::documents::indented;
use kusion_engine::EVENT_VERSION;
use kusion_model::{LeafOrigin, PolicyFinding};
use serde::Serialize;

/// The cells of stacks: `kusion cells list`.
#[derive(Debug, Serialize)]
pub struct CellsDocument {
    version: u32,
    cells: Vec<ListedCell>,
}

/// A cell of a stack.
#[derive(Debug, Serialize)]
pub struct ListedCell {
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
    /// The name of the cell.
    pub cell: String,
    /// The context or sandbox of the cell, if `stack.yaml` names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
}

impl CellsDocument {
    /// Creates the document.
    pub fn new(cells: Vec<ListedCell>) -> Self {
        Self { version: EVENT_VERSION, cells }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// Values with the layers that set them: `kusion explain`.
#[derive(Debug, Serialize)]
pub struct ExplainDocument {
    version: u32,
    values: Vec<ExplainedValue>,
}

/// A value at a cell.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedValue {
    /// The project.
    pub project: String,
    /// The stack.
    pub stack: String,
    /// The cell.
    pub cell: String,
    /// The path.
    pub path: String,
    /// The value; `null` if there is none.
    pub value: Option<serde_json::Value>,
    /// Why there is no winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The layers that set it.
    pub winners: Vec<ExplainedLayer>,
    /// The layers that lost.
    pub beaten: Vec<ExplainedLayer>,
}

/// A layer that says something about a value.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedLayer {
    /// What it says.
    pub says: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The selector; empty for all cells.
    pub when: String,
    /// Who owns the layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Why the layer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why it lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whether only the order of the axes decides.
    pub by_axis_order: bool,
}

impl ExplainDocument {
    /// Creates the document.
    pub fn new(values: Vec<ExplainedValue>) -> Self {
        Self { version: EVENT_VERSION, values }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// What set the values of Specs: `kusion compile --origins`.
#[derive(Debug, Serialize)]
pub struct OriginsDocument<'a> {
    version: u32,
    stacks: Vec<StackOrigins<'a>>,
}

/// What set the values of the Spec of a stack.
#[derive(Debug, Serialize)]
pub struct StackOrigins<'a> {
    /// The project.
    pub project: &'a str,
    /// The stack.
    pub stack: &'a str,
    /// The cell, if the stack has cells.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub cell: &'a str,
    /// The leaves of the Spec.
    pub leaves: Vec<LeafOrigin<'a>>,
}

impl<'a> OriginsDocument<'a> {
    /// Creates the document.
    pub fn new(stacks: Vec<StackOrigins<'a>>) -> Self {
        Self { version: EVENT_VERSION, stacks }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// The findings of `kusion check`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckDocument {
    version: u32,
    n_stacks: usize,
    n_cells: usize,
    #[serde(skip_serializing_if = "is_zero")]
    n_policies: usize,
    findings: Vec<Finding>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// `error`, `warning`, or `excepted` for one that an exception is about.
    pub severity: &'static str,
    /// The code.
    pub code: String,
    /// The folder of the stack.
    pub stack: String,
    /// The message.
    pub message: String,
    /// The parts of the finding of a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<PolicyFinding>,
}

impl CheckDocument {
    /// Creates the document.
    pub fn new(n_stacks: usize, n_cells: usize, n_policies: usize, findings: Vec<Finding>) -> Self {
        Self { version: EVENT_VERSION, n_stacks, n_cells, n_policies, findings }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}
