//! The work queue: each key at most once, some only after a time, failures with back-off.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

/// The first pause after a failure, in milliseconds.
const FIRST_PAUSE: i64 = 5;
/// The longest pause after failures.
const LONGEST_PAUSE: i64 = 10_000;

/// A queue of keys. Times are milliseconds of one clock.
#[derive(Debug)]
pub(crate) struct Queue<K> {
    ready: VecDeque<K>,
    queued: FxHashSet<K>,
    delayed: BinaryHeap<Reverse<(i64, u64, K)>>,
    due: FxHashMap<K, i64>,
    failures: FxHashMap<K, u32>,
    serial: u64,
}

impl<K: Clone + Eq + Hash + Ord> Queue<K> {
    /// Makes an empty queue.
    pub(crate) fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            queued: FxHashSet::default(),
            delayed: BinaryHeap::new(),
            due: FxHashMap::default(),
            failures: FxHashMap::default(),
            serial: 0,
        }
    }

    /// Adds a key that can be worked on now.
    pub(crate) fn add(&mut self, key: K) {
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    /// Adds a key for a time; an earlier time that is set already stays.
    pub(crate) fn add_at(&mut self, key: K, at: i64) {
        if self.due.get(&key).is_some_and(|it| *it <= at) {
            return;
        }
        self.due.insert(key.clone(), at);
        self.serial += 1;
        self.delayed.push(Reverse((at, self.serial, key)));
    }

    /// Puts a key back after a failure, later each time.
    pub(crate) fn retry(&mut self, key: K, now: i64) {
        let failures = self.failures.entry(key.clone()).or_insert(0);
        *failures += 1;
        let pause = FIRST_PAUSE.saturating_mul(1 << (*failures - 1).min(16)).min(LONGEST_PAUSE);
        self.add_at(key, now + pause);
    }

    /// Forgets the failures of a key.
    pub(crate) fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Takes the next key that can be worked on.
    pub(crate) fn pop(&mut self, now: i64) -> Option<K> {
        while let Some(Reverse((at, _, _))) = self.delayed.peek() {
            if *at > now {
                break;
            }
            let Some(Reverse((at, _, key))) = self.delayed.pop() else { break };
            if self.due.get(&key) == Some(&at) {
                self.due.remove(&key);
                self.add(key);
            }
        }
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        Some(key)
    }

    /// The time at which the next key comes due; none when nothing waits.
    pub(crate) fn next_due(&self) -> Option<i64> {
        self.delayed.peek().map(|Reverse((at, _, _))| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_waits_once() {
        let mut queue = Queue::new();
        queue.add("a");
        queue.add("b");
        queue.add("a");
        assert_eq!([queue.pop(0), queue.pop(0), queue.pop(0)], [Some("a"), Some("b"), None]);
    }

    #[test]
    fn the_earliest_time_wins() {
        let mut queue = Queue::new();
        queue.add_at("a", 50);
        queue.add_at("a", 20);
        queue.add_at("a", 30);
        assert_eq!(queue.next_due(), Some(20));
        assert_eq!(queue.pop(19), None);
        assert_eq!(queue.pop(20), Some("a"));
        assert_eq!(queue.pop(60), None);
    }

    #[test]
    fn pauses_grow_until_success() {
        let mut queue = Queue::new();
        queue.retry("a", 0);
        assert_eq!(queue.next_due(), Some(5));
        assert_eq!(queue.pop(5), Some("a"));
        queue.retry("a", 5);
        assert_eq!(queue.next_due(), Some(15));
        assert_eq!(queue.pop(15), Some("a"));
        queue.forget(&"a");
        queue.retry("a", 15);
        assert_eq!(queue.next_due(), Some(20));
    }
}
