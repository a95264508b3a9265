//! Large stacks, and what each of them may use.

use base_system::address_space;
use kcl_eval::stack_address;
use std::cell::Cell;

/// Stack sizes, tried in order. The system reserves the pages and takes only those used.
const LARGE_STACKS: [usize; 5] = [1 << 30, 256 << 20, 64 << 20, 16 << 20, 4 << 20];

/// What is taken to be left of the stack of a caller, if there is no large one.
const UNKNOWN_STACK: usize = 512 << 10;

/// What evaluations on a thread may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The lowest address that frames of the stack may have. Below it is room for what does not
    /// look at it, such as the output of deep values.
    pub(crate) stack_floor: usize,
    /// How many bytes of memory values may take, if the process has a limit.
    pub(crate) memory: u64,
}

thread_local! {
    static ROOM: Cell<Room> = const { Cell::new(Room { stack_floor: 0, memory: u64::MAX }) };
}

/// Returns what evaluations on this thread may use.
pub(crate) fn room() -> Room {
    ROOM.get()
}

/// Runs `work` on the current stack, which has `size` bytes, in one of `n_threads` threads.
pub(crate) fn on_stack_of<T>(size: usize, n_threads: usize, work: impl FnOnce() -> T) -> T {
    /// Sets what was before, also after a panic.
    struct Restore(Room);
    impl Drop for Restore {
        fn drop(&mut self) {
            ROOM.set(self.0);
        }
    }
    let stack_floor = stack_address().saturating_sub(size - size / 8);
    let memory = address_space().map_or(u64::MAX, |space| memory_share(space, n_threads));
    let _restore = Restore(ROOM.replace(Room { stack_floor, memory }));
    work()
}

/// Runs `work` on the stack of the caller, of which little is taken to be left.
pub(crate) fn on_caller_stack<T>(work: impl FnOnce() -> T) -> T {
    on_stack_of(UNKNOWN_STACK, 1, work)
}

/// Returns how many bytes of values a thread may have. The rest of the address space is for
/// stacks, for the program itself, and for what values take beyond what is counted.
fn memory_share(space: u64, n_threads: usize) -> u64 {
    space / 4 / n_threads.max(1) as u64
}

/// Returns the stack sizes to try for each of `n_threads` threads: together they take at most a
/// quarter of the address space.
pub(crate) fn stack_sizes(n_threads: usize) -> impl Iterator<Item = usize> {
    let share = address_space().map(|space| space / 4 / n_threads.max(1) as u64);
    LARGE_STACKS.into_iter().filter(move |size| share.is_none_or(|share| *size as u64 <= share))
}

/// Runs `work` on a large stack. A panic goes on in the caller.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    use corosensei::on_stack;
    use corosensei::stack::DefaultStack;

    // Another stack for the same thread costs a short run less than another thread.
    let made = stack_sizes(1).find_map(|size| Some((size, DefaultStack::new(size).ok()?)));
    match made {
        Some((size, stack)) => on_stack(stack, || on_stack_of(size, 1, work)),
        None => on_caller_stack(work),
    }
}

/// Runs `work` on a large stack. A panic goes on in the caller.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    use std::io;
    use std::panic;
    use std::thread::{Builder, scope};

    for size in stack_sizes(1) {
        let outcome = scope(|scope| -> io::Result<T> {
            let run = || on_stack_of(size, 1, &work);
            let thread = Builder::new().stack_size(size).spawn_scoped(scope, run)?;
            Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
        });
        if let Ok(value) = outcome {
            return value;
        }
    }
    on_caller_stack(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_below_the_stack_and_goes_with_it() {
        assert_eq!(room().stack_floor, 0);
        with_large_stack(|| {
            let floor = room().stack_floor;
            assert!(floor > 0 && floor < stack_address());
        });
        assert_eq!(room().stack_floor, 0);
    }

    #[test]
    fn threads_share_a_limited_address_space() {
        assert_eq!(memory_share(1 << 30, 1), 1 << 28);
        assert_eq!(memory_share(1 << 30, 4), 1 << 26);
    }
}
