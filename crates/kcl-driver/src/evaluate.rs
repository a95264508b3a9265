//! From a checked program to its output.

use crate::argument;
use crate::compile::{Compiled, check_job, drop_repeated};
use crate::documents::{Documents, documents};
use crate::error::RunError;
use crate::options::{Format, RunOptions};
use crate::prepare::{Job, prepare};
use crate::provenance::Provenance;
use crate::reduced::{self, Reduced};
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::{Settled, System};
use base_text::FileSpan;
use kcl_eval::{EvalError, Evaluated, LeafOptions, Tracking};
use kcl_hir::{Loaded, Program};
use kcl_value::output::{self, OutputOptions};
use kcl_value::{Fault, Value, yaml};
use std::path::PathBuf;

/// The output of a program.
#[derive(Debug)]
pub struct RunOutput {
    /// What `print` wrote; it comes before the result.
    pub printed: String,
    /// The result in the requested form, without a line end.
    pub result: String,
    /// The result as data, if [`Format::Data`] was requested.
    pub documents: Option<Documents>,
    /// Where the leaves of the result come from, if asked for.
    pub provenance: Option<Provenance>,
    /// Where the settings want the result to go.
    pub output: Option<PathBuf>,
    /// Findings that did not stop the program.
    pub warnings: Vec<Diagnostic>,
    /// The program; it knows the files that warnings point into.
    pub program: Program,
}

/// Runs a program and gives its output.
///
/// # Errors
///
/// With everything that was found wrong, in the order in which it is to be shown.
pub fn run(system: &(dyn System + Sync), options: &RunOptions) -> Result<RunOutput, Box<RunError>> {
    with_large_stack(|| run_here(system, options))
}

/// Runs a program like [`run`], on the stack of the caller.
///
/// For callers that run many programs on a thread with a large stack of its own; on a small
/// one, deep programs overflow it.
///
/// # Errors
///
/// As [`run`].
pub fn run_here(system: &dyn System, options: &RunOptions) -> Result<RunOutput, Box<RunError>> {
    let system = &Settled::new(system);
    Session::single(system, options).run_here(system, options)
}

/// Runs a program like [`run`] and hands the outcome on while everything is still in place.
///
/// For a process that ends with the run: when `then` ends the process, nothing is taken
/// apart before.
pub fn run_then<T: Send>(
    system: &(dyn System + Sync),
    options: &RunOptions,
    then: impl Fn(Result<RunOutput, Box<RunError>>) -> T + Sync,
) -> T {
    with_large_stack(|| {
        let system = &Settled::new(system);
        run_job(&Session::single(system, options), system, options, &then)
    })
}

pub(crate) fn run_job<T>(
    session: &Session,
    system: &dyn System,
    options: &RunOptions,
    then: impl FnOnce(Result<RunOutput, Box<RunError>>) -> T,
) -> T {
    let job = match prepare(system, options) {
        Ok(job) => job,
        Err(error) => return then(Err(error)),
    };
    let loaded = match reduced::run(session, system, &job) {
        Ok(Reduced::Done(done)) => {
            // What the value holds is taken apart after the outcome is out.
            let (output, _evaluated) = *done;
            return then(Ok(output));
        }
        Ok(Reduced::Whole(loaded)) => *loaded,
        Err(error) => return then(Err(error)),
    };
    match evaluate(session, system, &job, loaded) {
        Ok((program, evaluated)) => then(output(&job, program, &evaluated)),
        Err(error) => then(Err(error)),
    }
}

fn evaluate(
    session: &Session,
    system: &dyn System,
    job: &Job,
    loaded: Loaded,
) -> Result<(Program, Evaluated), Box<RunError>> {
    let Compiled { program, diagnostics } = check_job(session, system, job, loaded);
    let program = without_errors(program, diagnostics)?;
    let evaluated = kcl_eval::evaluate(&program, system, &eval_options(job));
    succeeded(program, evaluated)
}

/// The program, if nothing is wrong with it.
pub(crate) fn without_errors(
    program: Program,
    diagnostics: Vec<Diagnostic>,
) -> Result<Program, Box<RunError>> {
    let mut errors: Vec<Diagnostic> =
        diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if errors.is_empty() {
        return Ok(program);
    }
    drop_repeated(&mut errors);
    Err(RunError::new(errors, program))
}

pub(crate) fn succeeded(
    program: Program,
    evaluated: Result<Evaluated, Box<EvalError>>,
) -> Result<(Program, Evaluated), Box<RunError>> {
    match evaluated {
        Ok(evaluated) => Ok((program, evaluated)),
        Err(error) => {
            let mut failure = RunError::new(vec![error.diagnostic], program);
            failure.printed = error.printed;
            Err(failure)
        }
    }
}

