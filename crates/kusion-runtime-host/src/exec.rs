//! Runs a program with input, within limits of time and output.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much is read at a time.
const CHUNK: usize = 16 << 10;

/// How much of standard error is kept: its end.
const MAX_ERRORS: usize = 8 << 10;

/// How long a program may stay after its output has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a program may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    /// Bytes of output, and of errors.
    pub(crate) output: usize,
}

/// How a program ended, and what it printed.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(crate) errors: Vec<u8>,
    pub(crate) end: End,
}

/// How a program ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this exit code, or by a signal.
    #[default]
    Signal,
    Code(i32),
    /// It took too long, and was stopped.
    TimedOut,
    /// It wrote too much, and was stopped.
    Flooded,
}

impl Ended {
    /// Returns the last line of standard error that says something.
    pub(crate) fn last_error(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.errors);
        let line = text.lines().rev().map(str::trim).find(|it| !it.is_empty())?;
        Some(crate::error::printable(line))
    }
}

/// Runs a program to its end, in its own process group, all of which is ended with it.
pub(crate) fn run(command: &mut Command, input: &[u8], bounds: Bounds) -> io::Result<Ended> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C on the terminal is for the one who asks.
        .process_group(0)
        .spawn()?;
    let mut group = Group(child);
    let mut ended = Ended::default();
    let stopped = exchange(&mut group.0, input, bounds, &mut ended)?;
    ended.end = match stopped {
        Some(end) => end,
        None => match group.wait(PATIENCE) {
            Some(status) => status.code().map_or(End::Signal, End::Code),
            None => End::TimedOut,
        },
    };
    Ok(ended)
}

/// A program with everything that it starts, which ends with the value.
struct Group(Child);

impl Group {
    fn wait(&mut self, time: Duration) -> Option<ExitStatus> {
        let ends_at = Instant::now() + time;
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Some(status),
                Err(_) => return Some(ExitStatus::from_raw(1 << 8)),
                Ok(None) if Instant::now() >= ends_at => return None,
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes the input and reads the output until it ends. Returns why the program must be stopped.
fn exchange(
    child: &mut Child,
    input: &[u8],
    bounds: Bounds,
    ended: &mut Ended,
) -> io::Result<Option<End>> {
    let (mut to, mut output, mut errors) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    to.as_ref().map_or(Ok(()), never_wait)?;
    output.as_ref().map_or(Ok(()), never_wait)?;
    errors.as_ref().map_or(Ok(()), never_wait)?;
    let (mut rest, mut n_errors) = (input, 0);
    let ends_at = Instant::now() + bounds.time;
    while output.is_some() || errors.is_some() {
        if rest.is_empty() {
            to = None;
        }
        let left = ends_at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(End::TimedOut));
        }
        wait_for(to.as_ref(), output.as_ref(), errors.as_ref(), left);
        if let Some(pipe) = &mut to {
            match pipe.write(rest) {
                Ok(n_written) => rest = &rest[n_written..],
                Err(error) if is_later(&error) => {}
                // Nobody reads; how the program ended says why.
                Err(_) => rest = &[],
            }
        }
        take(&mut output, &mut ended.output);
        n_errors += take(&mut errors, &mut ended.errors);
        let n_kept = ended.errors.len();
        ended.errors.drain(..n_kept.saturating_sub(MAX_ERRORS));
        if ended.output.len() > bounds.output || n_errors > bounds.output {
            return Ok(Some(End::Flooded));
        }
    }
    Ok(None)
}

fn wait_for(
    to: Option<&impl AsFd>,
    output: Option<&impl AsFd>,
    errors: Option<&impl AsFd>,
    time: Duration,
) {
    let mut streams = Vec::with_capacity(3);
    streams.extend(to.map(|it| PollFd::new(it, PollFlags::OUT)));
    streams.extend(output.map(|it| PollFd::new(it, PollFlags::IN)));
    streams.extend(errors.map(|it| PollFd::new(it, PollFlags::IN)));
    let time = Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // Interrupted or not, the streams are looked at.
    let _ = poll(&mut streams, Some(&time));
}

/// Reads what the stream has; at its end the stream is closed. Returns the number of bytes.
fn take<R: Read>(stream: &mut Option<R>, into: &mut Vec<u8>) -> usize {
    let mut chunk = [0; CHUNK];
    let Some(open) = stream else { return 0 };
    match open.read(&mut chunk) {
        Ok(n_read) if n_read > 0 => {
            into.extend_from_slice(&chunk[..n_read]);
            n_read
        }
        Err(error) if is_later(&error) => 0,
        _ => {
            *stream = None;
            0
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Makes reads and writes return immediately.
fn never_wait(stream: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(stream)?;
    Ok(fcntl_setfl(stream, flags | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, time: Duration) -> Ended {
        let bounds = Bounds { time, output: 1 << 20 };
        run(&mut Command::new("sh"), script.as_bytes(), bounds).expect("it runs")
    }

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn output_errors_and_code_are_returned() {
        let ended = sh("echo a; echo b >&2; echo ' ' >&2; exit 3\n", LONG);
        assert_eq!((&*ended.output, ended.end), (b"a\n".as_slice(), End::Code(3)));
        let ended = sh("echo b >&2; echo ' ' >&2\n", LONG);
        assert_eq!(ended.last_error().as_deref(), Some("b"));
    }

    #[test]
    fn large_input_and_output_do_not_block_each_other() {
        let script = format!("printf %s '{}'\n", "x".repeat(900_000));
        assert_eq!(sh(&script, LONG).output.len(), 900_000);
    }

    #[test]
    fn a_program_that_hangs_or_floods_is_stopped() {
        assert_eq!(sh("sleep 1000\n", Duration::from_millis(50)).end, End::TimedOut);
        assert_eq!(
            sh("trap '' TERM; sleep 1000 & wait\n", Duration::from_millis(50)).end,
            End::TimedOut
        );
        assert_eq!(sh("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done\n", LONG).end, End::Flooded);
        assert_eq!(sh("while :; do echo xxxxxxxxxxxxxxxxxxxx >&2; done\n", LONG).end, End::Flooded);
        assert_eq!(sh("kill -9 $$\n", LONG).end, End::Signal);
    }

    #[test]
    fn a_program_that_does_not_read_is_not_waited_for() {
        let ended = sh(&format!("exit 4\n{}", "#\n".repeat(500_000)), LONG);
        assert_eq!(ended.end, End::Code(4));
    }
}
