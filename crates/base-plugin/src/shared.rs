//! One program that several threads ask.

use crate::command::Launch;
use crate::failure::{Failure, Problem};
use crate::process::Process;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a program is started: once, and again after failures.
const MAX_STARTS: u32 = 3;

/// A program that is started when it is asked first, answers one question after the other, whoever
/// asks, and is started again if it failed.
#[derive(Debug)]
pub struct SharedProcess {
    launch: Launch,
    state: Mutex<State>,
    /// Notified when the program is free.
    is_free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Process>,
    /// Whether a thread has taken the process, or starts one.
    is_busy: bool,
    n_starts: u32,
}

impl SharedProcess {
    /// Notes what is to be started.
    pub fn new(launch: Launch) -> Self {
        Self { launch, state: Mutex::default(), is_free: Condvar::new() }
    }

    /// Calls a method; parameters and result are JSON. `time` shortens the time until an answer,
    /// which includes the time for a start and that of the questions of other threads.
    ///
    /// # Errors
    ///
    /// If there is no result.
    pub fn ask(
        &self,
        method: &str,
        params: &str,
        time: Option<Duration>,
    ) -> Result<String, Failure> {
        let begun = Instant::now();
        let limit = self.launch.limits.answer;
        let limit = time.map_or(limit, |time| time.min(limit));
        let left = || limit.saturating_sub(begun.elapsed());
        let mut turn = self.take_turn(limit, &left)?;
        let process = match turn.process.take() {
            Some(process) => Ok(process),
            None => Process::start(&self.launch, Some(left())),
        };
        let mut process = process.map_err(|failure| as_timed_out(failure, limit))?;
        let result = process.ask(method, params, Some(left()));
        if result.as_ref().map_or_else(Failure::leaves_it_running, |_| true) {
            turn.process = Some(process);
        }
        result.map_err(|failure| as_timed_out(failure, limit))
    }

    /// Ends the program. It is started again if it is asked again.
    pub fn stop(&self) {
        let process = self.lock().process.take();
        drop(process);
    }

    fn take_turn(&self, limit: Duration, left: &dyn Fn() -> Duration) -> Result<Turn<'_>, Failure> {
        let failure =
            |problem| Failure { title: self.launch.title.clone(), problem, last_line: None };
        let mut state = self.lock();
        while state.is_busy {
            let time = left();
            if time.is_zero() {
                return Err(failure(Problem::TimedOut(limit)));
            }
            let waited = self.is_free.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.process.is_none() {
            if state.n_starts == MAX_STARTS {
                return Err(failure(Problem::GivenUp(MAX_STARTS)));
            }
            state.n_starts += 1;
        }
        state.is_busy = true;
        Ok(Turn { process: state.process.take(), of: self })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change of the state is a single assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says how long the question took as a whole.
fn as_timed_out(failure: Failure, limit: Duration) -> Failure {
    match failure.problem {
        Problem::TimedOut(_) => Failure { problem: Problem::TimedOut(limit), ..failure },
        _ => failure,
    }
}

/// The right of a thread to ask; given back with the value.
struct Turn<'a> {
    process: Option<Process>,
    of: &'a SharedProcess,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.of.lock();
        state.process = self.process.take();
        state.is_busy = false;
        self.of.is_free.notify_one();
    }
}
