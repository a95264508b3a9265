//! The world of a schedule: machines, processes, the network, and what happened.

use crate::auth::StoreKey;
use crate::backend::{Backend, Expected, Memory, PutError, Version};
use crate::error::StoreError;
use crate::machine::{Machine, Process};
use crate::store::Store;
use async_trait::async_trait;
use bytes::Bytes;
use kusion_model::{Place, StackKey};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How processes judge those that are hidden from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// As the system tells.
    Real,
    /// As if a hidden process did not exist.
    HiddenIsDead,
}

/// What happened in schedules.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) problems: Vec<String>,
    pub(super) locks: u64,
    /// Locks of holders that had not released theirs.
    pub(super) takeovers: u64,
    pub(super) fenced: u64,
    pub(super) records: u64,
    pub(super) calls: u64,
    pub(super) kills: u64,
    pub(super) pauses: u64,
    pub(super) reused: u64,
}

impl Outcome {
    pub(super) fn add(&mut self, other: &Self) {
        self.locks += other.locks;
        self.takeovers += other.takeovers;
        self.fenced += other.fenced;
        self.records += other.records;
        self.calls += other.calls;
        self.kills += other.kills;
        self.pauses += other.pauses;
        self.reused += other.reused;
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} locks ({} taken over), {} fenced, {} records, {} calls, {} kills, {} pauses, {} \
             ids used again",
            self.locks,
            self.takeovers,
            self.fenced,
            self.records,
            self.calls,
            self.kills,
            self.pauses,
            self.reused
        )
    }
}

/// A machine. Its clocks are those of the world without the time that they did not count.
pub(super) struct Host {
    name: String,
    inner: Mutex<HostInner>,
}

struct HostInner {
    boot: u64,
    /// World time of the boot, plus the time that the machine was frozen.
    offset: Duration,
    suspended: Duration,
    /// Whether it was ever frozen: then its clocks cannot know that time passed.
    was_frozen: bool,
    /// Whether it is suspended or frozen now: no process starts on it.
    is_stopped: bool,
    table: Vec<Entry>,
}

/// A process in the table of a machine.
#[derive(Clone)]
struct Entry {
    namespace: u8,
    pid: u32,
    started: u64,
    user: u8,
    is_zombie: bool,
}

/// A process that locks the stack.
pub(super) struct Actor {
    pub(super) host: Arc<Host>,
    pub(super) namespace: u8,
    pub(super) pid: u32,
    pub(super) started: u64,
    user: u8,
    /// Whether `/proc` hides processes of other users.
    hides: bool,
    /// Whether `/proc` shows another PID namespace.
    foreign_proc: bool,
    sight: Sight,
    begun: Instant,
    /// How many reasons there are for which it does not run.
    stops: watch::Sender<u32>,
    is_dead: Mutex<bool>,
}

impl Actor {
    /// Waits until the process runs.
    pub(super) async fn pass(&self) {
        let mut stops = self.stops.subscribe();
        // The sender lives as long as the actor.
        let _ = stops.wait_for(|it| *it == 0).await;
    }

    fn is_dead(&self) -> bool {
        *self.is_dead.lock().unwrap()
    }

    pub(super) fn was_frozen(&self) -> bool {
        self.host.inner.lock().unwrap().was_frozen
    }
}

impl Machine for Actor {
    fn host(&self) -> String {
        self.host.name.clone()
    }

    fn id(&self) -> String {
        format!("{}/{}", self.host.inner.lock().unwrap().boot, self.namespace)
    }

    fn uptime(&self) -> f64 {
        self.begun.elapsed().saturating_sub(self.host.inner.lock().unwrap().offset).as_secs_f64()
    }

    fn elapsed(&self) -> Duration {
        let inner = self.host.inner.lock().unwrap();
        self.begun.elapsed().saturating_sub(inner.offset + inner.suspended)
    }

    fn process(&self, pid: u32) -> Process {
        let inner = self.host.inner.lock().unwrap();
        let mut found = inner.table.iter().filter(|it| it.namespace == self.namespace);
        let Some(entry) = found.find(|it| it.pid == pid) else {
            return Process { exists: Some(false), ..Process::default() };
        };
        let is_hidden = self.hides && entry.user != self.user;
        if is_hidden && self.sight == Sight::HiddenIsDead {
            return Process { exists: Some(false), ..Process::default() };
        }
        let is_shown = !is_hidden && !self.foreign_proc;
        Process {
            exists: Some(true),
            started: is_shown.then_some(entry.started),
            ended: is_shown && entry.is_zombie,
        }
    }
}

