//! Errors of commands.

mod hint;

use crate::commands::trust::described;
use kusion_app::AppError;
use kusion_engine::{EngineError, Finding, SavedPlanError};
use kusion_generate::GenerateError;
use kusion_model::{ResourceId, StackKey};
use kusion_secret::KeyError;
use kusion_store::StoreError;
use serde_json::Value;
use std::path::PathBuf;

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The data folder is unknown.
    #[error("cannot find the home folder; set `KUSION_HOME` to a folder for local data")]
    NoHome,
    /// A sandbox cannot have this name.
    #[error("invalid sandbox name `{0}`: use up to 40 lower-case letters, digits and dashes")]
    Name(String),
    /// The sandbox is not running.
    #[error("sandbox `{0}` is not running; start it with `kusion sandbox up --name {0}`")]
    NotRunning(String),
    /// The sandbox is running with other nodes.
    #[error(
        "sandbox `{0}` is already running with other nodes; stop it with `kusion sandbox down \
         --name {0}` first"
    )]
    OtherNodes(String),
    /// The sandbox is running with other objects.
    #[error(
        "sandbox `{0}` is already running; `--data` and `--from` are for a new one: stop it with \
         `kusion sandbox down --name {0}` first, or choose another `--name`"
    )]
    OtherContent(String),
    /// The data folder is deleted with sandboxes.
    #[error(
        "the data folder `{}` is in a folder that `kusion sandbox down` deletes; choose another \
         `--data`", .0.display()
    )]
    DataFolder(PathBuf),
    /// The objects of a cluster cannot be copied.
    #[error("cannot copy the cluster of `{}`: {why}", kubeconfig.display())]
    Copy {
        /// The kubeconfig of the cluster.
        kubeconfig: PathBuf,
        /// The reason.
        why: String,
    },
    /// The sandbox cannot commit a fault.
    #[error("sandbox `{name}` rejects the fault: {why}")]
    Fault {
        /// The sandbox.
        name: String,
        /// The reason.
        why: String,
    },
    /// The sandbox was never started.
    #[error("sandbox `{0}` does not exist; start it with `kusion sandbox up --name {0}`")]
    Unknown(String),
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The operation, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The server cannot start.
    #[error("cannot start the sandbox{}: {source}", on_port(*port))]
    Start {
        /// The requested port.
        port: u16,
        /// The cause.
        source: std::io::Error,
    },
    /// The background process ended or did not answer.
    #[error("the sandbox did not start: {0}")]
    Background(String),
    /// The sandbox cannot be stopped.
    #[error("cannot stop sandbox `{name}` (process {pid}); end the process manually")]
    Stuck {
        /// Its name.
        name: String,
        /// Its process.
        pid: u32,
    },
    /// Output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(std::io::Error),
    /// Several stacks were found where one is expected.
    #[error("this command takes one stack, but {count} were found")]
    OneStack {
        /// The number of stacks.
        count: usize,
        /// The folder of one of them, as it is typed.
        example: String,
    },
    /// No stack with cells was found.
    #[error("no stack with cells was found: `cells` in stack.yaml names the cells of a stack")]
    NoCells,
    /// The layers of a stack cannot be read.
    #[error("{0}")]
    Layers(String),
    /// A stack has several cells where one is expected.
    #[error("this command takes one cell of a stack, but {count} were found")]
    OneCell {
        /// The number of cells.
        count: usize,
        /// The name of one of them.
        example: String,
    },
    /// The command line is not valid, which its parser could not tell.
    #[error("{0}")]
    Usage(String),
    /// A command that starts no new sandboxes names one that does not exist.
    #[error("sandbox `{name}` does not exist")]
    NewSandbox {
        /// The name.
        name: String,
        /// The similar name of a sandbox that exists.
        near: Option<String>,
    },
    /// Several stacks would be changed, and the command line does not say so.
    #[error("{0}")]
    ManyStacks(Box<ManyStacks>),
    /// The name of a stack must be typed, but there is no terminal.
    #[error("stack {0} has `confirm: name`: its name must be typed, and there is no terminal")]
    NeedsName(String),
    /// Some of several stacks failed; their failures were already reported.
    #[error("{} of {n_stacks} stacks failed: {}", .failed.len(), .failed.join(", "))]
    SomeFailed {
        /// The names of the stacks.
        failed: Vec<String>,
        /// The number of all stacks.
        n_stacks: usize,
    },
    /// Confirmation is required, but there is no terminal.
    #[error("cannot ask for confirmation without a terminal")]
    NeedsYes,
    /// The variable `KUSION_LOG` is invalid.
    #[error(
        "invalid `KUSION_LOG` value `{0}`: expected a level (`error`, `warn`, `info`, `debug`, \
         `trace`) or `kusion_engine=debug,kusion_store=info`"
    )]
    Log(String),
    /// The user declined.
    #[error("cancelled; nothing was changed")]
    Declined,
    /// Something changed between the plan and its confirmation.
    #[error("{0}; nothing was applied")]
    Moved(SavedPlanError),
    /// A stack cannot be opened.
    #[error("{error}{}", details(.error))]
    App {
        /// The cause.
        #[from]
        error: AppError,
    },
    /// The release does not exist.
    #[error("{stack} has no release {revision}")]
    NoRelease {
        /// The stack.
        stack: StackKey,
        /// The requested revision.
        revision: u64,
    },
    /// No release was seen ready.
    #[error("no earlier release of {stack} was seen ready; pass the revision to roll back to:\n{}", releases.trim_end())]
    NoReadyRelease {
        /// The stack.
        stack: Box<StackKey>,
        /// The table of its releases.
        releases: String,
    },
    /// The store has no such stack.
    #[error("there is no state of {0}")]
    NoStack(StackKey),
    /// The stacks do not compile.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The encryption key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
    /// Resources do not form a valid dependency graph.
    #[error("{0}")]
    Graph(String),
    /// The template does not exist.
    #[error("unknown template `{name}`; expected one of: {known}")]
    Template {
        /// The requested template.
        name: String,
        /// The names of all templates.
        known: String,
    },
    /// A file would be overwritten.
    #[error("{} already exists; nothing was written", .0.display())]
    Exists(PathBuf),
    /// A Terraform provider cannot be used.
    #[error("{0}")]
    Provider(String),
    /// Interrupted by the user or the system.
    #[error("interrupted; nothing was changed")]
    Interrupted,
}

