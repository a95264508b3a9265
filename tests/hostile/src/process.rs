//! Processes under hard limits.

use crate::{Finished, Place};
use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// When a process is killed.
pub const LIMIT_SECONDS: u64 = 10;
/// The limit of address space of a process.
pub const LIMIT_BYTES: u64 = 1 << 30;
/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a shell script in the working folder of a place, in an environment of its own, with all of
/// its children under the limits.
pub fn shell(
    place: &Place,
    binaries: &Path,
    script: &str,
    variables: &[(&str, String)],
) -> Result<Finished> {
    let log = place.folder.join("output");
    let output = File::create(&log)?;
    let limited = format!("ulimit -c 0; ulimit -v {}\n{script}", LIMIT_BYTES / 1024);
    let home = place.folder.join("home");
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(place.work())
        .env_clear()
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", binaries.display()))
        .env("HOME", &home)
        .env("KUSION_HOME", home.join("kusion"))
        .env("KUBECONFIG", home.join("no-kubeconfig"))
        .env("TMPDIR", place.folder.join("tmp"))
        .env("LC_ALL", "C.UTF-8")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()
        .context("cannot start a shell")?;
    let start = Instant::now();
    let group = Pid::from_raw(child.id() as i32);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > Duration::from_secs(LIMIT_SECONDS) {
            break None;
        }
        thread::sleep(LOOK);
    };
    // Also what the script left behind.
    let _ = killpg(group, Signal::SIGKILL);
    let Some(status) = status else {
        child.wait()?;
        return finished(&log, None);
    };
    finished(&log, status.code().or(status.signal().map(|it| 128 + it)))
}

fn finished(log: &Path, code: Option<i32>) -> Result<Finished> {
    let text = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    Ok(Finished { code, text })
}

/// Returns the most memory, in bytes, that a process had that was started and waited for.
pub fn peak_of_children() -> u64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss() as u64 * 1024)
}