/// The world.
#[derive(Clone)]
pub(super) struct World(Arc<Inner>);

struct Inner {
    rng: Mutex<fastrand::Rng>,
    sight: Sight,
    begun: Instant,
    memory: Arc<Memory>,
    hosts: Vec<Arc<Host>>,
    actors: Mutex<Vec<Arc<Actor>>>,
    log: Mutex<Log>,
    is_over: Mutex<bool>,
}

#[derive(Default)]
struct Log {
    outcome: Outcome,
    /// The newest epoch.
    newest: u64,
    /// Sessions that have not ended.
    open: BTreeSet<u64>,
    /// Revisions whose records were confirmed.
    confirmed: Vec<u64>,
    next_revision: u64,
}

impl World {
    pub(super) fn new(seed: u64, sight: Sight) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let hosts = (0..rng.u8(1..4)).map(|number| {
            Arc::new(Host {
                name: format!("host{number}"),
                inner: Mutex::new(HostInner {
                    boot: rng.u64(..),
                    offset: Duration::ZERO,
                    suspended: Duration::ZERO,
                    was_frozen: false,
                    is_stopped: false,
                    table: Vec::new(),
                }),
            })
        });
        let hosts = hosts.collect();
        Self(Arc::new(Inner {
            rng: Mutex::new(rng),
            sight,
            begun: Instant::now(),
            memory: Arc::new(Memory::default()),
            hosts,
            actors: Mutex::default(),
            log: Mutex::default(),
            is_over: Mutex::new(false),
        }))
    }

    pub(super) fn pick(&self, range: Range<u64>) -> u64 {
        self.0.rng.lock().unwrap().u64(range)
    }

    fn one_in(&self, count: u64) -> bool {
        self.pick(0..count) == 0
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.log.lock().unwrap()
    }

    pub(super) fn key() -> StackKey {
        StackKey::new("p", "dev", Place::Main)
    }

    /// Starts a process on some machine, often with an id that was used before.
    pub(super) fn spawn(&self) -> Option<Arc<Actor>> {
        let host = Arc::clone(&self.0.hosts[self.pick(0..self.0.hosts.len() as u64) as usize]);
        if host.inner.lock().unwrap().is_stopped {
            return None;
        }
        let (namespace, user) = (self.pick(0..2) as u8, self.pick(0..2) as u8);
        let pid = self.pick(100..106) as u32;
        let (hides, foreign_proc) = (self.one_in(2), self.one_in(6));
        let begun = self.0.begun;
        let mut inner = host.inner.lock().unwrap();
        let is_used =
            |pid: u32| inner.table.iter().any(|it| it.namespace == namespace && it.pid == pid);
        let pid = (pid..10_000).find(|it| !is_used(*it)).unwrap_or(pid);
        let started = begun.elapsed().as_millis() as u64 * 100 + self.pick(1..100);
        inner.table.push(Entry { namespace, pid, started, user, is_zombie: false });
        drop(inner);
        let actor = Arc::new(Actor {
            host,
            namespace,
            pid,
            started,
            user,
            hides,
            foreign_proc,
            sight: self.0.sight,
            begun,
            stops: watch::Sender::new(0),
            is_dead: Mutex::new(false),
        });
        let mut actors = self.0.actors.lock().unwrap();
        let again = actors.iter().any(|it| {
            it.pid == pid && it.namespace == namespace && Arc::ptr_eq(&it.host, &actor.host)
        });
        self.log().outcome.reused += u64::from(again);
        actors.push(Arc::clone(&actor));
        Some(actor)
    }

    /// Returns the store as a process sees it.
    pub(super) fn store(&self, actor: &Arc<Actor>) -> Store {
        let network = Network { world: self.clone(), actor: Arc::clone(actor) };
        Store::with_backend(Arc::new(network), store_key()).on_machine(Arc::clone(actor) as _)
    }

    /// Disturbs the world: something happens to a process or to a machine.
    pub(super) fn disturb(&self) {
        match self.pick(0..16) {
            0..3 => self.kill(),
            3..6 => self.pause(),
            6 if self.one_in(3) => self.stop_host(true),
            7 if self.one_in(4) => self.stop_host(false),
            8 if self.one_in(6) => self.reboot(),
            _ => super::actor::start(self),
        }
    }

    fn any_actor(&self) -> Option<Arc<Actor>> {
        let actors = self.0.actors.lock().unwrap();
        let alive: Vec<_> = actors.iter().filter(|it| !it.is_dead()).collect();
        if alive.is_empty() {
            return None;
        }
        Some(Arc::clone(alive[self.pick(0..alive.len() as u64) as usize]))
    }

    fn kill(&self) {
        let Some(actor) = self.any_actor() else { return };
        let is_zombie = self.one_in(3);
        Self::end(&actor, is_zombie);
        self.log().outcome.kills += 1;
    }

    fn end(actor: &Actor, is_zombie: bool) {
        *actor.is_dead.lock().unwrap() = true;
        actor.stops.send_modify(|it| *it += 1);
        let mut inner = actor.host.inner.lock().unwrap();
        let is_it = |it: &Entry| (it.namespace, it.pid) == (actor.namespace, actor.pid);
        if is_zombie {
            for entry in inner.table.iter_mut().filter(|it| is_it(it)) {
                entry.is_zombie = true;
            }
        } else {
            inner.table.retain(|it| !is_it(it));
        }
    }

    /// A process ends in order.
    pub(super) fn exit(actor: &Actor) {
        Self::end(actor, false);
    }

    fn pause(&self) {
        let Some(actor) = self.any_actor() else { return };
        self.log().outcome.pauses += 1;
        let time = Duration::from_millis(self.pick(100..40_000));
        Self::hold(vec![actor], time, || {});
    }

    /// Stops processes for some time.
    fn hold(actors: Vec<Arc<Actor>>, time: Duration, after: impl FnOnce() + Send + 'static) {
        for actor in &actors {
            actor.stops.send_modify(|it| *it += 1);
        }
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            after();
            for actor in &actors {
                actor.stops.send_modify(|it| *it -= 1);
            }
        });
    }

    /// Suspends or freezes a machine. A suspended machine knows how long; a frozen one, such as a
    /// virtual machine whose host stops it, does not.
    fn stop_host(&self, is_suspended: bool) {
        let host = Arc::clone(&self.0.hosts[self.pick(0..self.0.hosts.len() as u64) as usize]);
        let actors = self.0.actors.lock().unwrap();
        let there = actors.iter().filter(|it| Arc::ptr_eq(&it.host, &host) && !it.is_dead());
        let there: Vec<_> = there.cloned().collect();
        drop(actors);
        let time = Duration::from_millis(self.pick(500..40_000));
        let mut inner = host.inner.lock().unwrap();
        if inner.is_stopped {
            return;
        }
        inner.is_stopped = true;
        drop(inner);
        let boot = host.inner.lock().unwrap().boot;
        Self::hold(there, time, move || {
            let mut inner = host.inner.lock().unwrap();
            inner.is_stopped = false;
            if inner.boot != boot {
                return;
            }
            if is_suspended {
                inner.suspended += time;
            } else {
                inner.offset += time;
                inner.was_frozen = true;
            }
        });
    }

    fn reboot(&self) {
        let host = Arc::clone(&self.0.hosts[self.pick(0..self.0.hosts.len() as u64) as usize]);
        let actors = self.0.actors.lock().unwrap().clone();
        for actor in actors.iter().filter(|it| Arc::ptr_eq(&it.host, &host)) {
            Self::end(actor, false);
        }
        let mut inner = host.inner.lock().unwrap();
        inner.table.clear();
        inner.boot = self.0.rng.lock().unwrap().u64(..);
        inner.offset = self.0.begun.elapsed();
        inner.suspended = Duration::ZERO;
    }

    pub(super) fn is_over(&self) -> bool {
        *self.0.is_over.lock().unwrap()
    }

    /// Lets all processes that are alive end.
    pub(super) fn calm_down(&self) {
        *self.0.is_over.lock().unwrap() = true;
    }

    /// Registers a lock by its epoch. A process may register late, because it was paused.
    pub(super) fn locked(&self, epoch: u64) {
        let mut log = self.log();
        log.outcome.locks += 1;
        log.outcome.takeovers += u64::from(!log.open.is_empty());
        log.newest = log.newest.max(epoch);
        log.open.insert(epoch);
    }

    /// Registers the end of a session.
    pub(super) fn released(&self, session: u64) {
        self.log().open.remove(&session);
    }

    pub(super) fn fenced(&self, session: u64) {
        let mut log = self.log();
        log.outcome.fenced += 1;
        log.open.remove(&session);
    }

    pub(super) fn next_revision(&self) -> u64 {
        let mut log = self.log();
        log.next_revision += 1;
        log.next_revision
    }

    pub(super) fn confirmed(&self, revision: u64) {
        let mut log = self.log();
        log.outcome.records += 1;
        log.confirmed.push(revision);
    }

    /// Registers a call to an infrastructure, for which the holder believes that it has the lock.
    pub(super) fn called(&self, session: u64, actor: &Actor) {
        let mut log = self.log();
        log.outcome.calls += 1;
        // A machine that was frozen cannot know it; its next write is refused.
        if session < log.newest && !actor.was_frozen() {
            let newest = log.newest;
            log.outcome
                .problems
                .push(format!("session {session} makes a call, but session {newest} has the lock"));
        }
    }

    pub(super) fn problem(&self, what: String) {
        self.log().outcome.problems.push(what);
    }

    /// Checks the journal: what was confirmed is there once, and holders did not write in turns.
    pub(super) async fn outcome(&self) -> Outcome {
        let store = Store::with_backend(Arc::clone(&self.0.memory) as _, store_key());
        let state = match store.read(&Self::key()).await {
            Ok(state) => state,
            Err(error) => {
                self.problem(error.to_string());
                return self.log().outcome.clone();
            }
        };
        let mut log = self.log();
        let mut problems = Vec::new();
        for revision in &log.confirmed {
            let count = state.releases.iter().filter(|it| it.head.revision == *revision).count();
            if count != 1 {
                problems.push(format!("confirmed record {revision} is there {count} times"));
            }
        }
        let mut operations: Vec<&str> =
            state.releases.iter().map(|it| it.operation_id.as_str()).collect();
        operations.dedup();
        let turns = operations.len();
        operations.sort_unstable();
        operations.dedup();
        if operations.len() != turns {
            problems.push("two holders wrote in turns".to_owned());
        }
        log.outcome.problems.extend(problems);
        log.outcome.clone()
    }
}

