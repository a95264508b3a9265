//! From inputs to a checked program.

use crate::error::RunError;
use crate::options::RunOptions;
use crate::prepare::{Job, prepare};
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::System;
use kcl_eval::{Options as EvalOptions, Tracking};
use kcl_hir::{Entries, LoadOptions, Loaded, PluginFinder, Program, resolve_entries};
use kcl_lint::Config;
use rustc_hash::FxHashSet;
use std::sync::Arc;

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
    with_large_stack(|| {
        let session = Session::single(system, options);
        let job = prepare(system, options)?;
        let loaded = load_job(&session, system, &job)?;
        Ok(check(system, &job, loaded, Knowledge::Store(&session)))
    })
}

/// Loads and checks a program like [`compile`], and keeps the types that the check finds, for
/// tools that describe programs.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_with_types(
    system: &(dyn System + Sync),
    options: &RunOptions,
) -> Result<(Compiled, kcl_types::TypeTable), Box<RunError>> {
    with_large_stack(|| {
        let session = Session::single(system, options);
        let job = prepare(system, options)?;
        let Loaded { program, mut diagnostics, .. } = load_job(&session, system, &job)?;
        let kcl_types::Checked { diagnostics: found, types } =
            kcl_types::check_with_types(&program);
        diagnostics.extend(found);
        drop_repeated(&mut diagnostics);
        Ok((Compiled { program, diagnostics }, types))
    })
}

/// Loads a program without checking it; the findings are those of its syntax and imports.
///
/// # Errors
///
/// As [`compile`].
pub fn load(system: &(dyn System + Sync), options: &RunOptions) -> Result<Compiled, Box<RunError>> {
    with_large_stack(|| {
        let session = Session::single(system, options);
        let job = prepare(system, options)?;
        let Loaded { program, diagnostics, .. } = load_job(&session, system, &job)?;
        Ok(Compiled { program, diagnostics })
    })
}

/// Loads and checks a program for its authors: each statement on its own, with the findings of
/// lints behind errors and warnings. The levels of `config` win over
/// those of the program's `kcl.mod`.
///
/// # Errors
///
/// As [`compile`]; also if `kcl.mod` sets the level of a lint that does not exist.
pub fn lint(
    system: &(dyn System + Sync),
    options: &RunOptions,
    config: &Config,
) -> Result<Compiled, Box<RunError>> {
    with_large_stack(|| {
        let session = Session::single(system, options);
        let job = prepare(system, options)?;
        let mut levels = Config::new(config.set);
        for (lint, level) in &job.lint_levels {
            let set = levels.set_level(lint, level);
            set.map_err(|error| RunError::plain(format!("invalid [lint] in kcl.mod: {error}")))?;
        }
        levels.extend(config);
        let Loaded { program, mut diagnostics, .. } = load_job(&session, system, &job)?;
        diagnostics.extend(kcl_types::lint(&program));
        diagnostics.extend(kcl_lint::lint(&program, &levels));
        let diagnostics = kcl_lint::select(&program, &levels, diagnostics);
        Ok(Compiled { program, diagnostics })
    })
}

/// What the check of a program may use and fill.
pub(crate) enum Knowledge<'k> {
    /// The store of a session: it keeps the packages of a program with which nothing is wrong.
    Store(&'k Session),
    /// The imported packages of programs before it on this thread.
    Library(&'k mut kcl_types::Library),
    /// Nothing.
    Nothing,
}

/// Checks a program that was loaded.
pub(crate) fn check(
    system: &dyn System,
    job: &Job,
    loaded: Loaded,
    knowledge: Knowledge<'_>,
) -> Compiled {
    let Loaded { program, mut diagnostics, known } = loaded;
    let is_clean = diagnostics.is_empty() && is_plain(job);
    let options = kcl_types::CheckOptions { partial: job.options.eval.partial };
    let (found, session) = match knowledge {
        Knowledge::Library(library) => (kcl_types::check_in(&program, &options, library), None),
        Knowledge::Store(session) => (kcl_types::check_as(&program, &options), Some(session)),
        Knowledge::Nothing => (kcl_types::check_as(&program, &options), None),
    };
    diagnostics.extend(found);
    drop_repeated(&mut diagnostics);
    if !job.missing.is_empty() {
        for found in &mut diagnostics {
            name_missing(found, job);
        }
    }
    if let Some(session) = session
        && is_clean
        && !diagnostics.iter().any(Diagnostic::is_error)
    {
        session.store.keep(system, &program, &known);
    }
    Compiled { program, diagnostics }
}

/// Whether the result of a job follows from its files alone, so that what is known of
/// packages holds for it and from it.
pub(crate) fn is_plain(job: &Job) -> bool {
    let options = &job.options;
    // What is kept about where values come from changes no value; contests are not shared.
    let tracking = Tracking::Entries;
    options.overrides.is_empty()
        && options.tracking() != Tracking::Contests
        && EvalOptions { tracking, strict_range_check: false, ..options.eval }
            == EvalOptions::default()
}

/// Loads a program without checking it.
pub(crate) fn load_job(
    session: &Session,
    system: &dyn System,
    job: &Job,
) -> Result<Loaded, Box<RunError>> {
    load_as(session, system, job, false)
}

/// Loads a program without checking it; with `reduced`, only what it can reach of packages
/// that were checked before.
pub(crate) fn load_as(
    session: &Session,
    system: &dyn System,
    job: &Job,
    reduced: bool,
) -> Result<Loaded, Box<RunError>> {
    let inputs = &job.options.inputs;
    let entries =
        resolve_entries(system, inputs, &job.base, &job.packages).map_err(RunError::plain)?;
    let options = load_options(job, &entries);
    let load = if reduced { kcl_hir::load_reduced } else { kcl_hir::load_whole };
    let mut loaded = load(system, &entries, &options, &session.store).map_err(RunError::plain)?;
    if !job.options.overrides.is_empty() {
        kcl_query::apply_overrides(&mut loaded.program, &job.options.overrides)
            .map_err(RunError::plain)?;
    }
    Ok(loaded)
}

/// Says of an import that cannot be found that `kcl.mod` names it, and how it is downloaded.
fn name_missing(found: &mut Diagnostic, job: &Job) {
    if found.code != "E2F04" {
        return;
    }
    let Some(label) = found.labels.first_mut() else { return };
    let is_named = |name: &&String| {
        label.suggestions.iter().any(|it| it.starts_with(&format!("try 'kcl mod add {name}' ")))
    };
    if let Some(name) = job.missing.iter().find(is_named) {
        let hint = "run 'kcl mod pull' in the folder of kcl.mod to download it";
        let why = job.download_error.as_deref().unwrap_or(hint);
        label.suggestions = vec![format!("'{name}' is in kcl.mod, but was not downloaded: {why}")];
    }
}

/// Where the packages of a program are looked for.
pub(crate) fn load_options(job: &Job, entries: &Entries) -> LoadOptions {
    let mut vendors = vec![entries.root.join("vendor")];
    vendors.extend(job.vendors.iter().cloned());
    let plugins = job.plugins.clone().map(|it| it as Arc<dyn PluginFinder>);
    LoadOptions { packages: job.packages.clone(), vendors, plugins }
}

/// Drops findings that say the same of the same place again.
pub(crate) fn drop_repeated(diagnostics: &mut Vec<Diagnostic>) {
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
