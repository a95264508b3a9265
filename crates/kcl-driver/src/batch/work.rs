//! The threads that compile.

use super::facts::{Change, Fact, Recorder, Stamp};
use super::manifest::{Finished, Manifest, task_of};
use super::place::Place;
use super::run::{note_files, prepare_stack};
use super::runner::{Runner, Sharing};
use super::{BatchError, BatchOptions, Stack, StackOutcome, StackState, unwritable};
use crate::compile::load_job;
use crate::error::RunError;
use crate::evaluate::RunOutput;
use crate::options::Confinement;
use crate::reduced::calls_plugins;
use crate::session::Session;
use crate::shared::SharedPackages;
use base_diag::Findings;
use base_system::System;
use kcl_hir::Program;
use rustc_hash::FxHashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// How many neighbouring stacks a thread takes at once: they often share files.
const CHUNK: usize = 12;

/// What is to be done.
pub(super) struct Plan<'a> {
    pub(super) system: &'a (dyn System + Sync),
    pub(super) stacks: &'a [Stack],
    pub(super) places: &'a [Place],
    pub(super) options: &'a BatchOptions,
    pub(super) wanted: &'a [bool],
}

/// What one thread did.
#[derive(Default)]
pub(super) struct Done {
    pub(super) outcomes: Vec<(usize, StackOutcome)>,
    pub(super) finished: Vec<Finished>,
    /// The facts that `finished` counts.
    pub(super) recorded: Vec<Fact<PathBuf>>,
}

/// Compiles the stacks that are wanted.
pub(super) fn compile_all(plan: &Plan<'_>) -> Result<Vec<Done>, BatchError> {
    let wanted: Vec<usize> = (0..plan.stacks.len()).filter(|&at| plan.wanted[at]).collect();
    if let Some(out) = &plan.options.out {
        plan.system.create_dir_all(out).map_err(|error| unwritable(out, error))?;
    }
    let session = Session::new();
    let begin = || Ok(Worker::new(plan, &session));
    // A thread that can't write does nothing more.
    let compile = |worker: &mut Result<Worker<'_>, BatchError>, at: usize| {
        if let Ok(open) = worker
            && let Err(error) = open.compile(wanted[at])
        {
            *worker = Err(error);
        }
    };
    let end = |worker: Result<Worker<'_>, BatchError>| worker.map(Worker::finish);
    plan.options.pool(CHUNK).each(wanted.len(), begin, compile, end).into_iter().collect()
}

/// Says of each stack whether a change reaches it: by what it relied on in an earlier batch, or
/// by what it loads now.
pub(super) fn reached(
    system: &dyn System,
    stacks: &[Stack],
    places: &[Place],
    options: &BatchOptions,
    change: &Change,
    previous: Option<&Manifest<'_>>,
) -> Vec<bool> {
    let known = match previous {
        Some(previous) => previous.touched_by(change, stacks, places, &options.confinement),
        None => vec![None; stacks.len()],
    };
    let session = Session::new();
    let recorder = Recorder::new(system, true);
    stacks
        .iter()
        .zip(known)
        .map(|(stack, known)| {
            if let Some(is_touched) = known {
                return is_touched;
            }
            let loaded = load(&session, &recorder, stack, &options.confinement);
            let Ok(program) = loaded else { return true };
            let asked = recorder.take_asked();
            let is_touched =
                recorder.any_asked(&asked, |fact| change.touches(fact.question, &fact.path));
            asked.is_volatile || is_touched || reads_files(&program) || calls_plugins(&program)
        })
        .collect()
}

fn load(
    session: &Session,
    recorder: &Recorder<'_>,
    stack: &Stack,
    confinement: &Confinement,
) -> Result<Program, ()> {
    let job = prepare_stack(recorder, stack, confinement).map_err(drop)?;
    let loaded = load_job(session, recorder, &job).map_err(drop)?;
    if loaded.diagnostics.is_empty() {
        note_files(recorder, &loaded.program, 0);
        return Ok(loaded.program);
    }
    Err(())
}

/// Whether the program may read files when it is evaluated.
fn reads_files(program: &Program) -> bool {
    let imports = program.files.iter().flat_map(|file| &file.imports);
    imports.into_iter().any(|import| matches!(import.path.as_str(), "file" | "crypto" | "net"))
}

/// One thread.
struct Worker<'a> {
    plan: &'a Plan<'a>,
    runner: Runner<'a>,
    /// The folders that were made.
    folders: FxHashSet<PathBuf>,
    done: Done,
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan<'a>, session: &'a Session) -> Self {
        let recorder = Recorder::new(plan.system, plan.options.out.is_some());
        Self {
            plan,
            runner: Runner::with_recorder(session, recorder, Sharing::Evaluated),
            folders: FxHashSet::default(),
            done: Done::default(),
        }
    }

    fn finish(self) -> Done {
        Done { recorded: self.runner.recorder.into_facts(), ..self.done }
    }

    /// Compiles one stack and writes its result.
    fn compile(&mut self, at: usize) -> Result<(), BatchError> {
        let (stack, place) = (&self.plan.stacks[at], &self.plan.places[at]);
        let mut outcome = StackOutcome { name: place.name.clone(), ..StackOutcome::default() };
        let run = || {
            let confinement = &self.plan.options.confinement;
            let job = prepare_stack(&self.runner.recorder, stack, confinement)?;
            self.runner.run_job(&job)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(output)) => {
                let RunOutput { printed, mut result, warnings, program, .. } = output;
                outcome.warnings = Findings::new(warnings, &program);
                outcome.printed = printed;
                self.runner.packages.finish(program);
                if !result.is_empty() {
                    result.push('\n');
                }
                let n_lines = count_lines(&result);
                outcome.state = StackState::Compiled { n_bytes: result.len(), n_lines };
                if let Some(out) = &self.plan.options.out {
                    self.write(out, at, &result)?;
                }
            }
            Ok(Err(error)) => {
                let RunError { diagnostics, printed, program, .. } = *error;
                outcome.state = StackState::Failed(Findings::new(diagnostics, &program));
                outcome.printed = printed;
                self.runner.packages.finish(program);
            }
            Err(_) => {
                outcome.state = StackState::Crashed;
                self.runner.packages = SharedPackages::default();
            }
        }
        // What a stack that failed asked for is of no use.
        self.runner.recorder.take_asked();
        self.done.outcomes.push((at, outcome));
        Ok(())
    }

    fn write(&mut self, out: &Path, at: usize, text: &str) -> Result<(), BatchError> {
        let (stack, place) = (&self.plan.stacks[at], &self.plan.places[at]);
        let system = self.plan.system;
        let asked = self.runner.recorder.take_asked();
        let path = out.join(&place.output);
        if let Some(folder) = path.parent()
            && !self.folders.contains(folder)
        {
            system.create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
            self.folders.insert(folder.to_path_buf());
        }
        // A new file is written in place: that costs half as much, and nobody reads it yet.
        let written = if system.exists(&path) {
            system.write(&path, text)
        } else {
            system.append(&path, text)
        };
        written.map_err(|error| unwritable(&path, error))?;
        if let Some(output) = Stamp::now(system, &path) {
            let (path, task) =
                (place.output.clone(), task_of(stack, &self.plan.options.confinement));
            self.done.finished.push(Finished { path, task, output, asked });
        }
        Ok(())
    }
}

fn count_lines(text: &str) -> usize {
    // In steps whose count fits a byte, which is quick.
    let ends = |part: &[u8]| part.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(255).map(|part| usize::from(ends(part))).sum()
}
