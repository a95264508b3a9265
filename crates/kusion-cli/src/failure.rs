//! Why a command stopped.

use kusion_generate::GenerateError;
use std::path::PathBuf;

/// A failure that the user can do something about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The data folder is unknown.
    #[error("no home folder found; set KUSION_HOME to the folder for local data")]
    NoHome,
    /// A sandbox cannot have this name.
    #[error("`{0}` is no name for a sandbox: use up to 40 lower-case letters, digits and dashes")]
    Name(String),
    /// The sandbox does not run.
    #[error("sandbox `{0}` is not running; start it with `kusion sandbox up --name {0}`")]
    NotRunning(String),
    /// The sandbox was never started.
    #[error("there is no sandbox `{0}`; start it with `kusion sandbox up --name {0}`")]
    Unknown(String),
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The server cannot start.
    #[error("cannot start the sandbox on port {port}: {source}")]
    Start {
        /// The port that was asked for.
        port: u16,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The background process ended or did not answer.
    #[error("the sandbox did not start: {0}")]
    Background(String),
    /// The sandbox runs but does not obey.
    #[error("sandbox `{name}` (process {pid}) does not stop; end that process by hand")]
    Stuck {
        /// Its name.
        name: String,
        /// Its process.
        pid: u32,
    },
    /// Output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(std::io::Error),
    /// The stacks do not compile.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Resources make no graph.
    #[error("{0}")]
    Graph(String),
    /// There is no such template.
    #[error("there is no template `{name}`; there are: {known}")]
    Template {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A file would be overwritten.
    #[error("{} is there already; nothing was written", .0.display())]
    Exists(PathBuf),
}

impl Failure {
    /// Makes the failure of a file operation.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
