//! Lock holders, and whether their processes are still running.

use crate::machine::{self, Machine, System};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The process that holds the lock of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// The user's name.
    pub user: String,
    /// The machine's name.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Start time of the process, in ticks since boot, which distinguishes it from another process
    /// with the same id.
    #[serde(default)]
    pub started: u64,
    /// Boot id of the machine, PID and time namespace; empty if unknown.
    #[serde(default)]
    pub machine: String,
    /// Its command.
    pub command: String,
    /// Whether it holds the lock for a moment only, to record what it saw: others wait for it even
    /// if they do not wait for locks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_brief: bool,
}

/// Status of the process of a lock holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Running or paused on this machine.
    Here,
    /// Certainly ended; it ran on this machine.
    Dead,
    /// On another machine, or unknown.
    Elsewhere,
}

impl Holder {
    /// Describes this process.
    pub fn current(command: impl Into<String>) -> Self {
        Self {
            user: user(),
            host: System.host(),
            pid: std::process::id(),
            started: machine::own_start(),
            machine: System.id(),
            command: command.into(),
            is_brief: false,
        }
    }

    /// Returns this holder, for a lock that lasts a moment only.
    #[must_use]
    pub fn briefly(self) -> Self {
        Self { is_brief: true, ..self }
    }

    /// Returns the status of the process, as far as it is known on a machine.
    ///
    /// Only certainty counts as dead: the lock of a dead holder is taken over without waiting.
    /// A process that is hidden from this one, as `hidepid` does, may be the holder or another one
    /// with the same id, so that its lease decides.
    pub(crate) fn life(&self, on: &dyn Machine) -> Life {
        if self.machine.is_empty() || self.machine != on.id() || self.host != on.host() {
            return Life::Elsewhere;
        }
        let found = on.process(self.pid);
        match found.started {
            _ if found.exists == Some(false) => Life::Dead,
            None => Life::Elsewhere,
            Some(_) if self.started == 0 => Life::Elsewhere,
            Some(started) if started != self.started || found.ended => Life::Dead,
            Some(_) => Life::Here,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} (process {}, `{}`)", self.user, self.host, self.pid, self.command)
    }
}

fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()))
        .or_else(user_of_process)
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Finds the name of the user that owns this process.
fn user_of_process() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let table = std::fs::read_to_string("/etc/passwd").ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == owner).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Process;
    use std::time::Duration;

    /// This machine, with another view of processes.
    struct View(Process);

    impl Machine for View {
        fn host(&self) -> String {
            System.host()
        }

        fn id(&self) -> String {
            System.id()
        }

        fn uptime(&self) -> f64 {
            System.uptime()
        }

        fn elapsed(&self) -> Duration {
            System.elapsed()
        }

        fn process(&self, _: u32) -> Process {
            self.0
        }
    }

    #[test]
    fn this_process_lives_here() {
        let me = Holder::current("test");
        assert_eq!(me.life(&System), Life::Here);
        assert!(me.to_string().contains(&format!("process {}, `test`", me.pid)));
    }

    #[test]
    fn a_process_that_ended_is_dead() {
        let mut child = std::process::Command::new("true").spawn().expect("`true` runs");
        let holder = Holder { pid: child.id(), ..Holder::current("test") };
        child.wait().expect("the child ends");
        assert_eq!(holder.life(&System), Life::Dead);
    }

    #[test]
    fn another_process_with_the_same_number_is_not_the_holder() {
        let mut holder = Holder::current("test");
        holder.started += 1;
        assert_eq!(holder.life(&System), Life::Dead);
    }

    #[test]
    fn only_certainty_counts_as_dead() {
        let holder = Holder { started: 7, ..Holder::current("test") };
        let without_start = Holder { started: 0, ..holder.clone() };
        let process = |exists, started, ended| View(Process { exists, started, ended });
        for (view, life) in [
            (process(Some(true), Some(7), false), Life::Here),
            (process(None, Some(7), false), Life::Here),
            (process(Some(true), Some(7), true), Life::Dead),
            (process(Some(true), Some(8), false), Life::Dead),
            (process(Some(false), None, false), Life::Dead),
            // Hidden, as with `hidepid=2`: the holder, or another process with its id.
            (process(Some(true), None, false), Life::Elsewhere),
            (process(None, None, false), Life::Elsewhere),
        ] {
            assert_eq!(holder.life(&view), life, "{:?}", view.0);
        }
        let unknown = process(Some(true), Some(8), false);
        assert_eq!(without_start.life(&unknown), Life::Elsewhere);
    }

    #[test]
    fn a_process_of_another_machine_is_elsewhere() {
        let mut holder = Holder::current("test");
        holder.machine.push('x');
        assert_eq!(holder.life(&System), Life::Elsewhere);
    }
}
