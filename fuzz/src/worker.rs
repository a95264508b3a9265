//! The process that does the work: many inputs on many threads, in memory.
//!
//! It tells its parent, line by line on standard output, where it is and what broke. A panic is
//! caught; an input that takes too long ends the process; a stack overflow kills it. In the last
//! two cases the parent finds the input by its number.

use crate::input::{Inputs, Kind};
use crate::target::{self, Reached};
use std::cell::RefCell;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long one input may take.
pub(crate) const INPUT_LIMIT: Duration = Duration::from_secs(2);

/// Exit code of a worker that found an input that takes too long.
pub(crate) const EXIT_SLOW: u8 = 4;

/// Inputs that a thread takes at a time; a thread says where it is once per chunk.
pub(crate) const CHUNK: u64 = 2048;

/// The stack of each thread, as large as the tool gives a program.
pub(crate) const STACK_BYTES: usize = 1 << 30;

/// What one worker process is to do.
pub(crate) struct Job {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    /// Number of the first input.
    pub(crate) from: u64,
    /// How many inputs.
    pub(crate) n: u64,
    pub(crate) threads: usize,
    /// When to stop even if inputs are left.
    pub(crate) seconds: Option<f64>,
}

#[derive(Default)]
struct Counters {
    next: AtomicU64,
    inputs: AtomicU64,
    accepted: AtomicU64,
    evaluated: AtomicU64,
    requests: AtomicU64,
}

impl Counters {
    /// Reports what was done.
    fn report(&self) {
        report(&format!(
            "DONE {} {} {} {}",
            self.inputs.load(Relaxed),
            self.accepted.load(Relaxed),
            self.evaluated.load(Relaxed),
            self.requests.load(Relaxed),
        ));
    }
}

/// What a thread is doing, for the watchdog: the input's number, and when it began.
#[derive(Default)]
struct Slot {
    index: AtomicU64,
    /// Milliseconds since the start, plus one; 0 when idle.
    began: AtomicU64,
}

/// Runs a job and reports on standard output.
pub(crate) fn work(job: &Job) {
    silence_panics();
    let inputs = Inputs::new(job.kind, job.seed);
    let counters = Counters::default();
    let slots: Vec<Slot> = (0..job.threads).map(|_| Slot::default()).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = slots
            .iter()
            .enumerate()
            .filter_map(|(thread, slot)| {
                let (inputs, counters) = (&inputs, &counters);
                let body = move || thread_body(job, inputs, counters, slot, thread, start);
                std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body).ok()
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            watch(&slots, &counters, start);
        }
    });
    counters.report();
}

fn thread_body(
    job: &Job,
    inputs: &Inputs,
    counters: &Counters,
    slot: &Slot,
    thread: usize,
    start: Instant,
) {
    loop {
        let first = counters.next.fetch_add(CHUNK.min(job.n.max(1)), Relaxed);
        let out_of_time = job.seconds.is_some_and(|limit| start.elapsed().as_secs_f64() > limit);
        if first >= job.n || out_of_time {
            return;
        }
        report(&format!("AT {thread} {}", job.from + first));
        let n = CHUNK.min(job.n - first);
        let (mut accepted, mut evaluated, mut requests) = (0, 0, 0);
        for index in job.from + first..job.from + first + n {
            let text = inputs.make(index);
            slot.index.store(index, Relaxed);
            slot.began.store(start.elapsed().as_millis() as u64 + 1, Relaxed);
            match attempt(job.kind, &text, index.is_multiple_of(16)) {
                Ok(reached) => {
                    accepted += u64::from(reached >= Reached::Accepted);
                    evaluated += u64::from(reached >= Reached::Evaluated);
                }
                Err(message) => report(&format!("FAIL {index} {message}")),
            }
            slot.began.store(0, Relaxed);
            requests += job.kind.requests(&text);
        }
        counters.inputs.fetch_add(n, Relaxed);
        counters.accepted.fetch_add(accepted, Relaxed);
        counters.evaluated.fetch_add(evaluated, Relaxed);
        counters.requests.fetch_add(requests, Relaxed);
    }
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Feeds one input; an error says what broke, in one line.
pub(crate) fn attempt(kind: Kind, text: &str, closely: bool) -> Result<Reached, String> {
    match panic::catch_unwind(AssertUnwindSafe(|| target::feed(kind, text, closely))) {
        Ok(result) => result.map_err(|message| message.replace('\n', " ")),
        Err(_) => Err(PANIC.with_borrow(|message| message.replace('\n', " "))),
    }
}

/// Keeps the message of a panic instead of printing it.
pub(crate) fn silence_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        let text = info.payload_as_str().unwrap_or("(no text)");
        PANIC.with_borrow_mut(|message| *message = format!("panic at {place}: {text}"));
    }));
}

/// Ends the process when an input takes too long; its thread can't be stopped.
fn watch(slots: &[Slot], counters: &Counters, start: Instant) {
    let now = start.elapsed().as_millis() as u64;
    for slot in slots {
        let (index, began) = (slot.index.load(Relaxed), slot.began.load(Relaxed));
        if began != 0 && now.saturating_sub(began) > INPUT_LIMIT.as_millis() as u64 {
            report(&format!("FAIL {index} takes longer than {INPUT_LIMIT:?}"));
            counters.report();
            std::process::exit(i32::from(EXIT_SLOW));
        }
    }
}

/// Writes one line to the parent. When nobody listens any more there is nobody to tell.
fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
