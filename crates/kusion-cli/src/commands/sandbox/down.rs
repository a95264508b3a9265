//! `kusion sandbox down`.

use super::lock;
use crate::arguments::duration;
use crate::daemon::{Daemon, Reply, folders};
use crate::failure::Failure;
use crate::home;
use crate::view::{self, Output};
use kusion_app::wire::SandboxEnd;
use std::fs;
use std::time::{Duration, Instant};

/// Default timeout of stopping a sandbox.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Timeout of a killed process to end.
const DYING: Duration = Duration::from_secs(10);

/// Arguments of `kusion sandbox down`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the sandbox
    #[arg(long, default_value = "default", conflicts_with = "all")]
    name: String,
    /// Stop all sandboxes
    #[arg(long)]
    all: bool,
    /// Time to wait for the sandbox to stop before it is killed
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    timeout: Duration,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// The result of stopping a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was not running.
    WasNotRunning,
    /// It stopped.
    Stopped,
    /// It did not stop in time, and was killed.
    Killed,
}

/// Stops sandboxes; succeeds if they are not running.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if !args.all {
        let end = down(&args.name, args.timeout)?;
        return view::result(&report(args.output, &args.name, end));
    }
    let names = folders()?;
    if names.is_empty() && args.output == Output::Text {
        return view::result("no sandboxes\n");
    }
    for name in names {
        let end = down(&name, args.timeout)?;
        view::result(&report(args.output, &name, end))?;
    }
    Ok(())
}

/// Stops a sandbox, and deletes its folder.
fn down(name: &str, patience: Duration) -> Result<End, Failure> {
    let folder = home::sandbox(name)?;
    let _lock = lock::command(name)?;
    let end = match Daemon::load(name)? {
        Some(state) => stop(&state, patience)?,
        None => End::WasNotRunning,
    };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Failure::file("remove", &folder))?;
    }
    Ok(end)
}

fn report(output: Output, name: &str, end: End) -> String {
    match (output, end) {
        (Output::Json, end) => {
            let (stopped, killed) = (end != End::WasNotRunning, end == End::Killed);
            let end = SandboxEnd { name: name.to_owned(), stopped, killed };
            format!("{}\n", serde_json::to_string(&end).unwrap_or_default())
        }
        (Output::Text, End::Stopped) => format!("sandbox `{name}` is stopped\n"),
        (Output::Text, End::WasNotRunning) => format!("sandbox `{name}` was not running\n"),
        (Output::Text, End::Killed) => {
            format!("sandbox `{name}` did not stop in time and was killed\n")
        }
    }
}

/// Stops a sandbox, and kills it if it does not stop in time.
pub(crate) fn stop(state: &Daemon, patience: Duration) -> Result<End, Failure> {
    let end = Instant::now() + patience;
    let reply = state.order("stop", patience);
    if reply == Reply::Gone {
        return Ok(End::WasNotRunning);
    }
    if is_gone_by(state, end) {
        return Ok(End::Stopped);
    }
    // Only a sandbox knows its secret, so a valid reply proves that the process is a sandbox.
    let is_sandbox = reply == Reply::Accepted || is_command_of(state);
    if is_sandbox && kill(state.pid) && is_gone_by(state, Instant::now() + DYING) {
        return Ok(End::Killed);
    }
    Err(Failure::Stuck { name: state.name.clone(), pid: state.pid })
}

/// Waits until the control port is closed: the system closes it after freeing the memory of the
/// process.
fn is_gone_by(state: &Daemon, end: Instant) -> bool {
    let mut pause = Duration::from_millis(1);
    while state.listens() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    true
}

/// Returns whether the process that the state names runs a sandbox of that name.
fn is_command_of(state: &Daemon) -> bool {
    let command = fs::read(format!("/proc/{}/cmdline", state.pid)).unwrap_or_default();
    let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
    let has = |word: &[u8]| words.contains(&word);
    has(b"sandbox") && has(b"up") && has(state.name.as_bytes())
}

#[cfg(unix)]
fn kill(pid: u32) -> bool {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    // Smaller numbers are the first process of the system, or whole groups.
    i32::try_from(pid).is_ok_and(|pid| pid > 1 && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
}

#[cfg(windows)]
fn kill(pid: u32) -> bool {
    let pid = pid.to_string();
    let done = std::process::Command::new("taskkill").args(["/F", "/PID", &pid]).status();
    done.is_ok_and(|status| status.success())
}
