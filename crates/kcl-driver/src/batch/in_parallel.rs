//! Work on several threads.

use std::thread;

/// Maps items on several threads, in order; each thread begins with a state of its own.
pub(super) fn in_parallel<T: Sync, S, R: Send>(
    items: &[T],
    threads: usize,
    begin: impl Fn() -> S + Sync,
    map: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    let work = |chunk: &[T]| {
        let state = begin();
        chunk.iter().map(|item| map(&state, item)).collect::<Vec<R>>()
    };
    if items.len() < 64 || threads < 2 {
        return work(items);
    }
    let size = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> =
            items.chunks(size).map(|chunk| scope.spawn(move || work(chunk))).collect();
        let mut all = Vec::with_capacity(items.len());
        for part in parts {
            all.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
