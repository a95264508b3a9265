//! What an evaluation is given and what it gives.

use base_diag::Diagnostic;
use base_text::FileSpan;
use kcl_value::Value;
use std::path::PathBuf;

/// Bounds that keep any program finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many expressions may be evaluated.
    pub steps: u64,
    /// How deep expressions and calls may nest.
    pub depth: u32,
    /// How many bytes values may take, counted as they are made.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1 << 35, depth: 200_000, memory: 16 << 30 }
    }
}

/// How to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The top-level arguments (`-D key=value`).
    pub arguments: Vec<(String, Value)>,
    /// Whether integers have 32 bits.
    pub strict_range_check: bool,
    /// Whether failures carry a call trace.
    pub debug: bool,
    /// Whether schema literals keep only what is written.
    pub partial: bool,
    /// Whether partial instances are completed once the whole program is evaluated.
    pub complete: bool,
    /// Whether the candidates that a leaf beat are kept.
    pub provenance: bool,
    /// With provenance: whether it is kept what gave a value that an expression only reads.
    pub follow_reads: bool,
    /// Whether private names are kept in the result.
    pub show_hidden: bool,
    /// The working folder.
    pub work_dir: PathBuf,
    /// Bounds.
    pub limits: Limits,
}

/// What a program gave.
#[derive(Debug)]
pub struct Evaluated {
    /// The globals of the main package as one value.
    pub value: Value,
    /// The output of `manifests.yaml_stream`, which replaces the globals.
    pub stream: Option<String>,
    /// What is known about the origins of values.
    pub provenance: crate::Provenance,
    /// What `print` wrote.
    pub printed: String,
    /// What was evaluated last.
    pub end: Option<FileSpan>,
    /// Findings that do not stop the program.
    pub warnings: Vec<Diagnostic>,
}