fn store_key() -> StoreKey {
    StoreKey::new("0123456789abcdef", [7; 32])
}

/// The way from a process to the store: requests and answers take time, and those of a process
/// that ended still arrive.
struct Network {
    world: World,
    actor: Arc<Actor>,
}

impl Network {
    async fn call<T: Send + 'static>(&self, call: impl Future<Output = T> + Send + 'static) -> T {
        self.actor.pass().await;
        let slow = if self.world.one_in(60) { 9000 } else { 80 };
        let (there, back) = (self.world.pick(0..slow), self.world.pick(0..slow));
        let request = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(there)).await;
            call.await
        });
        let answer = request.await.expect("no panic");
        tokio::time::sleep(Duration::from_millis(back)).await;
        self.actor.pass().await;
        answer
    }
}

#[async_trait]
impl Backend for Network {
    fn place(&self) -> &'static str {
        "world"
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let (memory, key) = (Arc::clone(&self.world.0.memory), key.to_owned());
        self.call(async move { memory.get(&key).await }).await
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        let (memory, key) = (Arc::clone(&self.world.0.memory), key.to_owned());
        self.call(async move { memory.put(&key, bytes, expected).await }).await
    }

    async fn put_after(&self, key: &str, bytes: Bytes, after: &str) -> Result<Version, PutError> {
        let memory = Arc::clone(&self.world.0.memory);
        let (key, after) = (key.to_owned(), after.to_owned());
        self.call(async move { memory.put_after(&key, bytes, &after).await }).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let (memory, prefix) = (Arc::clone(&self.world.0.memory), prefix.to_owned());
        self.call(async move { memory.list(&prefix).await }).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let (memory, keys) = (Arc::clone(&self.world.0.memory), keys.to_vec());
        self.call(async move { memory.delete(&keys).await }).await
    }
}
