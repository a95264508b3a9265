//! Many stacks in one process.
//!
//! [`run_batch`] compiles a list of [`Stack`]s on several threads and writes what each gives
//! below a folder. The stacks share the packages they import. What each stack asked of the
//! file system is recorded (`facts`) and kept beside the results (`manifest`), so that the next
//! batch compiles only the stacks that a change can reach.

mod check;
mod facts;
mod list;
mod manifest;
mod place;
mod ranges;
mod run;
mod runner;
mod work;

pub use list::{ListError, read_list};
pub use runner::{Runner, Sharing};

use crate::options::Confinement;
use crate::pool::Pool;
use crate::stack_folder::StackFolder;
use base_diag::Findings;
use base_system::System;
use facts::Change;
use manifest::{MANIFEST_FILE, Manifest};
use place::output_paths;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// One stack: a folder and what is run in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// The working folder.
    pub folder: PathBuf,
    /// The files to run; without any, those that the folder's settings name.
    pub inputs: Vec<String>,
    /// Top-level arguments, as on the command line: `key=value`.
    pub arguments: Vec<String>,
}

impl From<StackFolder> for Stack {
    /// The stack as a run in its folder takes it: without settings, all files of the folder.
    fn from(stack: StackFolder) -> Self {
        let inputs = if stack.has_settings { Vec::new() } else { vec![".".to_owned()] };
        Self { folder: stack.folder, inputs, arguments: Vec::new() }
    }
}

/// How a batch is compiled.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// How many threads work; as many as there are cores if 0.
    pub threads: usize,
    /// The folder below which results are written. Without one, stacks are compiled and their
    /// results dropped.
    pub out: Option<PathBuf>,
    /// The folder whose inner structure is mirrored below `out`: that of all stacks if not
    /// given.
    pub root: Option<PathBuf>,
    /// Which stacks are compiled.
    pub scope: BatchScope,
    /// What each stack may use. A batch with another confinement compiles all stacks again.
    pub confinement: Confinement,
}

/// Which stacks of a batch are compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BatchScope {
    /// Those that a change since the result in the output folder can reach; all if there is
    /// none.
    #[default]
    Changed,
    /// Those that a change of these files can reach: files that were changed, added or
    /// removed, by absolute path.
    Touched(Vec<PathBuf>),
    /// All.
    All,
}

/// What became of a batch: an outcome per stack, in the order of the stacks.
#[derive(Clone, Debug, Default)]
pub struct BatchReport {
    /// The outcomes.
    pub outcomes: Vec<StackOutcome>,
}

/// What became of a stack.
#[derive(Clone, Debug, Default)]
pub struct StackOutcome {
    /// How the stack is called in messages: its folder below the root.
    pub name: String,
    /// How it went.
    pub state: StackState,
    /// What `print` wrote.
    pub printed: String,
    /// Findings that did not stop it.
    pub warnings: Findings,
}

/// How a stack went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StackState {
    /// No change reaches it: its earlier result stands.
    #[default]
    Unchanged,
    /// Its result is there.
    Compiled {
        /// The length of the result.
        n_bytes: usize,
        /// The lines of the result.
        n_lines: usize,
    },
    /// It failed; these are the findings.
    Failed(Findings),
    /// The compiler stopped because of a bug of ours.
    Crashed,
}

/// Why a batch could not begin or end.
#[derive(Debug, Error)]
pub enum BatchError {
    /// A file or folder of the output can't be written.
    #[error("failed to write {path}: {error}")]
    Unwritable {
        /// The file or folder.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A stack's folder is not there.
    #[error("cannot find the folder {0}")]
    NoFolder(String),
}

/// Compiles stacks.
///
/// Results are those of [`run`](crate::run) for each stack alone, whatever the number of
/// threads. A stack that fails does not stop the others.
///
/// # Errors
///
/// If a stack's folder is missing or nothing can be written to the output folder.
pub fn run_batch(
    system: &(dyn System + Sync),
    stacks: &[Stack],
    options: &BatchOptions,
) -> Result<BatchReport, BatchError> {
    let places = output_paths(system, stacks, options.root.as_deref())?;
    let text = previous_result(system, options);
    let previous = text.as_deref().and_then(Manifest::parse);
    let wanted = wanted_stacks(system, stacks, &places, options, previous.as_ref());
    let plan = work::Plan { system, stacks, places: &places, options, wanted: &wanted };
    let mut report = BatchReport { outcomes: Vec::with_capacity(stacks.len()) };
    report.outcomes.extend(
        places
            .iter()
            .map(|place| StackOutcome { name: place.name.clone(), ..StackOutcome::default() }),
    );
    let mut found_out = Vec::new();
    for worker in work::compile_all(&plan)? {
        for (at, outcome) in worker.outcomes {
            report.outcomes[at] = outcome;
        }
        found_out.push((worker.recorded, worker.finished));
    }
    let is_new = previous.is_none() || wanted.contains(&true);
    if let (Some(out), true) = (&options.out, is_new) {
        let path = out.join(MANIFEST_FILE);
        let again = places.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
        let again = again.map(|(place, _)| place.output.as_os_str()).collect();
        let previous = previous.unwrap_or_default();
        let mut text = previous.updated(&again, &found_out);
        if previous.is_loose()
            && let Some(short) = Manifest::parse(&text).and_then(|manifest| manifest.compacted())
        {
            text = short;
        }
        system.write(&path, &text).map_err(|error| unwritable(&path, error))?;
    }
    Ok(report)
}

impl BatchOptions {
    /// The threads, each of which takes `chunk` neighbouring items at a time.
    fn pool(&self, chunk: usize) -> Pool {
        Pool { threads: self.threads, chunk }
    }
}

fn previous_result(system: &dyn System, options: &BatchOptions) -> Option<String> {
    if options.scope == BatchScope::All {
        return None;
    }
    let path = options.out.as_ref()?.join(MANIFEST_FILE);
    system.read_to_string(&path).ok()
}

/// Says of each stack whether it is to be compiled.
fn wanted_stacks(
    system: &(dyn System + Sync),
    stacks: &[Stack],
    places: &[place::Place],
    options: &BatchOptions,
    previous: Option<&Manifest<'_>>,
) -> Vec<bool> {
    match (&options.scope, previous) {
        (BatchScope::All, _) | (BatchScope::Changed, None) => vec![true; stacks.len()],
        (BatchScope::Changed, Some(previous)) => {
            previous.reached_by_changes(system, stacks, places, options)
        }
        (BatchScope::Touched(paths), previous) => {
            let change = Change::new(system, paths);
            work::reached(system, stacks, places, options, &change, previous)
        }
    }
}

fn unwritable(path: &Path, error: std::io::Error) -> BatchError {
    BatchError::Unwritable { path: path.display().to_string(), error }
}
