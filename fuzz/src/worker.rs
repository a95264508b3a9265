//! The process that does the work: many inputs on many threads, in memory.
//!
//! It tells its parent, line by line on standard output, where it is and what broke. A panic is
//! caught; an input that takes too long ends the process; a stack overflow kills it. In the last
//! two cases the parent finds the input by its number.

use crate::input::{Inputs, Kind};
use crate::target::{self, Reached};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::cell::RefCell;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long one input may compute: time of the processor, so that a busy machine raises no alarm.
pub(crate) const COMPUTE_LIMIT: Duration = Duration::from_secs(2);

/// How long one input may take when it waits instead of computing.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// Memory that a worker may use at its peak.
const MEMORY_LIMIT_BYTES: u64 = 1 << 30;

/// Exit code of a worker that found an input that takes too long or too much memory.
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
            "DONE {} {} {} {} {}",
            self.inputs.load(Relaxed),
            self.accepted.load(Relaxed),
            self.evaluated.load(Relaxed),
            self.requests.load(Relaxed),
            Usage::now().peak_bytes,
        ));
    }
}

/// What a thread is doing, for the watchdog.
#[derive(Default)]
struct Slot {
    /// Number of the input, plus one; 0 when idle.
    input: AtomicU64,
}

/// What the process has used so far.
struct Usage {
    computed: Duration,
    peak_bytes: u64,
}

impl Usage {
    fn now() -> Self {
        let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) else {
            return Self { computed: Duration::ZERO, peak_bytes: 0 };
        };
        let time = used.user_time() + used.system_time();
        let computed = Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0));
        Self { computed, peak_bytes: u64::try_from(used.max_rss()).unwrap_or(0) * 1024 }
    }
}

/// Ends the process when an input takes too long or too much memory; its thread can't be stopped.
struct Watchdog {
    /// For each thread the input it had at the first look, and what was used by then.
    seen: Vec<(u64, Instant, Duration)>,
}

impl Watchdog {
    fn new(n_threads: usize) -> Self {
        Self { seen: vec![(0, Instant::now(), Duration::ZERO); n_threads] }
    }

    fn look(&mut self, slots: &[Slot], counters: &Counters) {
        let usage = Usage::now();
        // All threads compute, so an input that computes for as long has had its share.
        let compute_limit = COMPUTE_LIMIT * u32::try_from(slots.len()).unwrap_or(u32::MAX);
        for (slot, seen) in slots.iter().zip(&mut self.seen) {
            let input = slot.input.load(Relaxed);
            if input != seen.0 {
                *seen = (input, Instant::now(), usage.computed);
            }
            let (_, since, computed) = *seen;
            let broken = if input == 0 {
                None
            } else if usage.peak_bytes > MEMORY_LIMIT_BYTES {
                Some(format!("takes more than {} MiB", MEMORY_LIMIT_BYTES >> 20))
            } else if usage.computed.saturating_sub(computed) > compute_limit {
                Some(format!("takes longer than {COMPUTE_LIMIT:?}"))
            } else if since.elapsed() > WAIT_LIMIT {
                Some(format!("takes longer than {WAIT_LIMIT:?}"))
            } else {
                None
            };
            if let Some(broken) = broken {
                report(&format!("FAIL {} {broken}", input - 1));
                counters.report();
                std::process::exit(i32::from(EXIT_SLOW));
            }
        }
    }
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
        let mut watchdog = Watchdog::new(slots.len());
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            watchdog.look(&slots, &counters);
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
            slot.input.store(index + 1, Relaxed);
            match attempt(job.kind, &text, index.is_multiple_of(16)) {
                Ok(reached) => {
                    accepted += u64::from(reached >= Reached::Accepted);
                    evaluated += u64::from(reached >= Reached::Evaluated);
                }
                Err(message) => report(&format!("FAIL {index} {message}")),
            }
            slot.input.store(0, Relaxed);
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

/// Writes one line to the parent. When nobody listens any more there is nobody to tell.
fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
