//! Large stacks.

/// Stack sizes, tried in order. The system reserves the pages and takes only those used.
pub(crate) const LARGE_STACKS: [usize; 3] = [1 << 30, 256 << 20, 64 << 20];

/// Runs `work` on a large stack. A panic goes on in the caller.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    use corosensei::on_stack;
    use corosensei::stack::DefaultStack;

    // Another stack for the same thread costs a short run less than another thread.
    match LARGE_STACKS.iter().find_map(|size| DefaultStack::new(*size).ok()) {
        Some(stack) => on_stack(stack, work),
        None => work(),
    }
}

/// Runs `work` on a large stack. A panic goes on in the caller.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    use std::io;
    use std::panic;
    use std::thread::{Builder, scope};

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
