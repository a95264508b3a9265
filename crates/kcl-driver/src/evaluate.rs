//! From a checked program to its output.

use crate::argument;
use crate::compile::{Compiled, Knowledge, check};
use crate::documents::{Documents, documents};
use crate::error::RunError;
use crate::options::{Format, RunOptions};
use crate::prepare::{Job, prepare};
use crate::provenance::Provenance;
use crate::reduced::{self, Reduced};
use crate::session::Session;
use crate::shared::Shared;
use crate::stack::{room, with_large_stack};
use base_diag::Diagnostic;
use base_system::{Settled, System};
use base_text::FileSpan;
use kcl_eval::{Earlier, Evaluated, LeafOptions, Options as EvalOptions, Request, Tracking, Usage};
use kcl_hir::{Loaded, Program};
use kcl_value::output::{self, OutputOptions};
use kcl_value::{Fault, Value, text_size, yaml};
use std::path::PathBuf;
use std::sync::Arc;

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
    /// What the evaluation took of its limits.
    pub usage: Usage,
    /// The program; it knows the files that warnings point into.
    pub program: Program,
}

/// Runs a program and gives its output.
///
/// # Errors
///
/// With everything that was found wrong, in the order in which it is to be shown.
pub fn run(system: &(dyn System + Sync), options: &RunOptions) -> Result<RunOutput, Box<RunError>> {
    run_then(system, options, |outcome| outcome)
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
        run_alone(&Session::single(system, options), system, options, &then)
    })
}

/// Runs a program that shares no values with others, from as little of its packages as it needs.
pub(crate) fn run_alone<T>(
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
    match check_and_evaluate(system, &job, loaded, Before::Session(session)) {
        Ok((program, evaluated)) => then(output(&job, program, &evaluated)),
        Err(error) => then(Err(error)),
    }
}

/// What came before a program.
pub(crate) enum Before<'k> {
    /// Nothing that it could use.
    Nothing,
    /// Other programs of a session.
    Session(&'k Session),
    /// Layers, whose values are merged with that of this one: what they know about origins.
    Layers(&'k Session, kcl_eval::Provenance),
    /// Programs on this thread with the same imported packages.
    Shared(&'k mut Shared),
}

/// Checks a loaded program and evaluates it. The one way from a program to its value.
pub(crate) fn check_and_evaluate(
    system: &dyn System,
    job: &Job,
    loaded: Loaded,
    before: Before<'_>,
) -> Result<(Program, Evaluated), Box<RunError>> {
    let (knowledge, earlier) = match before {
        Before::Nothing => (Knowledge::Nothing, Earlier::Nothing),
        Before::Session(session) => (Knowledge::Store(session), Earlier::Nothing),
        Before::Layers(session, provenance) => {
            (Knowledge::Store(session), Earlier::Programs(provenance))
        }
        Before::Shared(shared) => {
            (Knowledge::Library(&mut shared.types), Earlier::Library(&mut shared.values))
        }
    };
    let Compiled { program, diagnostics } = check(system, job, loaded, knowledge);
    let errors: Vec<Diagnostic> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(RunError::new(errors, program));
    }
    match kcl_eval::evaluate(&program, system, &request(job), earlier) {
        Ok(evaluated) => Ok((program, evaluated)),
        Err(error) => {
            let mut failure = RunError::new(error.diagnostics, program);
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
            warnings.extend(unprinted_streams(evaluated, job));
            let (printed, output) = (evaluated.printed.clone(), job.output.clone());
            let usage = evaluated.usage;
            Ok(RunOutput {
                printed,
                result,
                documents,
                provenance,
                output,
                warnings,
                usage,
                program,
            })
        }
        Err(fault) => {
            let mut failure = RunError::new(vec![at_end(evaluated.end, &fault)], program);
            failure.printed.clone_from(&evaluated.printed);
            Err(failure)
        }
    }
}

/// Returns a warning if `manifests.yaml_stream` was called several times and the output has only
/// the documents of the last call. As data, the output has those of all calls.
fn unprinted_streams(evaluated: &Evaluated, job: &Job) -> Option<Diagnostic> {
    let first = evaluated.earlier_streams.first()?;
    if job.options.format == Some(Format::Data) {
        return None;
    }
    let message = match evaluated.earlier_streams.len() {
        1 => "this stream is not printed: 'manifests.yaml_stream' is called again, and only the \
              last stream is printed"
            .to_owned(),
        count => format!(
            "{count} streams, of which this is the first, are not printed: \
             'manifests.yaml_stream' is called again, and only the last stream is printed"
        ),
    };
    let severity = base_diag::Severity::Warning;
    Some(Diagnostic::new(severity, "W0002", "UnprintedStream", first.place, message))
}

/// A value as its reader gets it.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) result: String,
    pub(crate) documents: Option<Documents>,
    pub(crate) provenance: Option<Provenance>,
}

