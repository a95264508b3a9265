//! Why a command stopped.

use kusion_engine::EngineError;
use kusion_generate::GenerateError;
use kusion_model::StackKey;
use kusion_runtime::RuntimeError;
use kusion_secret::KeyError;
use kusion_store::StoreError;
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
    /// Something else than one stack is meant where one is needed.
    #[error("{0} stacks are meant; name the folder of one")]
    OneStack(usize),
    /// Nobody could be asked.
    #[error("nothing was changed: there is no terminal to ask on; pass `--yes` to agree")]
    NeedsYes,
    /// The setting of a backend means nothing.
    #[error("stack `{stack}`: {why}")]
    Backend {
        /// The stack.
        stack: String,
        /// What is wrong.
        why: String,
    },
    /// No cluster, or none that answers.
    #[error("{0}")]
    Cluster(RuntimeError),
    /// A saved plan does not fit.
    #[error("{0}")]
    SavedPlan(String),
    /// There is no such release.
    #[error("{stack} has no release {revision}; `kusion release list` shows which there are")]
    NoRelease {
        /// The stack.
        stack: StackKey,
        /// The revision that was asked for.
        revision: u64,
    },
    /// The stacks do not compile.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no key for secrets.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system gives us no threads.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
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
    /// The user or the system ended it.
    #[error("interrupted; nothing was changed")]
    Interrupted,
}

/// How a command that did not fail ended; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is as wanted.
    Success = 0,
    /// Something failed, and the user has seen what.
    Failed = 1,
    /// There are changes, and the user wants to know by the exit code.
    Changes = 3,
    /// The user or the system ended it.
    Interrupted = 130,
}

impl Exit {
    /// Returns the one that matters more: a failure, then changes.
    pub(crate) fn worse(self, other: Self) -> Self {
        let weight = |exit: Self| match exit {
            Self::Success => 0,
            Self::Changes => 1,
            Self::Failed => 2,
            Self::Interrupted => 3,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

impl Failure {
    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            _ => Exit::Failed,
        }
    }

    /// Says what to do about it, where the message does not.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Cluster(_) => Some("`--sandbox` uses an embedded cluster on this machine"),
            Self::Engine(EngineError::Store(StoreError::Held { .. })) => {
                Some("`--lock-wait 1m` waits for it")
            }
            _ => None,
        }
    }

    /// Makes the failure of a file operation.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
