//! Options that say what KCL programs may use.

use super::duration;
use crate::failure::Failure;
use kusion_generate::{Confinement, Limits, Plugins};
use std::time::Duration;

/// Where the help lists the options.
const HEADING: &str = "Limits of programs";

/// Limits of the evaluation of each stack; the defaults are those of `kcl run`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ConfineArgs {
    /// Maximum number of steps of a program
    #[arg(long, help_heading = HEADING, value_name = "N")]
    max_steps: Option<u64>,
    /// Maximum depth of expressions and calls in a program
    #[arg(long, help_heading = HEADING, value_name = "N")]
    max_depth: Option<u32>,
    /// Maximum memory of the values of a program
    #[arg(long, help_heading = HEADING, value_name = "BYTES")]
    max_memory: Option<u64>,
    /// Maximum size of the output of a program
    #[arg(long, help_heading = HEADING, value_name = "BYTES")]
    max_output: Option<u64>,
    /// Maximum time of the evaluation of a program [default: no limit]
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "DURATION",
        value_parser = duration::parse
    )]
    kcl_timeout: Option<Duration>,
    /// Allow programs neither files nor the environment nor plugins
    #[arg(long, help_heading = HEADING)]
    no_io: bool,
    /// Allow files, the environment and plugins in a dependency of a program
    #[arg(long, help_heading = HEADING, value_name = "PACKAGE")]
    allow_io: Vec<String>,
    /// Program of a plugin, which programs import as `kcl_plugin.NAME`
    #[arg(long = "plugin", help_heading = HEADING, value_name = "NAME=COMMAND")]
    plugins: Vec<String>,
}

impl ConfineArgs {
    /// Returns what programs may use. If `is_trusted` is true, so are the plugins that the
    /// repository names.
    pub(super) fn confinement(&self, is_trusted: bool) -> Result<Confinement, Failure> {
        let mut plugins = Plugins::of_user();
        for option in &self.plugins {
            plugins.add_option(option).map_err(|error| Failure::Usage(error.to_string()))?;
        }
        if is_trusted {
            plugins.trust_all();
        }
        let default = Limits::default();
        let limits = Limits {
            steps: self.max_steps.unwrap_or(default.steps),
            depth: self.max_depth.unwrap_or(default.depth),
            memory: self.max_memory.unwrap_or(default.memory),
            output: self.max_output.unwrap_or(default.output),
            time: self.kcl_timeout,
        };
        let (no_io, allow_io) = (self.no_io, self.allow_io.clone());
        Ok(Confinement { plugins, limits, no_io, allow_io })
    }
}
