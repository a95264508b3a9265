//! Threads with large stacks.

use std::io;
use std::panic;
use std::thread::{Builder, scope};

/// Stack sizes, tried in order. The system reserves the pages and takes only those used.
pub(crate) const LARGE_STACKS: [usize; 3] = [1 << 30, 256 << 20, 64 << 20];

/// Runs `work` on a thread with a large stack. A panic goes on in the caller.
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    for size in LARGE_STACKS {
        let outcome = scope(|scope| -> io::Result<T> {
            let thread = Builder::new().stack_size(size).spawn_scoped(scope, &work)?;
            Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
        });
        if let Ok(value) = outcome {
            return value;
        }
    }
    work()
}
