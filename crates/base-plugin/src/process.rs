//! A program that runs.

use crate::GUARD_WORD;
use crate::command::Launch;
use crate::failure::{Failure, Problem, quotable};
use crate::guard::{NOT_STARTED, guard_words};
use crate::message::{INITIALIZE, check_protocol, initialize_params, read_answer, request};
use crate::tail::Tail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much is read at a time.
const CHUNK: usize = 8 << 10;

/// How long a guard may take to end everything, beyond the farewell.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that was started and answers questions, one at a time. It ends with the value.
#[derive(Debug)]
pub struct Process {
    launch: Launch,
    /// The guard.
    child: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    /// What was read and is not used yet.
    unread: Vec<u8>,
    /// How much of it has no line end.
    n_scanned: usize,
    tail: Tail,
    last_id: u64,
}

impl Process {
    /// Starts a program, and agrees with it on the protocol, within the time of an answer or less.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or does not answer as it should.
    pub fn start(launch: &Launch, time: Option<Duration>) -> Result<Self, Failure> {
        let not_started = |why: String| Failure {
            title: launch.title.clone(),
            problem: Problem::NotStarted(why),
            last_line: None,
        };
        let mut process = Self::spawn(launch).map_err(|error| not_started(error.to_string()))?;
        let params = initialize_params(&launch.protocol);
        let result = process.ask(INITIALIZE, &params, time)?;
        match check_protocol(&result, &launch.protocol) {
            Ok(()) => Ok(process),
            Err(problem) => Err(process.end(problem)),
        }
    }

    fn spawn(launch: &Launch) -> io::Result<Self> {
        let limits = &launch.limits;
        let mut command = Command::new(&launch.guard.program);
        command
            .arg(GUARD_WORD)
            .args(guard_words(limits.memory, limits.farewell, &launch.words))
            .current_dir(&launch.folder)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C on the terminal is for the one who asks.
            .process_group(0);
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let errors = child.stderr.take();
        let process = Self {
            launch: launch.clone(),
            child,
            input,
            output,
            errors,
            unread: Vec::new(),
            n_scanned: 0,
            tail: Tail::default(),
            last_id: 0,
        };
        process.input.as_ref().map_or(Ok(()), never_wait)?;
        process.output.as_ref().map_or(Ok(()), never_wait)?;
        process.errors.as_ref().map_or(Ok(()), never_wait)?;
        Ok(process)
    }

    /// Calls a method; parameters and result are JSON. `time` shortens the time until an answer.
    ///
    /// # Errors
    ///
    /// If there is no result. With [`Problem::Refused`] and [`Problem::LongRequest`] the program
    /// goes on running; with anything else it has been ended, and further calls fail.
    pub fn ask(
        &mut self,
        method: &str,
        params: &str,
        time: Option<Duration>,
    ) -> Result<String, Failure> {
        match self.exchange(method, params, time) {
            Ok(result) => Ok(result),
            Err(problem) => {
                let failure = Failure {
                    title: self.launch.title.clone(),
                    problem,
                    last_line: self.tail.line(),
                };
                if failure.leaves_it_running() {
                    Err(failure)
                } else {
                    Err(self.end(failure.problem))
                }
            }
        }
    }

