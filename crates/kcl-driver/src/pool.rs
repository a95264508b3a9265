//! The one thread pool: items, worked on by threads with large stacks.

use crate::stack::{on_caller_stack, on_stack_of, stack_sizes};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// How work is split between threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    /// How many threads work, at most 256; as many as there are cores if 0.
    pub threads: usize,
    /// How many neighbouring items a thread takes at a time; 0 counts as 1.
    pub chunk: usize,
}

impl Pool {
    /// Returns how many threads work.
    pub fn n_threads(self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n.min(256),
        }
    }

    /// Works on the items `0..n_items`. Each thread starts with a state made by `begin`, calls
    /// `work` for each item that it takes, and ends with `end`; the results of `end` come in no
    /// particular order.
    ///
    /// Threads have large stacks, so programs may be deep. A panic continues in the caller.
    pub fn each<S, R: Send>(
        self,
        n_items: usize,
        begin: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
        end: impl Fn(S) -> R + Sync,
    ) -> Vec<R> {
        if n_items == 0 {
            return Vec::new();
        }
        let chunk = self.chunk.max(1);
        let next = AtomicUsize::new(0);
        let thread = || {
            let mut state = begin();
            loop {
                let first = next.fetch_add(chunk, Ordering::Relaxed);
                if first >= n_items {
                    return end(state);
                }
                for at in first..n_items.min(first + chunk) {
                    work(&mut state, at);
                }
            }
        };
        let n_threads = self.n_threads().min(n_items.div_ceil(chunk));
        thread::scope(|scope| {
            let spawn = |size: usize| {
                let run = move || on_stack_of(size, n_threads, thread);
                Builder::new().stack_size(size).spawn_scoped(scope, run).ok()
            };
            let handles: Vec<_> =
                (0..n_threads).filter_map(|_| stack_sizes(n_threads).find_map(spawn)).collect();
            if handles.is_empty() {
                return vec![on_caller_stack(thread)];
            }
            let join = |handle: thread::ScopedJoinHandle<'_, R>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            handles.into_iter().map(join).collect()
        })
    }

    /// Maps the items `0..n_items`; the results come in the order of the items. Each thread
    /// starts with a state made by `begin`.
    pub fn map<S, R: Send>(
        self,
        n_items: usize,
        begin: impl Fn() -> S + Sync,
        map: impl Fn(&mut S, usize) -> R + Sync,
    ) -> Vec<R> {
        let parts = self.each(
            n_items,
            || (begin(), Vec::new()),
            |(state, done), at| done.push((at, map(state, at))),
            |(_, done)| done,
        );
        let mut all: Vec<(usize, R)> = parts.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for (threads, chunk) in [(0, 0), (1, 1), (3, 1), (4, 7), (300, 2)] {
            let squares = Pool { threads, chunk }.map(100, || (), |(), at| at * at);
            assert_eq!(squares, (0..100).map(|at| at * at).collect::<Vec<_>>());
        }
        assert_eq!(Pool::default().map(0, || (), |(), at| at), [0; 0]);
    }

    #[test]
    fn each_thread_ends_once() {
        let sums = Pool { threads: 4, chunk: 3 }.each(10, || 0, |sum, at| *sum += at, |sum| sum);
        assert!(sums.len() <= 4);
        assert_eq!(sums.iter().sum::<usize>(), 45);
    }
}