/// Writes a value and says where it is from. The programs are those that were evaluated for
/// it, in order.
pub(crate) fn show(
    evaluated: &Evaluated,
    job: &Job,
    programs: &[&Program],
) -> kcl_value::Result<Shown> {
    let options = &job.options;
    let mut shown = Shown::default();
    match options.format.unwrap_or_default() {
        Format::Data => {
            let selectors = &options.selectors;
            let limit = limit(job);
            let documents = documents(evaluated, programs, selectors, options.output, limit)?;
            shown.documents = Some(documents);
        }
        format => shown.result = write(evaluated, job, format)?,
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
    let (selectors, filter) = (&options.selectors[..], options.output.filter());
    let leaves = match &evaluated.stream {
        Some(stream) => {
            let filter = match options.format.unwrap_or_default() {
                // The text is shown as the program wrote it.
                Format::Yaml => stream.own_filter(),
                _ => stream.filter(options.output),
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

/// What the evaluation of a job is given.
pub(crate) fn request(job: &Job) -> Request {
    let options = &job.options;
    let room = room();
    let mut limits = options.eval.limits;
    limits.memory = limits.memory.min(room.memory);
    Request {
        arguments: argument::values(&options.arguments),
        work_dir: job.program_dir.clone(),
        show_hidden: options.output.show_hidden,
        io_rules: job.io_rules.clone(),
        stack_floor: room.stack_floor,
        plugins: job.plugins.clone().map(|it| it as Arc<dyn kcl_eval::Plugins>),
        options: EvalOptions { tracking: options.tracking(), limits, ..options.eval },
    }
}

/// How many bytes the output may take.
fn limit(job: &Job) -> usize {
    // Text that grows takes up to three times its length for a moment.
    let limit = job.options.eval.limits.output.min(room().memory / 4);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Refuses a value whose text is longer than the output may be.
pub(crate) fn check_size(
    value: &Value,
    filter: output::Filter,
    limit: usize,
) -> kcl_value::Result<()> {
    text_size(value, filter, 0, limit).map(drop).ok_or_else(|| too_long(limit))
}

#[cold]
pub(crate) fn too_long(limit: usize) -> Box<Fault> {
    Fault::new(format!("the program was stopped: its output takes more than {limit} bytes"))
}

fn write(evaluated: &Evaluated, job: &Job, format: Format) -> kcl_value::Result<String> {
    let limit = limit(job);
    match write_any(evaluated, job, format, limit)? {
        text if text.len() > limit => Err(too_long(limit)),
        text => Ok(text),
    }
}

fn write_any(
    evaluated: &Evaluated,
    job: &Job,
    format: Format,
    limit: usize,
) -> kcl_value::Result<String> {
    let options = job.options.output;
    match &evaluated.stream {
        Some(stream) if format == Format::Yaml => Ok(stream.to_yaml(limit)),
        Some(stream) => {
            // What other forms show is what a reader of the text gets.
            let text = stream.to_yaml(limit);
            if text.len() > limit {
                return Ok(text);
            }
            let write = |document| write_value(document, format, options, limit);
            let documents = yaml::parse_stream(&text)?;
            let texts: kcl_value::Result<Vec<String>> = documents.iter().map(write).collect();
            Ok(texts?.join("\n"))
        }
        None => {
            let value = output::select_all(&evaluated.value, &job.options.selectors, options)?;
            write_value(&value, format, options, limit)
        }
    }
}

/// Writes a value; a text that is longer than the limit is not complete.
fn write_value(
    value: &Value,
    format: Format,
    options: OutputOptions,
    limit: usize,
) -> kcl_value::Result<String> {
    if room().memory != u64::MAX {
        // One long string is written as a whole, for which there may be no memory.
        check_size(value, options.filter(), limit)?;
    }
    match format {
        Format::Yaml => Ok(output::to_yaml_within(value, options, limit)),
        Format::Json => Ok(output::to_json_within(value, options, limit)),
        Format::Toml => {
            check_size(value, options.filter(), limit)?;
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