    fn exchange(
        &mut self,
        method: &str,
        params: &str,
        time: Option<Duration>,
    ) -> Result<String, Problem> {
        let limits = self.launch.limits;
        if params.len() > limits.message {
            return Err(Problem::LongRequest(limits.message));
        }
        self.last_id += 1;
        self.tail.n_bytes = 0;
        let text = request(self.last_id, method, params);
        let mut rest = text.as_bytes();
        let time = time.map_or(limits.answer, |time| time.min(limits.answer));
        let ends_at = Instant::now() + time;
        loop {
            while let Some(line) = self.take_line()? {
                if let Some(result) = read_answer(&line, self.last_id)? {
                    if rest.is_empty() {
                        return Ok(result);
                    }
                    // It cannot know what it was asked.
                    return Err(Problem::NoAnswer(quotable(&line)));
                }
            }
            if self.output.is_none() {
                return Err(Problem::Ended(String::new()));
            }
            let left = ends_at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Problem::TimedOut(time));
            }
            self.wait_for_streams(!rest.is_empty(), left);
            if !rest.is_empty() {
                rest = self.write(rest);
            }
            self.read_output();
            self.read_errors();
            if self.tail.n_bytes > limits.errors {
                return Err(Problem::ManyErrors(limits.errors));
            }
        }
    }

    /// Waits until something can be read, or written if that is wanted.
    fn wait_for_streams(&self, writes: bool, time: Duration) {
        let mut streams = Vec::with_capacity(3);
        streams.extend(self.output.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        streams.extend(self.errors.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        let input = self.input.as_ref().filter(|_| writes);
        streams.extend(input.map(|it| PollFd::new(it, PollFlags::OUT)));
        let time = Timespec {
            tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        };
        // Interrupted or not, the streams are looked at.
        let _ = poll(&mut streams, Some(&time));
    }

    /// Writes what fits; returns the rest.
    fn write<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let Some(input) = &mut self.input else { return &[] };
        match input.write(text) {
            Ok(n_written) => &text[n_written..],
            Err(error) if is_later(&error) => text,
            // Nobody reads; how the program ended is seen from its output.
            Err(_) => &[],
        }
    }

    fn read_output(&mut self) {
        let mut chunk = [0; CHUNK];
        match self.output.as_mut().map(|output| read(output, &mut chunk)) {
            Some(Some(0)) => self.output = None,
            Some(Some(n_read)) => self.unread.extend_from_slice(&chunk[..n_read]),
            _ => {}
        }
    }

    fn read_errors(&mut self) {
        let mut chunk = [0; CHUNK];
        match self.errors.as_mut().map(|errors| read(errors, &mut chunk)) {
            Some(Some(0)) => self.errors = None,
            Some(Some(n_read)) => self.tail.push(&chunk[..n_read]),
            _ => {}
        }
    }

    /// Takes the next line that was read; lines without text are passed over.
    fn take_line(&mut self) -> Result<Option<String>, Problem> {
        loop {
            let limit = self.launch.limits.message;
            let Some(at) = self.unread[self.n_scanned..].iter().position(|byte| *byte == b'\n')
            else {
                self.n_scanned = self.unread.len();
                return if self.n_scanned > limit {
                    Err(Problem::LongMessage(limit))
                } else {
                    Ok(None)
                };
            };
            let end = self.n_scanned + at;
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            self.n_scanned = 0;
            if end > limit {
                return Err(Problem::LongMessage(limit));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line = String::from_utf8(line);
            return line.map(Some).map_err(|error| {
                Problem::NoAnswer(quotable(&String::from_utf8_lossy(error.as_bytes())))
            });
        }
    }

    /// Ends the program because of a problem.
    fn end(&mut self, problem: Problem) -> Failure {
        self.input = None;
        self.output = None;
        let status = self.wait_for_guard();
        if matches!(problem, Problem::ManyErrors(_)) {
            self.tail.cut();
        }
        let mut last_line = self.tail.line();
        let problem = match problem {
            Problem::Ended(_) if status.and_then(|it| it.code()) == Some(NOT_STARTED.into()) => {
                Problem::NotStarted(last_line.take().unwrap_or_default())
            }
            Problem::Ended(_) => Problem::Ended(how_it_ended(status)),
            problem => problem,
        };
        Failure { title: self.launch.title.clone(), problem, last_line }
    }

    /// Waits until the guard has ended everything, and reads what is left on standard error.
    fn wait_for_guard(&mut self) -> Option<ExitStatus> {
        let ends_at = Instant::now() + self.launch.limits.farewell + PATIENCE;
        let limit = self.tail.n_bytes.max(self.launch.limits.errors) + CHUNK;
        loop {
            if self.tail.n_bytes > limit {
                // Nobody listens any more: whoever writes on gets an error.
                self.errors = None;
            }
            self.read_errors();
            if let Ok(Some(status)) = self.child.try_wait() {
                while self.errors.is_some() && self.tail.n_bytes <= limit {
                    let before = self.tail.n_bytes;
                    self.read_errors();
                    if self.tail.n_bytes == before {
                        break;
                    }
                }
                return Some(status);
            }
            if Instant::now() >= ends_at {
                // The guard itself hangs, or was stopped by somebody.
                let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
                let _ = self.child.kill();
                return self.child.wait().ok();
            }
            if self.errors.is_some() {
                self.wait_for_streams(false, Duration::from_millis(5));
            } else {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        self.output = None;
        self.errors = None;
        self.wait_for_guard();
    }
}

fn how_it_ended(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => status.to_string(),
        },
        None => "unknown status".to_owned(),
    }
}

/// Makes reads and writes of a stream return instead of waiting.
fn never_wait(stream: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(stream)?;
    fcntl_setfl(stream, flags | OFlags::NONBLOCK)?;
    Ok(())
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Reads what is there: nothing now (`None`), the end (0), or so many bytes.
fn read(stream: &mut impl Read, chunk: &mut [u8]) -> Option<usize> {
    match stream.read(chunk) {
        Ok(n_read) => Some(n_read),
        Err(error) if is_later(&error) => None,
        Err(_) => Some(0),
    }
}
