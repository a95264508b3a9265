//! What an evaluation is given and what it gives.

use crate::plugin::Plugins;
use base_diag::Diagnostic;
use base_text::FileSpan;
use kcl_value::output::Stream;
use kcl_value::{Origin, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Bounds that keep any program finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// How many expressions may be evaluated.
    pub steps: u64,
    /// How deep expressions and calls may nest.
    pub depth: u32,
    /// How many bytes values may take, counted as they are made.
    pub memory: u64,
    /// How many bytes the output, and what is printed, may take each.
    pub output: u64,
    /// How long the evaluation may take; `None` without a limit.
    pub time: Option<Duration>,
}

/// The defaults of steps, memory and output are eight times the highest reading over the
/// conformance vectors, the workloads of `bench` and the stacks of `konfig`; `docs/security.md` has
/// the readings.
impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 30_000_000,
            depth: 200_000,
            memory: 1_150_000_000,
            output: 220_000_000,
            time: None,
        }
    }
}

/// What an evaluation took of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many expressions were evaluated.
    pub steps: u64,
    /// How many bytes values took, counted as they were made.
    pub memory: u64,
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

/// What an evaluation is given beside the program.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The top-level arguments (`-D key=value`).
    pub arguments: Vec<(String, Value)>,
    /// The working folder.
    pub work_dir: PathBuf,
    /// Whether private names are kept in the result.
    pub show_hidden: bool,
    /// Folders whose files may or may not use files and the environment: the innermost counts, and
    /// the root of the program is one in which they may.
    pub io_rules: Vec<(PathBuf, bool)>,
    /// The lowest address that frames of the stack may have (see [`crate::stack_address`]): beyond
    /// it, expressions nest too deeply. 0 if the stack is large enough for [`Limits::depth`].
    pub stack_floor: usize,
    /// Calls functions of plugins. Without it, there are none.
    pub plugins: Option<Arc<dyn Plugins>>,
    /// How to evaluate.
    pub options: Options,
}

/// How to evaluate. Shells, driver and evaluator use this one type, and it is compared as a whole
/// where evaluated packages are shared: a new choice needs a field here and the code that obeys
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether integers have 32 bits.
    pub strict_range_check: bool,
    /// Whether failures carry a call trace.
    pub debug: bool,
    /// Whether schema literals keep only what is written: their names and types are checked, but
    /// there are no defaults, and neither required attributes nor `check` count.
    pub partial: bool,
    /// Whether partial instances get their defaults and are checked at the end, when all entries
    /// are merged.
    pub complete: bool,
    /// What is kept about where values come from.
    pub tracking: Tracking,
    /// Whether neither files nor the environment may be used.
    pub no_io: bool,
    /// Whether evaluation goes on behind a failed `check`, so that all of them are found. An
    /// instance that was a dict is then where the first entry of the dict is.
    pub all_checks: bool,
    /// Whether the failure of an `assert` that compares two values tells them, in a note.
    pub explain_asserts: bool,
    /// Bounds.
    pub limits: Limits,
}

impl Options {
    /// Whether it is kept what set each item of a list.
    pub(crate) fn tracks_items(self) -> bool {
        self.tracking != Tracking::Entries
    }

    /// Whether it is kept what gave a value that an expression only reads.
    pub(crate) fn follows_reads(self) -> bool {
        self.tracking == Tracking::Givers
    }

    /// Whether the candidates that a value replaced are kept.
    pub(crate) fn keeps_contests(self) -> bool {
        self.tracking == Tracking::Contests
    }
}

/// What was evaluated before a program.
#[derive(Default)]
pub enum Earlier<'l> {
    /// Nothing.
    #[default]
    Nothing,
    /// Programs that were evaluated before, whose values will be merged with those of this one:
    /// what they know about origins.
    Programs(crate::Provenance),
    /// Imported packages. All programs that use one library must have the same imported packages,
    /// under the same numbers, and be evaluated with equal requests.
    ///
    /// The program adds what it finds out. One that fails leaves the library empty, and so does
    /// one whose packages print or ask for anything outside: that must happen again for the next.
    Library(&'l mut crate::Library),
}

/// What was given to a call of `manifests.yaml_stream` before the last one.
#[derive(Debug)]
pub struct EarlierStream {
    /// The documents.
    pub stream: Stream,
    /// The call.
    pub origin: Origin,
    /// Where the call is.
    pub place: Option<FileSpan>,
}

/// What a program gave.
#[derive(Debug)]
pub struct Evaluated {
    /// The globals of the main package as one value.
    pub value: Value,
    /// What was given to `manifests.yaml_stream`; it replaces the globals. If it was called
    /// several times, the last call counts.
    pub stream: Option<Stream>,
    /// What was given to earlier calls, in their order.
    pub earlier_streams: Vec<EarlierStream>,
    /// What is known about the origins of values.
    pub provenance: crate::Provenance,
    /// What `print` wrote.
    pub printed: String,
    /// What was evaluated last.
    pub end: Option<FileSpan>,
    /// What it took of its limits.
    pub usage: Usage,
    /// Findings that do not stop the program.
    pub warnings: Vec<Diagnostic>,
}
