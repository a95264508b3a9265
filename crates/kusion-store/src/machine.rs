//! What a store knows about the machine it runs on: clocks and processes.
//!
//! A trait, so that a test can run many processes, machines and namespaces in one process.

use std::path::Path;
use std::time::Duration;

/// The state of a process id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Process {
    /// Whether a process has this id; `None` if the system does not say.
    pub(crate) exists: Option<bool>,
    /// Its start time, in ticks since boot; `None` if it is hidden from this process.
    pub(crate) started: Option<u64>,
    /// Whether it has ended and only waits for its parent.
    pub(crate) ended: bool,
}

/// Clocks and processes of a machine.
pub(crate) trait Machine: Send + Sync {
    /// Returns the name of the machine, for display and comparison.
    fn host(&self) -> String;

    /// Returns boot id, PID namespace and time namespace; empty if unknown. Process ids, start
    /// times and uptimes are comparable only if it is equal.
    fn id(&self) -> String;

    /// Returns the seconds since boot, including suspended time; the same for all processes with
    /// the same [`Machine::id`].
    fn uptime(&self) -> f64;

    /// Returns the time since any fixed moment, excluding suspended time.
    fn elapsed(&self) -> Duration;

    /// Looks up a process id in the PID namespace of this process.
    fn process(&self, pid: u32) -> Process;
}

/// The machine that this process runs on.
pub(crate) struct System;

impl Machine for System {
    fn host(&self) -> String {
        first_word("/proc/sys/kernel/hostname")
            .or_else(|| std::env::var("HOSTNAME").ok())
            .unwrap_or_else(|| "unknown".to_owned())
    }

    fn id(&self) -> String {
        let boot = first_word("/proc/sys/kernel/random/boot_id");
        let pids = std::fs::read_link(Path::new("/proc/self/ns/pid"));
        let (Some(boot), Ok(pids)) = (boot, pids) else { return String::new() };
        // Kernels before 5.6 have no time namespaces.
        let times = std::fs::read_link(Path::new("/proc/self/ns/time")).unwrap_or_default();
        format!("{boot}/{}/{}", pids.display(), times.display())
    }

    fn uptime(&self) -> f64 {
        uptime()
    }

    fn elapsed(&self) -> Duration {
        use std::sync::OnceLock;
        use std::time::Instant;
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    }

    fn process(&self, pid: u32) -> Process {
        let exists = exists(pid);
        if exists == Some(false) || !shows_own_processes() {
            return Process { exists, ..Process::default() };
        }
        let Some((started, ended)) = stat(&pid.to_string()) else {
            return Process { exists, ..Process::default() };
        };
        Process { exists, started: Some(started), ended }
    }
}

/// Returns the start time of this process; 0 if it is unknown.
pub(crate) fn own_start() -> u64 {
    stat("self").map_or(0, |it| it.0)
}

/// Asks the system whether a process exists in the PID namespace of this process. A process of
/// another user exists, too, even if `/proc` hides it.
#[cfg(target_os = "linux")]
fn exists(pid: u32) -> Option<bool> {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    // 0 and negative numbers are groups of processes.
    let pid = i32::try_from(pid).ok().filter(|it| *it > 0)?;
    match kill(Pid::from_raw(pid), None) {
        Ok(()) | Err(Errno::EPERM) => Some(true),
        Err(Errno::ESRCH) => Some(false),
        Err(_) => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn exists(_: u32) -> Option<bool> {
    None
}

/// Whether `/proc` shows the PID namespace of this process, not that of a parent.
fn shows_own_processes() -> bool {
    let own = std::fs::read_link("/proc/self");
    own.is_ok_and(|it| it.as_os_str() == std::process::id().to_string().as_str())
}

/// Reads the start time of a process and whether it has ended.
fn stat(process: &str) -> Option<(u64, bool)> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

fn parse_stat(stat: &str) -> Option<(u64, bool)> {
    // The name of the program is in parentheses and may contain anything.
    let (_, after_name) = stat.rsplit_once(')')?;
    let words: Vec<&str> = after_name.split_ascii_whitespace().collect();
    // The first thread may end before the others: then the process has not ended.
    let threads: u64 = words.get(17)?.parse().ok()?;
    let ended = matches!(*words.first()?, "Z" | "X" | "x") && threads <= 1;
    Some((words.get(19)?.parse().ok()?, ended))
}

/// Returns the seconds since boot, including suspended time.
#[cfg(target_os = "linux")]
fn uptime() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(0.0, |it| Duration::from(it).as_secs_f64())
}

/// Returns the seconds since the first call: on this platform, other processes are judged only by
/// whether they renew their leases.
#[cfg(not(target_os = "linux"))]
fn uptime() -> f64 {
    System.elapsed().as_secs_f64()
}

fn first_word(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.split_ascii_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_whose_first_thread_ended_has_not_ended() {
        let line = |state: &str, threads: u8| {
            format!("7 (a ) b) {state} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4242 0 0")
        };
        assert_eq!(parse_stat(&line("S", 3)), Some((4242, false)));
        assert_eq!(parse_stat(&line("Z", 3)), Some((4242, false)));
        assert_eq!(parse_stat(&line("Z", 1)), Some((4242, true)));
        assert_eq!(parse_stat("7 (a) S 1"), None);
    }

    #[test]
    fn a_process_that_ended_and_was_not_waited_for_has_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while System.process(child.id()).exists == Some(true) && !System.process(child.id()).ended {
            std::thread::yield_now();
        }
        assert_eq!(System.process(child.id()).exists, Some(true), "not waited for yet");
        child.wait().unwrap();
        assert_eq!(System.process(child.id()).exists, Some(false));
    }
}
