//! From inputs to a checked program.

use crate::error::RunError;
use crate::options::RunOptions;
use crate::prepare::Job;
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::System;
use kcl_hir::{LoadOptions, Program, resolve_entries};
use rustc_hash::FxHashSet;

/// A program, loaded and checked.
#[derive(Debug)]
pub struct Compiled {
    /// The program; with errors, the best that could be built.
    pub program: Program,
    /// What was found, errors and warnings, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads and checks a program.
///
/// # Errors
///
/// If there is nothing to check: settings, files or overrides that can't be read. Findings
/// about the program itself are part of the result.
pub fn compile(
    system: &(dyn System + Sync),
    options: &RunOptions,
) -> Result<Compiled, Box<RunError>> {
    with_large_stack(|| Session::new().compile_here(system, options))
}

pub(crate) fn compile_job(
    session: &Session,
    system: &dyn System,
    job: &Job,
) -> Result<Compiled, Box<RunError>> {
    let Compiled { program, mut diagnostics } = load_job(session, system, job)?;
    let options = kcl_types::CheckOptions { partial: job.options.partial };
    diagnostics.extend(kcl_types::check_as(&program, &options));
    drop_repeated(&mut diagnostics);
    Ok(Compiled { program, diagnostics })
}

/// Loads a program without checking it.
pub(crate) fn load_job(
    session: &Session,
    system: &dyn System,
    job: &Job,
) -> Result<Compiled, Box<RunError>> {
    let inputs = &job.options.inputs;
    let entries =
        resolve_entries(system, inputs, &job.base, &job.packages).map_err(RunError::plain)?;
    let mut vendors = vec![entries.root.join("vendor")];
    vendors.extend(job.vendors.iter().cloned());
    let options = LoadOptions { packages: job.packages.clone(), vendors, plugins: false };
    let loaded =
        kcl_hir::load_with(system, &entries, &options, &session.store).map_err(RunError::plain)?;
    let mut program = loaded.value;
    if !job.options.overrides.is_empty() {
        kcl_query::apply_overrides(&mut program, &job.options.overrides)
            .map_err(RunError::plain)?;
    }
    Ok(Compiled { program, diagnostics: loaded.diagnostics })
}

/// Drops findings that say the same of the same place again.
fn drop_repeated(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() < 2 {
        return;
    }
    let mut seen = FxHashSet::default();
    let is_first: Vec<bool> = diagnostics
        .iter()
        .map(|found| {
            let at = found.labels.first().and_then(|label| label.at);
            seen.insert((found.code, at, found.message()))
        })
        .collect();
    let mut is_first = is_first.into_iter();
    diagnostics.retain(|_| is_first.next().unwrap_or(true));
}
