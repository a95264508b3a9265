//! A search for two lock holders among real processes: hidden, in namespaces, paused and killed.
//!
//! `KUSION_TEST_SCHEDULES` is the number of schedules on each store, `KUSION_TEST_SEED` their seed.

use crate::child::{Kind, Process};
use crate::places::{Place, new_key, run, say};
use kusion_model::StackKey;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::Suite;

/// Schedules that run at the same time: most of the time they wait.
const THREADS: usize = 12;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add_with("schedules::sqlite::never_two_holders", Kind::check(), |()| {
        let place = Place::in_file();
        run(share(&place));
        never_two_holders(&place);
    });
    for (backend, variable) in [("postgres", "KUSION_TEST_POSTGRES"), ("s3", "KUSION_TEST_S3")] {
        let place = Kind::check().and_then(|()| Place::on_server(variable));
        suite.add_with(format!("schedules::{backend}::never_two_holders"), place, |place| {
            never_two_holders(&place);
        });
    }
}

/// Lets other users write the files of a store.
async fn share(place: &Place) {
    use std::os::unix::fs::PermissionsExt as _;
    let store = place.open().await;
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changed");
    };
    open(&place.home, 0o777);
    open(&place.home.join("state.db"), 0o666);
    store.close().await;
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

fn never_two_holders(place: &Place) {
    let (from, count) = (variable("KUSION_TEST_SEED", 1), variable("KUSION_TEST_SCHEDULES", 6));
    let next = AtomicU64::new(0);
    let totals = [const { AtomicU64::new(0) }; 4];
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let seen = Schedule::new(place, from + number).run();
                    for (sum, it) in totals.iter().zip(seen) {
                        sum.fetch_add(it, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let [started, held, records, kills] = totals.map(AtomicU64::into_inner);
    let backend = place.url.split(':').next().filter(|it| !it.is_empty()).unwrap_or("sqlite");
    say(&format!(
        "{backend}: {count} schedules from seed {from}: {started} processes, {held} locks, \
         {records} records, {kills} kills"
    ));
    assert!(held >= count, "{held} locks");
}

/// A process that had the lock when it was last asked.
struct Holding {
    process: Process,
    kind: Kind,
    is_paused: bool,
}

struct Schedule<'a> {
    place: &'a Place,
    seed: u64,
    key: StackKey,
    rng: fastrand::Rng,
    /// Processes that have locked the stack, in this order.
    holders: Vec<Holding>,
    names: Vec<String>,
    started: u64,
    held: u64,
    kills: u64,
}

impl<'a> Schedule<'a> {
    fn new(place: &'a Place, seed: u64) -> Self {
        Self {
            place,
            seed,
            key: new_key(),
            rng: fastrand::Rng::with_seed(seed),
            holders: Vec::new(),
            names: Vec::new(),
            started: 0,
            held: 0,
            kills: 0,
        }
    }

    fn run(mut self) -> [u64; 4] {
        self.start();
        for _ in 0..self.rng.u8(3..8) {
            match self.rng.u8(0..10) {
                0..4 => self.start(),
                4 | 5 => self.pause_one(),
                6 => self.kill_one(),
                7 => std::thread::sleep(Duration::from_millis(self.rng.u64(100..3000))),
                _ => self.continue_all(),
            }
            self.check();
        }
        self.continue_all();
        self.check();
        for holder in self.holders.drain(..) {
            holder.process.kill();
        }
        let store = self.place.open();
        let names = self.names.clone();
        let (key, seed) = (self.key.clone(), self.seed);
        run(async move {
            let state = store.await.read(&key).await.expect("readable");
            for name in names {
                assert!(state.resources.contains_key(name.as_str()), "seed {seed}: {name} is lost");
            }
        });
        [self.started, self.held, self.names.len() as u64, self.kills]
    }

    /// Starts a process of any kind; it locks the stack or is refused.
    fn start(&mut self) {
        let kinds =
            [Kind::Plain, Kind::Hidden, Kind::Namespace, Kind::ForeignProc, Kind::Elsewhere];
        let kind = *self.rng.choice(&kinds).expect("kinds");
        let mut process = Process::start_in(kind, self.place, &self.key);
        self.started += 1;
        let answer = process.answer();
        let seed = self.seed;
        if answer == "held" {
            self.held += 1;
            self.holders.push(Holding { process, kind, is_paused: false });
        } else {
            assert!(answer.contains("is locked by"), "seed {seed}: {kind:?}: {answer}");
        }
    }

    fn pause_one(&mut self) {
        if let Some(holder) = self.holders.last_mut().filter(|it| !it.is_paused) {
            holder.process.signal("STOP");
            holder.is_paused = true;
        }
    }

    fn continue_all(&mut self) {
        for holder in self.holders.iter_mut().filter(|it| it.is_paused) {
            holder.process.signal("CONT");
            holder.is_paused = false;
        }
    }

    fn kill_one(&mut self) {
        if let Some(holder) = self.holders.pop() {
            holder.process.kill();
            self.kills += 1;
        }
    }

    /// Asks all processes that run: at most one believes that it has the lock, and only the one
    /// that locked last can write.
    fn check(&mut self) {
        let seed = self.seed;
        let newest = self.holders.len().saturating_sub(1);
        let mut believers = Vec::new();
        for (index, holder) in self.holders.iter_mut().enumerate().filter(|it| !it.1.is_paused) {
            if holder.process.ask("check") == "ok" {
                believers.push((index, holder.kind));
            }
            let name = format!("s{seed}-{index}-{}", self.names.len());
            let answer = holder.process.ask(&format!("append {name}"));
            if answer.starts_with("ok") {
                assert_eq!(index, newest, "seed {seed}: an earlier holder wrote");
                self.names.push(name);
            }
        }
        assert!(believers.len() < 2, "seed {seed}: {believers:?} have the lock");
        let last = self.holders.pop();
        // A process that lost its lock ends.
        self.holders.retain(|it| it.is_paused);
        self.holders.extend(last);
    }
}
