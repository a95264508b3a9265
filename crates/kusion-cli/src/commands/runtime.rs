//! `kusion runtime`.

use crate::arguments::runtimes::launch;
use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::{interrupt, view};
use clap::Subcommand;
use kusion_runtime_program::Program;
use kusion_runtime_program::check::{Sample, check};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The most bytes of a sample.
const MAX_SAMPLE: u64 = 1 << 20;

/// A command of `kusion runtime`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check that a program follows the protocol of runtimes, by creating, changing and deleting one
    /// object
    Check(CheckArgs),
}

/// Arguments of `kusion runtime check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Command of the program, as in `config.yaml`
    #[arg(value_name = "CMD")]
    command: String,
    /// JSON file with the object to create: `type`, `name`, `attributes`, and `changed`, the
    /// attributes to change it to
    #[arg(long, value_name = "FILE")]
    sample: PathBuf,
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    let Command::Check(args) = command;
    let sample = read_sample(args)?;
    let program = Program::new(launch("check", &args.command)?);
    let findings = interrupt::read(async { Ok(check(&program, &sample).await) })?;
    program.stop();
    let mut text = String::new();
    for finding in &findings {
        let _ = match &finding.problem {
            None => writeln!(text, "ok      {}", finding.rule),
            Some(problem) => writeln!(text, "failed  {}: {}", finding.rule, one_line(problem)),
        };
    }
    let is_sound = findings.iter().all(|it| it.problem.is_none());
    let verdict = if is_sound { "follows" } else { "does not follow" };
    let _ = writeln!(text, "the program {verdict} the protocol");
    view::result(&text)?;
    Ok(if is_sound { Exit::Success } else { Exit::Failed })
}

fn read_sample(args: &CheckArgs) -> Result<Sample, Failure> {
    let path = &args.sample;
    let size = std::fs::metadata(path).map_err(Failure::file("read", path))?.len();
    if size > MAX_SAMPLE {
        let message = format!("cannot read {}: more than {MAX_SAMPLE} bytes", path.display());
        return Err(Failure::Usage(message));
    }
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))
}