pub(crate) fn output(
    job: &Job,
    program: Program,
    evaluated: &Evaluated,
) -> Result<RunOutput, Box<RunError>> {
    match show(evaluated, job, &[&program]) {
        Ok(Shown { result, documents, provenance }) => {
            // Lints have their own command; a run says only what concerns this run.
            let mut warnings = job.warnings.clone();
            warnings.extend_from_slice(&evaluated.warnings);
            let (printed, output) = (evaluated.printed.clone(), job.output.clone());
            Ok(RunOutput { printed, result, documents, provenance, output, warnings, program })
        }
        Err(fault) => {
            let mut failure = RunError::new(vec![at_end(evaluated.end, &fault)], program);
            failure.printed.clone_from(&evaluated.printed);
            Err(failure)
        }
    }
}

/// A value as its reader gets it.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) result: String,
    pub(crate) documents: Option<Documents>,
    pub(crate) provenance: Option<Provenance>,
}

/// Writes a value and says where it is from. The programs are those that were evaluated for
/// it, in order; the last one is the one that gave the value.
pub(crate) fn show(
    evaluated: &Evaluated,
    job: &Job,
    programs: &[&Program],
) -> kcl_value::Result<Shown> {
    let options = &job.options;
    let mut shown = Shown::default();
    match (options.format.unwrap_or_default(), programs.last()) {
        (Format::Data, Some(program)) => {
            let selectors = &options.selectors;
            let documents = documents(evaluated, program, selectors, options.output())?;
            shown.documents = Some(documents);
        }
        (format, _) => shown.result = write(evaluated, job, format)?,
    }
    if options.provenance {
        shown.provenance = Some(provenance(evaluated, job, programs));
    }
    Ok(shown)
}

fn provenance(evaluated: &Evaluated, job: &Job, programs: &[&Program]) -> Provenance {
    let options = &job.options;
    let known = &evaluated.provenance;
    let follow_reads = options.tracking() == Tracking::Givers;
    let (selectors, filter) = (&options.selectors[..], options.output().filter());
    let leaves = match &evaluated.stream {
        Some(stream) => {
            let filter = match options.format.unwrap_or_default() {
                // The text is shown as the program wrote it.
                Format::Yaml => stream.own_filter(),
                _ => stream.filter(options.output()),
            };
            known.stream_leaves(programs, stream, &LeafOptions { selectors, filter, follow_reads })
        }
        None => {
            let options = LeafOptions { selectors, filter, follow_reads };
            known.leaves(programs, &evaluated.value, &options)
        }
    };
    Provenance::new(programs, leaves)
}

pub(crate) fn eval_options(job: &Job) -> kcl_eval::Options {
    let options = &job.options;
    kcl_eval::Options {
        arguments: argument::values(&options.arguments),
        strict_range_check: options.strict_range_check,
        debug: options.debug,
        partial: options.partial,
        complete: options.complete,
        tracking: options.tracking(),
        show_hidden: options.show_hidden,
        work_dir: job.program_dir.clone(),
        limits: options.limits,
    }
}

fn write(evaluated: &Evaluated, job: &Job, format: Format) -> kcl_value::Result<String> {
    let options = job.options.output();
    match &evaluated.stream {
        Some(stream) if format == Format::Yaml => Ok(stream.to_yaml()),
        Some(stream) => {
            // What other forms show is what a reader of the text gets.
            let documents = yaml::parse_stream(&stream.to_yaml())?;
            let texts: kcl_value::Result<Vec<String>> =
                documents.iter().map(|document| write_value(document, format, options)).collect();
            Ok(texts?.join("\n"))
        }
        None => {
            let value = output::select_all(&evaluated.value, &job.options.selectors, options)?;
            write_value(&value, format, options)
        }
    }
}

fn write_value(value: &Value, format: Format, options: OutputOptions) -> kcl_value::Result<String> {
    match format {
        Format::Yaml => Ok(output::to_yaml(value, options)),
        Format::Json => Ok(output::to_json(value, options)),
        Format::Toml => {
            let mut text = output::to_toml(value, options)?;
            text.truncate(text.trim_end_matches('\n').len());
            Ok(text)
        }
        Format::Data => Ok(String::new()),
    }
}

/// A failure after the last statement.
pub(crate) fn at_end(end: Option<FileSpan>, fault: &Fault) -> Diagnostic {
    let severity = base_diag::Severity::Error;
    Diagnostic::new(severity, "E3M38", "EvaluationError", end, fault.message.clone())
}
