//! The reconcilers: they watch what is wanted and bring the cluster there.
//!
//! One thread does all work. It reads events in the order of the store into a cache, turns each
//! into keys of a work queue (`route.rs`), and works the queue off. A reconciler is a function
//! from the cache and a key to writes through [`Api`]; when a write conflicts, the key comes
//! back after a pause. Before each key the cache takes in all events, so that a reconciler sees
//! its own writes.

mod autoscaler;
pub(crate) mod cache;
pub(crate) mod clock;
pub(crate) mod cron;
mod cronjob;
mod daemonset;
pub(crate) mod deployment;
mod disruption;
mod endpoints;
mod ingress;
mod job;
pub(crate) mod kind;
pub(crate) mod meta;
mod ownership;
mod queue;
pub(crate) mod record;
mod replicas;
mod revision;
mod route;
mod slices;
mod statefulset;
pub(crate) mod task;
mod template;
#[cfg(test)]
mod tests;
pub(crate) mod volumes;
pub(crate) mod world;

pub use clock::{Clock, SystemClock};
pub(crate) use kusion_k8s_schema::selector;

use crate::lifecycle::bootstrap::{self, ServerAddress};
use crate::pods::nodes::Nodes;
use crate::{Api, Status, Subscription};
use kind::Kind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use task::{Key, Task};
use world::World;

/// The longest time that the thread sleeps before it looks whether it should stop.
const LONGEST_SLEEP_MS: i64 = 200;

/// How reconcilers are started.
#[derive(Debug, Clone)]
pub struct ControllerOptions {
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where the server listens, for the Service `default/kubernetes`.
    pub server: ServerAddress,
    /// The nodes.
    pub nodes: Nodes,
    /// The certificate (PEM) that every namespace gets in `kube-root-ca.crt`.
    pub root_ca: Arc<str>,
}

impl Default for ControllerOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            server: ServerAddress::default(),
            nodes: Nodes::default(),
            root_ca: "".into(),
        }
    }
}

/// Running reconcilers; dropping it stops them.
#[derive(Debug)]
pub struct Controllers {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Controllers {
    /// Makes the objects of a new cluster, then starts the reconcilers in a thread of their own.
    pub fn start(api: Api, options: &ControllerOptions) -> Result<Self, Status> {
        let mut runtime = Runtime::new(api, options)?;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("controllers".to_owned())
            .spawn(move || {
                while !flag.load(Ordering::Relaxed) {
                    // A panic is a bug of ours, and is in the log: the work on one object is
                    // given up, that on all others goes on.
                    let step = catch_unwind(AssertUnwindSafe(|| runtime.step()));
                    if !step.unwrap_or(true) {
                        runtime.sleep();
                    }
                }
            })
            .map_err(|it| Status::internal(&it.to_string()))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

/// Reconcilers that work only when they are told to.
#[derive(Debug)]
pub struct Reconcilers {
    runtime: Runtime,
}

impl Reconcilers {
    /// Makes the objects of a new cluster.
    ///
    /// # Errors
    /// An object is refused: the cluster is not new.
    pub fn new(api: Api, options: &ControllerOptions) -> Result<Self, Status> {
        Runtime::new(api, options).map(|runtime| Self { runtime })
    }

    /// Works until nothing is to be done at present, at most `limit` steps.
    pub fn work(&mut self, limit: usize) {
        (0..limit).take_while(|_| self.runtime.step()).for_each(drop);
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The work of the thread, step by step.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// What reconcilers see.
    pub world: World,
    events: Subscription,
}

impl Runtime {
    /// Subscribes and makes the objects of a new cluster.
    pub(crate) fn new(api: Api, options: &ControllerOptions) -> Result<Self, Status> {
        let events = api.subscribe_from_start();
        let mut world = World::new(api, Arc::clone(&options.clock), Arc::clone(&options.root_ca));
        bootstrap::run(&world, &options.server, &options.nodes)?;
        world.queue.add(Key::new(Task::Events, Kind::Event, "", ""));
        Ok(Self { world, events })
    }

    /// Works one key off; returns whether there was one.
    pub(crate) fn step(&mut self) -> bool {
        self.take_events();
        let now = self.world.now_ms();
        let Some(key) = self.world.queue.pop(now) else { return false };
        match task::run(&mut self.world, &key) {
            Ok(()) => self.world.queue.forget(&key),
            Err(_) => {
                let now = self.world.now_ms();
                self.world.queue.retry(key, now);
            }
        }
        true
    }

    /// Waits for the next event or the next key that comes due.
    fn sleep(&mut self) {
        let now = self.world.now_ms();
        let rest = self.world.queue.next_due().map_or(LONGEST_SLEEP_MS, |it| it - now);
        let rest = rest.clamp(1, LONGEST_SLEEP_MS) as u64;
        match self.events.next_within(Duration::from_millis(rest)) {
            Ok(event) => route::take(&mut self.world, &event),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                std::thread::sleep(Duration::from_millis(rest));
            }
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.events.try_next() {
            route::take(&mut self.world, &event);
        }
    }
}
