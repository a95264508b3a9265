//! What a run is asked for.

use crate::plugins::Plugins;
use kcl_eval::{Limits, Options as EvalOptions, Tracking};
use kcl_hir::Input;
use kcl_pkg::Provider;
use kcl_value::output::OutputOptions;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// What to run and how. Settings files and `kcl.mod` fill in what is not given.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The working folder; that of the system if not given.
    pub work_dir: Option<PathBuf>,
    /// The files and folders to run.
    pub inputs: Vec<Input>,
    /// Settings files. Without any, `kcl.yaml` of the working folder is taken.
    pub settings: Vec<PathBuf>,
    /// Whether `kcl.yaml` of the working folder is left alone.
    pub ignore_default_settings: bool,
    /// Top-level arguments: names with values in JSON. The last one of a name wins.
    pub arguments: Vec<(String, String)>,
    /// Changes to the program, `path=value`.
    pub overrides: Vec<String>,
    /// The parts of the result to be shown, `a.b`.
    pub selectors: Vec<String>,
    /// External packages: names with folders.
    pub packages: Vec<(String, PathBuf)>,
    /// Downloads dependencies that are not on disk. Without it, nothing is downloaded.
    pub provider: Option<SharedProvider>,
    /// Packages, by name, that may use files and the environment although they are not the
    /// program's own.
    pub allow_io: Vec<String>,
    /// The plugins that the program may import.
    pub plugins: Plugins,
    /// The form of the output; YAML if not given.
    pub format: Option<Format>,
    /// What of the result is written, and how.
    pub output: OutputOptions,
    /// How the program is evaluated.
    pub eval: EvalOptions,
    /// Whether the output says where its leaves come from, as a list of leaves. What counts is
    /// said by [`EvalOptions::tracking`]: with [`Tracking::Givers`], a leaf that an expression only
    /// passes on (`image = server.image`) is from what gave it; otherwise it is from that
    /// expression, and what it replaced is known, too.
    pub provenance: bool,
    /// Whether what earlier runs found out about packages is taken from disk, and kept there
    /// for later ones. The environment can forbid it: `KCL_CACHE=off`.
    pub use_cache: bool,
}

impl RunOptions {
    /// Makes options that run some files.
    pub fn files<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { inputs: paths.into_iter().map(Input::path).collect(), ..Self::default() }
    }

    /// What is kept about where values come from: contests unless something else was asked for,
    /// if the output is to say it.
    pub(crate) fn tracking(&self) -> Tracking {
        match self.eval.tracking {
            Tracking::Entries if self.provenance => Tracking::Contests,
            tracking => tracking,
        }
    }
}

/// A provider of packages that several runs share.
#[derive(Clone, Debug)]
pub struct SharedProvider(pub Arc<dyn Provider>);

// A provider that panics leaves nothing behind that a later call would rely on: it works with files
// that are complete or not there.
impl UnwindSafe for SharedProvider {}
impl RefUnwindSafe for SharedProvider {}

/// What a program may use: the part of its options that every shell offers under the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Confinement {
    /// The plugins that it may import.
    pub plugins: Plugins,
    /// Bounds.
    pub limits: Limits,
    /// Whether neither files nor the environment may be used.
    pub no_io: bool,
    /// Packages, by name, that may use files and the environment although they are not the
    /// program's own.
    pub allow_io: Vec<String>,
}

impl Confinement {
    /// Confines a run.
    pub fn apply(&self, options: &mut RunOptions) {
        options.eval.limits = self.limits;
        options.eval.no_io = self.no_io;
        options.allow_io.clone_from(&self.allow_io);
        options.plugins = self.plugins.clone();
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// YAML.
    #[default]
    Yaml,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// Data for a program: [`RunOutput::documents`](crate::RunOutput::documents) in the place of
    /// text.
    Data,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "yaml" => Ok(Self::Yaml),
            "json" => Ok(Self::Json),
            "toml" => Ok(Self::Toml),
            _ => Err(format!("invalid output format '{name}', expected yaml, json or toml")),
        }
    }
}
