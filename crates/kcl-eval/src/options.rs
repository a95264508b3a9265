//! What an evaluation is given and what it gives.

use base_diag::Diagnostic;
use base_text::FileSpan;
use kcl_value::Value;
use kcl_value::output::Stream;
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

/// What an evaluation keeps about where values come from. The expression that set an entry or an
/// attribute is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracking {
    /// Nothing more.
    #[default]
    Entries,
    /// Also what set each item of a list, and what gave a value that an expression only reads and
    /// passes on (`image = server.image`).
    Givers,
    /// Also what set each item of a list, and the candidates that each value replaced.
    Contests,
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
    /// What is kept about where values come from.
    pub tracking: Tracking,
    /// Whether private names are kept in the result.
    pub show_hidden: bool,
    /// The working folder.
    pub work_dir: PathBuf,
    /// Bounds.
    pub limits: Limits,
}

impl Options {
    /// Whether it is kept what set each item of a list.
    pub(crate) fn tracks_items(&self) -> bool {
        self.tracking != Tracking::Entries
    }

    /// Whether it is kept what gave a value that an expression only reads.
    pub(crate) fn follows_reads(&self) -> bool {
        self.tracking == Tracking::Givers
    }

    /// Whether the candidates that a value replaced are kept.
    pub(crate) fn keeps_contests(&self) -> bool {
        self.tracking == Tracking::Contests
    }
}

/// What a program gave.
#[derive(Debug)]
pub struct Evaluated {
    /// The globals of the main package as one value.
    pub value: Value,
    /// What was given to `manifests.yaml_stream`; it replaces the globals.
    pub stream: Option<Stream>,
    /// What is known about the origins of values.
    pub provenance: crate::Provenance,
    /// What `print` wrote.
    pub printed: String,
    /// What was evaluated last.
    pub end: Option<FileSpan>,
    /// Findings that do not stop the program.
    pub warnings: Vec<Diagnostic>,
}
