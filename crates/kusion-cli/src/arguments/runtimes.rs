//! What the user says about hosts and about runtimes that are programs.

use crate::failure::Failure;
use crate::home;
use base_plugin::{Guard, Launch, Limits, split_words};
use kusion_app::{UserConfig, is_program_type};
use kusion_runtime_host::Ssh;
use kusion_runtime_program::protocol::PROTOCOL;
use std::collections::BTreeMap;
use std::env::{self, var_os};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

/// How long a program may take for one answer. Infrastructures take long.
const ANSWER_TIME: Duration = Duration::from_mins(10);

/// Returns the programs of `config.yaml`.
pub(crate) fn programs(config: &UserConfig) -> Result<BTreeMap<String, Launch>, Failure> {
    let mut programs = BTreeMap::new();
    for (name, command) in &config.runtimes {
        if !is_program_type(name) {
            let message = format!(
                "invalid runtime `{name}` in config.yaml: expected a name of letters, digits, `-`, \
                 `_` and `.` that is not a type of kusion"
            );
            return Err(Failure::Usage(message));
        }
        programs.insert(name.clone(), launch(name, command)?);
    }
    Ok(programs)
}

/// Returns how the command of a runtime is started: in the folder of the user's data, with the user's
/// environment.
pub(crate) fn launch(name: &str, command: &str) -> Result<Launch, Failure> {
    let invalid =
        |why: String| Failure::Usage(format!("invalid command of runtime `{name}`: {why}"));
    let words = split_words(command).map_err(|error| invalid(error.to_string()))?;
    let guard = Guard::this_program().ok_or(Failure::NoHome)?;
    let folder = home::folder()?;
    let folder = if folder.is_dir() { folder } else { "/".into() };
    let environment = env::vars_os()
        .filter(|(name, _)| !is_ours(name))
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(Launch {
        title: format!("the runtime `{name}`"),
        words,
        folder,
        environment,
        protocol: PROTOCOL.to_owned(),
        limits: Limits { answer: ANSWER_TIME, ..Limits::default() },
        guard,
    })
}

/// Whether a variable is for kusion alone, such as the key of the user's secrets.
fn is_ours(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("KUSION_")
}

/// The environment variable with the configuration of `ssh`, instead of the user's own file.
const SSH_CONFIG: &str = "KUSION_SSH_CONFIG";

/// The longest path of the folder of sockets: the system limits their whole path.
const MAX_FOLDER: usize = 60;

/// Returns how hosts are reached: by the user's `ssh`, which knows keys, agents and jump hosts.
pub(crate) fn ssh() -> Ssh {
    let folder = env::temp_dir();
    let is_short = folder.as_os_str().len() <= MAX_FOLDER;
    Ssh {
        config: var_os(SSH_CONFIG).filter(|it| !it.is_empty()).map(PathBuf::from),
        environment: env::vars_os().filter(|(name, _)| !is_ours(name)).collect(),
        folder: if is_short { folder } else { "/tmp".into() },
        ..Ssh::default()
    }
}
