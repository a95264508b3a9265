//! Why a command stopped.

use kusion_app::AppError;
use kusion_engine::{EngineError, SavedPlanError};
use kusion_generate::GenerateError;
use kusion_model::{ResourceId, StackKey};
use kusion_runtime::RuntimeError;
use kusion_secret::KeyError;
use kusion_store::StoreError;
use serde_json::Value;
use std::path::PathBuf;

/// A failure that the user can do something about.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The data folder is unknown.
    #[error("no home folder found; set KUSION_HOME to the folder for local data")]
    NoHome,
    /// A sandbox cannot have this name.
    #[error("invalid sandbox name `{0}`: use up to 40 lower-case letters, digits and dashes")]
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
    /// Several stacks were found where one is needed.
    #[error("this command takes one stack, but {0} were found; pass the folder of one stack")]
    OneStack(usize),
    /// There is nobody to ask.
    #[error("nothing was changed: there is no terminal to ask on; pass `--yes` to agree")]
    NeedsYes,
    /// The variable for the log cannot be read.
    #[error(
        "invalid `KUSION_LOG` value `{0}`: expected a level (`error`, `warn`, `info`, `debug`, \
         `trace`) or `kusion_engine=debug,kusion_store=info`"
    )]
    Log(String),
    /// The user said no.
    #[error("cancelled; nothing was changed")]
    Declined,
    /// A stack cannot be opened.
    #[error(transparent)]
    App(#[from] AppError),
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

    /// Returns a short name of the kind of failure, for programs. Names stay.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) => error.code(),
            Self::App(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Generate(_) => "compile",
            Self::Key(_) => "key",
            Self::NoRelease { .. } => "no-such-release",
            Self::NeedsYes => "needs-yes",
            Self::Declined => "declined",
            Self::Interrupted => "interrupted",
            Self::OneStack(_) => "one-stack",
            Self::File { .. } | Self::Output(_) | Self::Exists(_) => "file",
            Self::Name(_)
            | Self::NotRunning(_)
            | Self::Unknown(_)
            | Self::Start { .. }
            | Self::Background(_)
            | Self::Stuck { .. } => "sandbox",
            Self::NoHome | Self::Threads(_) | Self::Log(_) => "system",
            Self::Graph(_) => "graph",
            Self::Template { .. } => "no-such-template",
        }
    }

    /// Returns the resources that the failure is about.
    pub(crate) fn subjects(&self) -> Vec<&ResourceId> {
        match self {
            Self::Engine(error) => error.subjects(),
            _ => Vec::new(),
        }
    }

    /// Returns what a compiler found, where that is the reason.
    pub(crate) fn diagnostics(&self) -> Vec<Value> {
        match self {
            Self::Generate(error) => error.to_json(),
            _ => Vec::new(),
        }
    }

    /// Says what to do about it, where the message does not.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => of_engine(error),
            Self::App(AppError::Store(error)) | Self::Store(error) => of_store(error),
            _ => None,
        }
    }

    /// Makes the failure of an operation on a release: one that is missing is named with its
    /// stack.
    pub(crate) fn of_release(error: EngineError, stack: &StackKey) -> Self {
        match error {
            EngineError::NoRelease { revision } => {
                Self::NoRelease { stack: stack.clone(), revision }
            }
            other => Self::Engine(other),
        }
    }

    /// Does the same with a failure that was made already.
    pub(crate) fn about_release(self, stack: &StackKey) -> Self {
        match self {
            Self::Engine(error) => Self::of_release(error, stack),
            other => other,
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

/// Says what to do about an error of the engine.
fn of_engine(error: &EngineError) -> Option<String> {
    let text = match error {
        EngineError::Store(error) => return of_store(error),
        EngineError::Runtime(RuntimeError::Unavailable(_)) => {
            "`--sandbox` uses an embedded cluster on this machine"
        }
        EngineError::Rejected(findings) if findings.iter().any(|it| it.is_conflict) => {
            "leave these fields out, or take them over with `--force-conflicts`"
        }
        EngineError::OtherInfrastructure { .. } => {
            "if the stack has moved, pass `--move-to-cluster`; if it is on both, give the second \
             place a name with `--place NAME`"
        }
        EngineError::SavedPlan(SavedPlanError::OtherKey { .. }) => SHARE_KEY,
        EngineError::SavedPlan(SavedPlanError::OtherStack { .. }) => {
            "pass the folder of that stack, and its `--sandbox` or `--place`"
        }
        EngineError::SavedPlan(SavedPlanError::NotAPlan(_)) => {
            "`kusion preview --save FILE` writes one"
        }
        EngineError::SavedPlan(_) => "make the plan again with `kusion preview --save FILE`",
        _ => return None,
    };
    Some(text.to_owned())
}

/// How a key gets to another machine.
const SHARE_KEY: &str = "`kusion key export` on the machine that has the key and `kusion key \
                         import` here share it, or set `KUSION_KEY`";

/// Says what to do about an error of a store.
fn of_store(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Held { .. } => "`--lock-wait 1m` waits for it".to_owned(),
        StoreError::OtherKey { .. } => {
            format!("{SHARE_KEY}; if the key is lost, `kusion key replace --lost` starts a new one")
        }
        StoreError::Older { .. } => "`kusion state set-aside` moves it out of the way; the next \
                                     apply then adopts what is running"
            .to_owned(),
        StoreError::Newer { .. } => "use a newer version of kusion".to_owned(),
        _ => return None,
    })
}
