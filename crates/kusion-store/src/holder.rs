//! Lock holders, and whether their processes are still running.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

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
    /// Boot id of the machine and PID namespace; empty if unknown.
    #[serde(default)]
    pub machine: String,
    /// Its command.
    pub command: String,
}

/// Status of the process of a lock holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderStatus {
    /// Running or paused on this machine.
    Here,
    /// Ended; it ran on this machine.
    Dead,
    /// On another machine, or unknown.
    Elsewhere,
}

impl Holder {
    /// Describes this process.
    pub fn current(command: impl Into<String>) -> Self {
        let pid = std::process::id();
        Self {
            user: user(),
            host: host(),
            pid,
            started: process(pid).map_or(0, |it| it.started),
            machine: machine(),
            command: command.into(),
        }
    }

    /// Returns the status of the process, as far as it is known on this machine.
    pub(crate) fn life(&self) -> HolderStatus {
        if self.machine.is_empty() || self.machine != machine() || self.host != host() {
            return HolderStatus::Elsewhere;
        }
        match process(self.pid) {
            Some(found) if found.started == self.started && !found.ended => HolderStatus::Here,
            _ => HolderStatus::Dead,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} (process {}, `{}`)", self.user, self.host, self.pid, self.command)
    }
}

/// Returns the seconds since boot, including suspended time; the same for all processes of the
/// machine.
#[cfg(target_os = "linux")]
pub(crate) fn uptime() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_BOOTTIME)
        .map_or(0.0, |it| std::time::Duration::from(it).as_secs_f64())
}

/// Returns the seconds since the first call: on this platform, other processes are judged only by
/// whether they renew their leases.
#[cfg(not(target_os = "linux"))]
pub(crate) fn uptime() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}

struct Process {
    started: u64,
    ended: bool,
}

/// Looks a process up in the table of the system.
fn process(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain any character.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut words = after_name.split_ascii_whitespace();
    let ended = matches!(words.next()?, "Z" | "X" | "x");
    let started = words.nth(18)?.parse().ok()?;
    Some(Process { started, ended })
}

fn machine() -> String {
    let Some(boot) = first_word("/proc/sys/kernel/random/boot_id") else { return String::new() };
    match std::fs::read_link(Path::new("/proc/self/ns/pid")) {
        Ok(numbers) => format!("{boot}/{}", numbers.display()),
        Err(_) => String::new(),
    }
}

fn host() -> String {
    first_word("/proc/sys/kernel/hostname")
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "unknown".to_owned())
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

fn first_word(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.split_ascii_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_here() {
        let me = Holder::current("test");
        assert_eq!(me.life(), HolderStatus::Here);
        assert!(me.to_string().contains(&format!("process {}, `test`", me.pid)));
    }

    #[test]
    fn a_process_that_ended_is_dead() {
        let mut child = std::process::Command::new("true").spawn().expect("`true` runs");
        let mut holder = Holder { pid: child.id(), ..Holder::current("test") };
        holder.started = process(child.id()).map_or(0, |it| it.started);
        child.wait().expect("the child ends");
        assert_eq!(holder.life(), HolderStatus::Dead);
    }

    #[test]
    fn another_process_with_the_same_number_is_not_the_holder() {
        let mut holder = Holder::current("test");
        holder.started += 1;
        assert_eq!(holder.life(), HolderStatus::Dead);
    }

    #[test]
    fn a_process_of_another_machine_is_elsewhere() {
        let mut holder = Holder::current("test");
        holder.machine.push('x');
        assert_eq!(holder.life(), HolderStatus::Elsewhere);
    }
}
