//! Errors of commands.

use crate::arguments::quoted;
use crate::commands::trust::described;
use kusion_app::AppError;
use kusion_app::trust::RiskySetting;
use kusion_engine::{EngineError, SavedPlanError};
use kusion_generate::GenerateError;
use kusion_model::{ResourceId, StackKey};
use kusion_runtime::RuntimeError;
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
    #[error("cannot start the sandbox on port {port}: {source}")]
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
    #[error("this command takes one stack, but {0} were found; pass the folder of one stack")]
    OneStack(usize),
    /// Several stacks would be changed, and the command line does not say so.
    #[error("{0}")]
    ManyStacks(Box<ManyStacks>),
    /// The name of a stack must be typed, but there is no terminal.
    #[error(
        "stack {0} has `confirm: name`: its name must be typed, and there is no terminal; pass \
         `--confirm {0}` to confirm"
    )]
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
    #[error("cannot ask for confirmation without a terminal; pass `--yes` to confirm")]
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
    #[error("{stack} has no release {revision}; run `kusion release list` to list them")]
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
    #[error("there is no state of {0}; run `kusion stack list` to list the stacks")]
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
            Self::OneStack(_) => "one-stack",
            Self::ManyStacks(_) => "many-stacks",
            Self::NeedsName(_) => "needs-name",
            Self::SomeFailed { .. } => "some-failed",
            Self::File { .. } | Self::Output(_) | Self::Exists(_) => "file",
            Self::Name(_)
            | Self::NotRunning(_)
            | Self::OtherNodes(_)
            | Self::Fault { .. }
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

    /// Returns the diagnostics of the compiler, if they are the cause.
    pub(crate) fn diagnostics(&self) -> Vec<Value> {
        match self {
            Self::Generate(error) => error.to_json(),
            _ => Vec::new(),
        }
    }

    /// Returns a hint that says how to fix the failure.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => of_engine(error),
            Self::App { error: AppError::Untrusted { settings, .. } } => {
                Some(of_untrusted(settings))
            }
            Self::App { error: AppError::Store(error) } | Self::Store(error) => of_store(error),
            Self::ManyStacks(many) => Some(format!(
                "name the folder of each stack or project, such as `kusion {command} {example}`, \
                 or pass `--all` to {command} all of them",
                command = many.command,
                example = many.example,
            )),
            Self::Moved(_) => Some("run the command again to see the current changes".to_owned()),
            _ => None,
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

/// Returns the hint for untrusted settings.
fn of_untrusted(settings: &[RiskySetting]) -> String {
    let mut folders: Vec<String> =
        settings.iter().map(|it| quoted(&it.folder.display().to_string())).collect();
    folders.dedup();
    format!(
        "if you trust the authors of this repository, run `kusion trust {}`, or pass `--trust` to \
         trust its settings once",
        folders.join(" ")
    )
}

/// Returns the hint for an error of the engine.
fn of_engine(error: &EngineError) -> Option<String> {
    let text = match error {
        EngineError::Store(error) => return of_store(error),
        EngineError::Runtime(RuntimeError::Unavailable(_)) => {
            "pass `--sandbox` to use an embedded cluster on this machine"
        }
        EngineError::Rejected(findings) if findings.iter().any(|it| it.is_conflict) => {
            "remove these fields from the stack, or pass `--force-conflicts` to take them over"
        }
        EngineError::OtherSource { .. } => {
            "if the files moved, run `kusion stack move DIR`; if these are two stacks, rename one \
             of them, or its project"
        }
        EngineError::OtherInfrastructure { .. } => {
            "if the stack moved to this cluster, pass `--move-to-cluster`; if it \
             runs on both clusters, pass `--place NAME` for the second one"
        }
        EngineError::SavedPlan(SavedPlanError::OtherKey { .. }) => SHARE_KEY,
        EngineError::SavedPlan(SavedPlanError::OtherStack { .. }) => {
            "pass the folder of that stack, and its `--sandbox` or `--place`"
        }
        EngineError::SavedPlan(SavedPlanError::NotAPlan(_)) => {
            "run `kusion preview --save FILE` to save a plan"
        }
        EngineError::SavedPlan(_) => "run `kusion preview --save FILE` to save a new plan",
        _ => return None,
    };
    Some(text.to_owned())
}

/// The hint on how to share the encryption key.
const SHARE_KEY: &str = "run `kusion key export` on the machine that has the key and `kusion \
 key import` here, or set `KUSION_KEY`";

/// Returns the hint for an error of a store.
fn of_store(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Held { .. } => "pass `--lock-wait 1m` to wait for the lock".to_owned(),
        StoreError::OtherKey { .. } => {
            format!(
                "{SHARE_KEY}; if the key is lost, run `kusion key replace --lost` (with the same \
                 `--backend`, if you passed one) to use a new one"
            )
        }
        StoreError::Older { .. } => {
            "run `kusion state set-aside` (with the same `--backend`, if you \
         passed one) to move the data away; the next apply then adopts the live resources"
                .to_owned()
        }
        StoreError::Newer { .. } => "install a newer version of kusion".to_owned(),
        _ => return None,
    })
}
