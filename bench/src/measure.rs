//! What one process costs.
//!
//! A process of our own stands between: it starts the one to be measured, waits for it and
//! asks the system what its children used, so that neither earlier runs nor this program's own
//! size are counted.

use anyhow::{Context as _, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

/// The word by which this program knows that it is the one between.
pub(crate) const COMMAND: &str = "measure";

/// A command to be run in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// Where it runs.
    pub(crate) folder: PathBuf,
    /// Whether caches on disk are left on.
    pub(crate) warm: bool,
}

/// What a process cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Time on all cores, in milliseconds.
    pub(crate) cpu: f64,
    /// Time on the clock, in milliseconds.
    pub(crate) wall: f64,
    /// The most memory it held, in megabytes.
    pub(crate) memory: f64,
}

impl Run {
    /// Runs the command once; its output goes to a file, or nowhere.
    ///
    /// # Errors
    ///
    /// If the command can't be started, fails, or takes longer than `limit`.
    pub(crate) fn measure(&self, limit: Duration, output: Option<&Path>) -> anyhow::Result<Cost> {
        let between = env::current_exe()?;
        let output = output.unwrap_or(Path::new("/dev/null"));
        let mut command = Command::new(between);
        command.arg(COMMAND).arg(limit.as_secs().to_string()).arg(output).args(&self.words);
        command.current_dir(&self.folder).stderr(Stdio::null());
        if !self.warm {
            command.env("KCL_CACHE", "off");
        }
        let answer = command.output().context("cannot measure")?;
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        let numbers: Vec<f64> = answer.split_whitespace().flat_map(str::parse).collect();
        match numbers[..] {
            [0.0, wall, cpu, memory] => Ok(Cost { cpu, wall, memory }),
            [code, ..] => bail!("exit code {code}"),
            [] => bail!("no answer"),
        }
    }

    /// Counts instructions with callgrind; `None` without it, or if it takes too long.
    pub(crate) fn count_instructions(&self, limit: Duration) -> Option<f64> {
        let mut command = Command::new("timeout");
        command.arg(limit.as_secs().to_string());
        command.args(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.args(&self.words).current_dir(&self.folder).stdout(Stdio::null());
        if !self.warm {
            command.env("KCL_CACHE", "off");
        }
        let said = command.output().ok()?.stderr;
        let said = String::from_utf8_lossy(&said).into_owned();
        let (_, number) = said.split_once("Collected : ")?;
        number.split_whitespace().next()?.parse().ok()
    }
}

/// The part of the process between: runs `words` and prints exit code, wall time, CPU time and
/// memory.
///
/// # Errors
///
/// If the words are wrong or the command can't be started.
pub(crate) fn stand_between(words: &[String]) -> anyhow::Result<()> {
    let [limit, output, program, arguments @ ..] = words else { bail!("measure: too few words") };
    let limit = Duration::from_secs(limit.parse()?);
    let start = Instant::now();
    let mut child = Command::new(program).args(arguments).stdout(File::create(output)?).spawn()?;
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status.code().unwrap_or(-1);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break -9;
        }
        // Long runs need no exact clock, short ones are asked about often.
        thread::sleep(
            (start.elapsed() / 200).clamp(Duration::from_micros(20), Duration::from_millis(5)),
        );
    };
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = milliseconds(used.user_time()) + milliseconds(used.system_time());
    let memory = used.max_rss() as f64 / 1024.0;
    writeln!(io::stdout(), "{code} {wall} {cpu} {memory}")?;
    Ok(())
}

fn milliseconds(time: TimeVal) -> f64 {
    time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3
}
