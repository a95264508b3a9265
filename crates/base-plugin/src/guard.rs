//! The guard of a program: the process that starts it and ends it.

use crate::GUARD_WORD;
use crate::command::Guard;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, kill_process_group,
    setrlimit, wait,
};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

/// The exit code of a guard that could not start its program; the last line of standard error says
/// why.
pub(crate) const NOT_STARTED: u8 = 125;

/// The word that makes a guard become the program.
const BECOME: &str = "become";

/// How often a guard looks around where nothing wakes it.
const TICK: Duration = Duration::from_millis(10);

/// How often descendants are looked for at the end. Each round ends all that the round before made
/// orphans.
const MAX_ROUNDS: usize = 200;

/// The words behind [`GUARD_WORD`] for a program.
pub(crate) fn guard_words(memory: u64, farewell: Duration, words: &[String]) -> Vec<String> {
    let mut all = vec![memory.to_string(), farewell.as_millis().to_string()];
    all.extend_from_slice(words);
    all
}

/// Runs a program as its guard, until the program ends or nobody is left who could ask it anything.
/// `words` are the arguments behind [`GUARD_WORD`].
pub fn guard(words: &[String]) -> ExitCode {
    match words {
        [word, memory, program, arguments @ ..] if word == BECOME => {
            become_program(memory, program, arguments)
        }
        [memory, farewell, rest @ ..] if !rest.is_empty() => {
            let Ok(farewell) = farewell.parse() else { return misused() };
            match start(memory, rest) {
                Ok(child) => watch_over(child, Duration::from_millis(farewell)),
                Err(error) => not_started(&rest[0], &error),
            }
        }
        _ => misused(),
    }
}

/// Starts a second process of this program, which becomes the program after it has limited itself.
/// The guard has no such limits: its own memory may be reserved in advance.
fn start(memory: &str, words: &[String]) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
    let own = Guard::this_program().ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(own.program);
    command.args([GUARD_WORD, BECOME, memory]).args(words).process_group(0).spawn()
}

/// Limits this process and turns it into the program.
fn become_program(memory: &str, program: &str, arguments: &[String]) -> ExitCode {
    let Ok(memory) = memory.parse() else { return misused() };
    // Memory that can be written, not addresses: some language runtimes reserve many of those.
    let _ = setrlimit(Resource::Data, Rlimit { current: Some(memory), maximum: Some(memory) });
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    not_started(program, &Command::new(program).args(arguments).exec())
}

fn not_started(program: &str, error: &io::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "`{program}`: {error}");
    ExitCode::from(NOT_STARTED)
}

fn misused() -> ExitCode {
    let _ = writeln!(io::stderr(), "error: `{GUARD_WORD}` is for internal use");
    ExitCode::from(2)
}

/// Waits until the program ends or is ended; ends as it did.
fn watch_over(child: Child, farewell: Duration) -> ExitCode {
    let_go_of_output();
    let status = watch(child, farewell);
    match status.and_then(|status| status.signal()).and_then(Signal::from_named_raw) {
        // Ends in the same way, so that whoever waits sees it.
        Some(signal) => {
            let _ = kill_process(getpid(), signal);
            ExitCode::FAILURE
        }
        None => ExitCode::from(status.and_then(|it| it.code()).unwrap_or(1) as u8),
    }
}

/// Closes the guard's own ends of the program's output, so that they end with the program.
fn let_go_of_output() {
    if let Ok(nothing) = fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

/// Waits for the end of the program or of its input; ends all its processes. Returns how the program
/// ended.
fn watch(mut child: Child, farewell: Duration) -> Option<ExitStatus> {
    let id = Pid::from_child(&child);
    #[cfg(target_os = "linux")]
    let end = rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    let end: Option<std::os::fd::OwnedFd> = None;
    let input = io::stdin();
    let mut ends_at: Option<Instant> = None;
    loop {
        let mut waited_for = Vec::with_capacity(2);
        if ends_at.is_none() {
            // Nothing is read: only that there is no writer any more is reported.
            waited_for.push(PollFd::new(&input, PollFlags::empty()));
        }
        waited_for.extend(end.as_ref().map(|end| PollFd::new(end, PollFlags::IN)));
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as _ };
        let is_woken = ends_at.is_none() && end.is_some();
        let _ = poll(&mut waited_for, if is_woken { None } else { Some(&tick) });
        let status = child.try_wait().ok().flatten();
        let is_alone = ends_at.is_none()
            && waited_for.first().is_some_and(|it| {
                it.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
            });
        if is_alone {
            ends_at = Some(Instant::now() + farewell);
        }
        if status.is_some() || ends_at.is_some_and(|end| Instant::now() >= end) {
            // Those that are still in its group.
            let _ = kill_process_group(id, Signal::KILL);
            let status = status.or_else(|| child.wait().ok());
            end_descendants();
            return status;
        }
    }
}

/// Kills processes that left the group: they became children of the guard when their parents ended.
fn end_descendants() {
    for _ in 0..MAX_ROUNDS {
        for id in children() {
            let _ = kill_process_group(id, Signal::KILL);
            let _ = kill_process(id, Signal::KILL);
        }
        while let Ok(ended) = wait(WaitOptions::NOHANG) {
            if ended.is_none() {
                break;
            }
        }
        if wait(WaitOptions::NOHANG).is_err() {
            return;
        }
        std::thread::sleep(TICK);
    }
}

/// The children of this process, as the system lists them.
fn children() -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists =
        tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let text = lists.collect::<Vec<_>>().join(" ");
    text.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}