/// Several stacks that a command would change.
#[derive(Debug)]
pub(crate) struct ManyStacks {
    /// The command: `apply`.
    pub(crate) command: &'static str,
    /// The names of the stacks.
    pub(crate) names: Vec<String>,
    /// The folder of one of them, as it is typed.
    pub(crate) example: String,
}

impl std::fmt::Display for ManyStacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 20;
        write!(f, "{} stacks were found, and `--all` was not passed:", self.names.len())?;
        for name in self.names.iter().take(MOST) {
            write!(f, "\n  {name}")?;
        }
        match self.names.len().saturating_sub(MOST) {
            0 => Ok(()),
            count => write!(f, "\n  and {count} more"),
        }
    }
}

/// Result of a command; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success = 0,
    /// Failed, and the failure was already reported.
    Failed = 1,
    /// The command line is not valid.
    Usage = 2,
    /// There are changes, and the exit code was requested to tell.
    Changes = 3,
    /// Interrupted by the user or the system.
    Interrupted = 130,
}

impl Exit {
    /// Returns the more severe result: failures before changes.
    pub(crate) fn worse(self, other: Self) -> Self {
        let weight = |exit: Self| match exit {
            Self::Success => 0,
            Self::Changes => 1,
            Self::Failed => 2,
            Self::Usage => 3,
            Self::Interrupted => 4,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

impl Failure {
    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Usage(_) => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    /// Returns the error code, for programs. Codes are stable.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) => error.code(),
            Self::App { error } => error.code(),
            Self::Store(error) => error.code(),
            Self::Generate(_) => "compile",
            Self::Key(_) => "key",
            Self::NoRelease { .. } => "no-such-release",
            Self::NoStack(_) => "no-such-stack",
            Self::NoReadyRelease { .. } => "no-ready-release",
            Self::Moved(error) => error.code(),
            Self::NeedsYes => "needs-yes",
            Self::Declined => "declined",
            Self::Interrupted => "interrupted",
            Self::OneStack { .. } => "one-stack",
            Self::OneCell { .. } => "one-cell",
            Self::NoCells => "no-cells",
            Self::Layers(_) => "layers",
            Self::Usage(_) => "usage",
            Self::ManyStacks(_) => "many-stacks",
            Self::NeedsName(_) => "needs-name",
            Self::SomeFailed { .. } => "some-failed",
            Self::File { .. } | Self::Output(_) | Self::Exists(_) => "file",
            Self::Name(_)
            | Self::NotRunning(_)
            | Self::OtherNodes(_)
            | Self::OtherContent(_)
            | Self::DataFolder(_)
            | Self::Copy { .. }
            | Self::Fault { .. }
            | Self::Unknown(_)
            | Self::NewSandbox { .. }
            | Self::Start { .. }
            | Self::Background(_)
            | Self::Stuck { .. } => "sandbox",
            Self::NoHome | Self::Threads(_) | Self::Log(_) => "system",
            Self::Graph(_) => "graph",
            Self::Provider(_) => "provider",
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

    /// Returns the problems of resources, if they are the cause.
    pub(crate) fn findings(&self) -> &[Finding] {
        match self {
            Self::Engine(EngineError::Rejected(findings) | EngineError::References(findings)) => {
                findings
            }
            _ => &[],
        }
    }

    /// Returns the diagnostics of the compiler, if they are the cause.
    pub(crate) fn diagnostics(&self) -> Vec<Value> {
        match self {
            Self::Generate(error) => error.to_json(),
            _ => Vec::new(),
        }
    }

    /// Converts the error of an operation on a release: a missing release is reported with its
    /// stack.
    pub(crate) fn of_release(error: EngineError, stack: &StackKey) -> Self {
        match error {
            EngineError::NoRelease { revision } => {
                Self::NoRelease { stack: stack.clone(), revision }
            }
            other => Self::Engine(other),
        }
    }

    /// Does the same for an existing failure.
    pub(crate) fn about_release(self, stack: &StackKey) -> Self {
        match self {
            Self::Engine(error) => Self::of_release(error, stack),
            other => other,
        }
    }

    /// Returns a function that creates the failure of a file operation.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}

/// Returns the lines below the message of an error.
fn details(error: &AppError) -> String {
    match error {
        AppError::Untrusted { settings, .. } => {
            format!(":\n{}", described(settings).trim_end_matches('\n'))
        }
        _ => String::new(),
    }
}

/// Names the port of a server that cannot start, if one was chosen.
fn on_port(port: u16) -> String {
    if port == 0 { String::new() } else { format!(" on port {port}") }
}
