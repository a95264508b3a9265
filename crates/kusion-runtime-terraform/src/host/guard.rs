//! Ends a provider with the process that started it.
//!
//! A provider must not stay behind if its parent is killed. Linux can send a process a signal when
//! its parent ends, but the process itself must ask for it, between fork and exec. Safe code cannot
//! run there. So our own program is started as a *guard*: it asks for the signal and then becomes
//! the provider.

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Says that the program is started as a guard, and for which parent.
const PARENT: &str = "KUSION_GUARD_PARENT";

/// A program that calls [`run_as_guard`] before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The program.
    pub program: PathBuf,
}

impl Guard {
    /// Returns the command that becomes `program`.
    pub(crate) fn command(&self, program: &std::path::Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(program);
        command
    }

    /// Returns the variable that makes the program a guard.
    pub(crate) fn variable() -> (&'static str, String) {
        (PARENT, std::process::id().to_string())
    }
}

/// Becomes a provider, if this process was started as a guard. Returns `None` if it was not, and an
/// exit code if the provider cannot be started.
pub fn run_as_guard() -> Option<ExitCode> {
    let parent = std::env::var(PARENT).ok()?;
    let mut arguments = std::env::args_os().skip(1);
    let program: OsString = arguments.next()?;
    // A failure means a system without such signals: the provider then ends when it is told to.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // The parent may have ended before the line above.
    let is_orphan =
        getppid().map(Pid::as_raw_nonzero).map(|it| it.get().to_string()) != Some(parent);
    if is_orphan {
        return Some(ExitCode::from(126));
    }
    // Only returns if it fails. The parent reports the code.
    let _ = Command::new(program).args(arguments).env_remove(PARENT).exec();
    Some(ExitCode::from(127))
}
