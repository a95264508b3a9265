//! From a checked program to its output.

use crate::argument;
use crate::compile::{Compiled, check_job, drop_repeated};
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
use kcl_eval::{EvalError, Evaluated, LeafOptions};
use kcl_hir::{Loaded, Program};
use kcl_value::plan::{self, PlanOptions};
use kcl_value::{Fault, Value, yaml};
use std::path::PathBuf;

/// The output of a program.
#[derive(Debug)]
pub struct RunOutput {
    /// What `print` wrote; it comes before the result.
    pub printed: String,
    /// The result in the wanted form, without a line end.
    pub result: String,
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
        Ok(Shown { result, provenance }) => {
            // Lints have their own command; a run says only what concerns this run.
            let mut warnings = job.warnings.clone();
            warnings.extend_from_slice(&evaluated.warnings);
            let (printed, output) = (evaluated.printed.clone(), job.output.clone());
            Ok(RunOutput { printed, result, provenance, output, warnings, program })
        }
        Err(fault) => {
            let mut failure = RunError::new(vec![at_end(evaluated.end, &fault)], program);
            failure.printed.clone_from(&evaluated.printed);
            Err(failure)
        }
    }
}

/// A value as its reader gets it.
pub(crate) struct Shown {
    pub(crate) result: String,
    pub(crate) provenance: Option<Provenance>,
}

/// Writes a value and says where it is from. The programs are those that were evaluated for
/// it, in order.
pub(crate) fn show(
    evaluated: &Evaluated,
    job: &Job,
    programs: &[&Program],
) -> kcl_value::Result<Shown> {
    let result = write(evaluated, job)?;
    if !job.options.provenance {
        return Ok(Shown { result, provenance: None });
    }
    let known = &evaluated.provenance;
    let mut options = LeafOptions {
        selectors: &job.options.selectors,
        hide_none: job.options.disable_none,
        show_hidden: job.options.show_hidden,
        sort_keys: job.options.sort_keys,
        type_path: job.options.include_schema_type_path,
        follow_reads: job.options.follow_reads,
    };
    let leaves = match &evaluated.stream {
        Some(stream) => {
            if job.options.format.unwrap_or_default() == Format::Yaml {
                // The text is shown as the program wrote it.
                let follow_reads = options.follow_reads;
                options = LeafOptions { show_hidden: true, follow_reads, ..LeafOptions::default() };
            }
            known.stream_leaves(programs, yaml::parse_stream(stream)?, &options)
        }
        None => known.leaves(programs, &evaluated.value, &options),
    };
    Ok(Shown { result, provenance: Some(Provenance::new(programs, leaves)) })
}

pub(crate) fn eval_options(job: &Job) -> kcl_eval::Options {
    let options = &job.options;
    kcl_eval::Options {
        arguments: argument::values(&options.arguments),
        strict_range_check: options.strict_range_check,
        debug: options.debug,
        partial: options.partial,
        complete: options.complete,
        provenance: options.provenance,
        follow_reads: options.provenance && options.follow_reads,
        show_hidden: options.show_hidden,
        work_dir: job.program_dir.clone(),
        limits: options.limits,
    }
}

fn write(evaluated: &Evaluated, job: &Job) -> kcl_value::Result<String> {
    let options = &job.options;
    let plan = PlanOptions {
        sort_keys: options.sort_keys,
        disable_none: options.disable_none,
        show_hidden: options.show_hidden,
        include_schema_type_path: options.include_schema_type_path,
        separator: None,
    };
    let format = options.format.unwrap_or_default();
    if let Some(stream) = &evaluated.stream {
        return write_stream(stream, format, &plan);
    }
    let value = plan::select_all(&evaluated.value, &options.selectors, &plan)?;
    write_value(&value, format, &plan)
}

fn write_value(value: &Value, format: Format, plan: &PlanOptions) -> kcl_value::Result<String> {
    match format {
        Format::Yaml => Ok(plan::to_yaml(value, plan)),
        Format::Json => Ok(plan::to_json(value, plan)),
        Format::Toml => {
            let mut text = plan::to_toml(value, plan)?;
            text.truncate(text.trim_end_matches('\n').len());
            Ok(text)
        }
    }
}

/// The text that the program wrote itself, in the wanted form.
fn write_stream(stream: &str, format: Format, plan: &PlanOptions) -> kcl_value::Result<String> {
    if format == Format::Yaml {
        return Ok(stream.to_owned());
    }
    let documents = yaml::parse_stream(stream)?;
    let texts: kcl_value::Result<Vec<String>> =
        documents.iter().map(|document| write_value(document, format, plan)).collect();
    Ok(texts?.join("\n"))
}

/// A failure after the last statement.
pub(crate) fn at_end(end: Option<FileSpan>, fault: &Fault) -> Diagnostic {
    let severity = base_diag::Severity::Error;
    Diagnostic::new(severity, "E3M38", "EvaluationError", end, fault.message.clone())
}
