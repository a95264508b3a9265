//! The output: results on standard output, progress and failures on standard error.

pub(crate) mod board;
mod change;
mod content;
pub(crate) mod lines;
mod markdown;
pub(crate) mod plan;
pub(crate) mod related;
pub(crate) mod report;
mod screen;
pub(crate) mod style;
mod unified;
pub(crate) mod words;

pub(crate) use screen::{Answer, View};
pub(crate) use style::Color;

use crate::failure::Failure;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Output {
    /// Human-readable text
    #[default]
    Text,
    /// JSON, for programs
    Json,
}

/// The output format of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum PlanOutput {
    /// Human-readable text
    #[default]
    Text,
    /// JSON, for programs
    Json,
    /// Markdown, for a comment on a pull request
    Markdown,
}

impl From<Output> for PlanOutput {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => Self::Text,
            Output::Json => Self::Json,
        }
    }
}

/// Prints a result; a closed pipe is not an error.
pub(crate) fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Prints the help or usage error that the parser of the command line gives, and what to run
/// instead where that is known.
pub(crate) fn usage(error: &clap::Error, pointer: Option<&str>) -> ExitCode {
    let mut text = style::printable(&error.render().to_string());
    if let Some(pointer) =
        pointer.filter(|_| error.kind() == clap::error::ErrorKind::InvalidSubcommand)
    {
        // The first line names the word.
        let first = text.lines().next().unwrap_or_default();
        text = format!("{first}\nhint: {pointer}\n");
    }
    // A failure to write here cannot be reported.
    let _ = if error.use_stderr() {
        write!(std::io::stderr(), "{text}")
    } else {
        write!(std::io::stdout(), "{text}")
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
}

/// Prints a failure, and what to do about it where that is known.
pub(crate) fn error(failure: &Failure) {
    let hint = failure.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    // A failure to write here cannot be reported.
    let text = style::printable(&format!("{}{hint}", labelled(&failure.to_string())));
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns the text of an error with `error: ` in front, unless it names its code there.
fn labelled(text: &str) -> String {
    if text.starts_with("error[") { text.to_owned() } else { format!("error: {text}") }
}

/// Prints the error of one of several stacks, after which the command goes on.
pub(crate) fn stack_error(text: &str) {
    // A failure to write here cannot be reported.
    let _ = writeln!(std::io::stderr(), "{}", style::printable(&labelled(text)));
}

/// Prints a text of several lines beside the result.
pub(crate) fn message(text: &str) {
    // A failure to write here cannot be reported.
    let _ = write!(std::io::stderr(), "{}", style::printable(text));
}

/// Prints a warning about how a command was typed.
pub(crate) fn warning(text: &str) {
    // A failure to write here cannot be reported.
    let _ = writeln!(std::io::stderr(), "warning: {}", style::printable(text));
}
