//! The log of the program, for debugging.
//!
//! Contains only messages of kusion itself: libraries may log anything, including secrets.

use crate::daemon::make_private;
use crate::failure::Failure;
use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterFn, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

/// The environment variable with the log filter.
const VARIABLE: &str = "KUSION_LOG";

/// Options of the log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LogArgs {
    /// Write a log to standard error; `-vv` includes every call
    #[arg(long, short, action = clap::ArgAction::Count, global = true, help_heading = "Log")]
    verbose: u8,
    /// Write the log to a file instead
    #[arg(long, value_name = "FILE", global = true, help_heading = "Log")]
    log_file: Option<PathBuf>,
    /// Format of the log
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        global = true,
        hide_possible_values = false,
        help_heading = "Log"
    )]
    log_format: Form,
}

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Form {
    /// Human-readable text
    #[default]
    Text,
    /// JSON, for programs
    Json,
}

impl LogArgs {
    /// Starts the log, if it is requested.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        let variable = std::env::var(VARIABLE).ok().filter(|it| !it.trim().is_empty());
        let level = match self.verbose {
            0 if variable.is_none() && self.log_file.is_none() => return Ok(()),
            0 | 1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        let targets = match variable {
            Some(text) if self.verbose == 0 => parse(&text)?,
            _ => Targets::new().with_default(level),
        };
        let subscriber = tracing_subscriber::registry();
        let done = match &self.log_file {
            Some(path) => {
                let mut options = File::options();
                options.create(true).append(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                let file = options.open(path).map_err(Failure::file("write", path))?;
                make_private(&file).map_err(Failure::file("write", path))?;
                let file = Arc::new(file);
                tracing::subscriber::set_global_default(
                    subscriber.with(self.layer(move || Arc::clone(&file), targets)),
                )
            }
            None => tracing::subscriber::set_global_default(
                subscriber.with(self.layer(std::io::stderr, targets)),
            ),
        };
        // A log is already active in this process: keep it.
        let _ = done;
        Ok(())
    }

    fn layer<S, W>(&self, writer: W, targets: Targets) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
        W: for<'w> tracing_subscriber::fmt::MakeWriter<'w> + Send + Sync + 'static,
    {
        let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
        match self.log_format {
            Form::Text => layer.with_filter(targets).with_filter(own()).boxed(),
            Form::Json => layer.json().with_filter(targets).with_filter(own()).boxed(),
        }
    }
}

/// Accepts only messages of kusion itself.
fn own() -> FilterFn<fn(&Metadata<'_>) -> bool> {
    filter_fn(|metadata| metadata.target().starts_with("kusion"))
}

/// Parses `debug`, or `kusion_engine=debug,kusion_store=info`.
fn parse(text: &str) -> Result<Targets, Failure> {
    let invalid = || Failure::Log(text.to_owned());
    let is_level = |word: &str| Level::from_str(word).is_ok();
    for part in text.split(',') {
        let (target, level) = part.split_once('=').unwrap_or(("kusion", part));
        if !target.trim().starts_with("kusion") || !is_level(level.trim()) {
            return Err(invalid());
        }
    }
    Targets::from_str(text).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_targets_are_logged() {
        for text in ["info", "debug", "kusion_engine=debug,kusion_store=info"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for text in ["loud", "hyper=debug", "info,hyper=trace", "kusion_engine", "=", "a=b=c"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
