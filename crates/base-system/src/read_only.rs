//! A system that changes nothing.

use crate::{System, View};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// A system that refuses all changes, and remembers that it did.
///
/// For work that may have to be done again.
pub struct ReadOnly<'s, S: System + ?Sized = dyn System> {
    system: &'s S,
    was_refused: AtomicBool,
}

impl<'s, S: System + ?Sized> ReadOnly<'s, S> {
    /// Makes a view of a system.
    pub fn new(system: &'s S) -> Self {
        Self { system, was_refused: AtomicBool::new(false) }
    }

    /// Whether a change was refused.
    pub fn was_refused(&self) -> bool {
        self.was_refused.load(Ordering::Relaxed)
    }
}

impl<S: System + ?Sized> View for ReadOnly<'_, S> {
    type Behind = S;

    fn behind(&self) -> &S {
        self.system
    }

    fn to_change(&self) -> io::Result<&S> {
        self.was_refused.store(true, Ordering::Relaxed);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "nothing may be changed here"))
    }
}
