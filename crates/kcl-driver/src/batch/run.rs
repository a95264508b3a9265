//! One stack of a batch.

use super::Stack;
use super::facts::Recorder;
use crate::argument::parse_argument;
use crate::compile::load_options;
use crate::error::RunError;
use crate::options::{Confinement, RunOptions};
use crate::prepare::{Job, prepare};
use crate::session::Session;
use crate::shared::SharedPackages;
use kcl_hir::{Input, Loaded, Program, load_assembled, resolve_entries};
use std::path::Path;

/// What a stack is run with; an argument that can't be read is an error.
pub(super) fn run_options(
    stack: &Stack,
    confinement: &Confinement,
) -> Result<RunOptions, Box<RunError>> {
    let mut options = RunOptions {
        work_dir: Some(stack.folder.clone()),
        inputs: stack.inputs.iter().map(Input::path).collect(),
        ..RunOptions::default()
    };
    confinement.apply(&mut options);
    for argument in &stack.arguments {
        options.arguments.push(parse_argument(argument).map_err(RunError::plain)?);
    }
    Ok(options)
}

/// Puts together what is known of a stack, as a run in its folder does.
pub(super) fn prepare_stack(
    recorder: &Recorder<'_>,
    stack: &Stack,
    confinement: &Confinement,
) -> Result<Job, Box<RunError>> {
    let mut job = prepare(recorder, &run_options(stack, confinement)?)?;
    // A run in the stack's folder does not name that folder.
    job.program_dir = job.settings_dir.clone();
    Ok(job)
}

/// Notes that the current stack relies on the files of a program, from some file on.
pub(super) fn note_files(recorder: &Recorder<'_>, program: &Program, first: usize) {
    for file in program.files.iter().skip(first) {
        recorder.note_file(Path::new(&file.path), &file.text);
    }
}

fn n_main_files(program: &Program) -> usize {
    program.main_package().map_or(0, |package| package.files.len())
}

/// Loads a program; what programs before it found out about the packages it imports is not done
/// again.
pub(super) fn load(
    session: &Session,
    packages: &mut SharedPackages,
    recorder: &Recorder<'_>,
    job: &Job,
) -> Result<Loaded, Box<RunError>> {
    packages.begin_alone();
    if !job.options.overrides.is_empty() || !job.options.changes.is_empty() {
        let loaded = crate::compile::load_job(session, recorder, job)?;
        note_files(recorder, &loaded.program, 0);
        return Ok(loaded);
    }
    let (entries, options) = {
        let inputs = &job.options.inputs;
        let entries = resolve_entries(recorder, inputs, &job.base, &job.packages);
        let entries = entries.map_err(RunError::plain)?;
        let options = load_options(job, &entries);
        (entries, options)
    };
    let mut find = |key| {
        let assembly = packages.begin(key, &job.options);
        // What is asked from here on concerns the packages.
        recorder.begin_group();
        assembly
    };
    let loaded = load_assembled(recorder, &entries, &options, &session.store, &mut find);
    let (loaded, rest) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            recorder.end_group();
            packages.begin_alone();
            return Err(RunError::plain(error));
        }
    };
    if rest.is_none() {
        note_files(recorder, &loaded.program, n_main_files(&loaded.program));
        packages.current.facts = recorder.end_group();
    } else {
        recorder.end_group();
        recorder.rely_on_all(&packages.current.facts);
    }
    packages.lend(rest);
    for file in loaded.program.files.iter().take(n_main_files(&loaded.program)) {
        recorder.note_file(Path::new(&file.path), &file.text);
    }
    Ok(loaded)
}
