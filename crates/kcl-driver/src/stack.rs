//! Large stacks.

use std::cell::Cell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::thread::{Builder, scope};

/// Stack sizes, tried in order. The system reserves the pages and takes only those used.
pub(crate) const LARGE_STACKS: [usize; 3] = [1 << 30, 256 << 20, 64 << 20];

/// Runs `work` on a large stack. A panic goes on in the caller.
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    // Another stack for the same thread costs a short run less than another thread.
    if cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))) {
        let has_begun = Cell::new(false);
        let begin = || {
            has_begun.set(true);
            work()
        };
        let outcome = AssertUnwindSafe(|| stacker::grow(LARGE_STACKS[0], begin));
        match panic::catch_unwind(outcome) {
            Ok(value) => return value,
            Err(panic) if has_begun.get() => panic::resume_unwind(panic),
            // There is no room for a stack of that size.
            Err(_) => {}
        }
    }
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
