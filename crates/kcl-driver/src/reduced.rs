//! Runs on what is known of packages.
//!
//! A program of which only the statements that it can reach are parsed gives the same result
//! as the whole, if all goes well. If there is anything to say, be it a warning, or a
//! statement wants to change files, the attempt is forgotten and the whole program runs: what
//! users read always comes from that.

use crate::compile::{is_plain, load_as};
use crate::error::RunError;
use crate::evaluate::{Before, RunOutput, check_and_evaluate, output};
use crate::prepare::Job;
use crate::session::Session;
use base_system::{ReadOnly, System};
use kcl_eval::Evaluated;
use kcl_hir::{ImportTarget, Loaded, Program};

/// How an attempt ended.
pub(crate) enum Reduced {
    /// With a result.
    Done(Box<(RunOutput, Evaluated)>),
    /// With the need to run the whole program, which is loaded.
    Whole(Box<Loaded>),
}

/// Tries to run a program on what is known of its packages.
pub(crate) fn run(
    session: &Session,
    system: &dyn System,
    job: &Job,
) -> Result<Reduced, Box<RunError>> {
    let is_tried = session.store.keeps() && is_plain(job);
    let loaded = load_as(session, system, job, is_tried)?;
    if !loaded.known.is_reduced() {
        return Ok(Reduced::Whole(Box::new(loaded)));
    }
    if calls_plugins(&loaded.program) {
        // An attempt that is forgotten must have had no effects.
        return Ok(Reduced::Whole(Box::new(load_as(session, system, job, false)?)));
    }
    match attempt(session, system, job, loaded) {
        Some(done) => Ok(Reduced::Done(Box::new(done))),
        None => Ok(Reduced::Whole(Box::new(load_as(session, system, job, false)?))),
    }
}

/// Whether a program imports a plugin.
pub(crate) fn calls_plugins(program: &Program) -> bool {
    let mut imports = program.files.iter().flat_map(|file| &file.imports);
    imports.any(|import| import.target == ImportTarget::Plugin)
}

fn attempt(
    session: &Session,
    system: &dyn System,
    job: &Job,
    mut loaded: Loaded,
) -> Option<(RunOutput, Evaluated)> {
    let known = std::mem::take(&mut loaded.known);
    let read_only = ReadOnly::new(system);
    let (program, evaluated) = check_and_evaluate(&read_only, job, loaded, Before::Nothing).ok()?;
    if read_only.was_refused() || !evaluated.warnings.is_empty() {
        return None;
    }
    session.store.keep(system, &program, &known);
    let output = output(job, program, &evaluated).ok()?;
    Some((output, evaluated))
}
