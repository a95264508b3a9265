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

#[cfg(test)]
mod tests {
    use super::ReadOnly;
    use crate::{MemorySystem, System};
    use std::io;
    use std::path::Path;

    #[test]
    fn changes_are_refused_and_remembered() -> io::Result<()> {
        let system = MemorySystem::new().with_file("/a/b.k", "x = 1\n");
        let (file, other) = (Path::new("/a/b.k"), Path::new("/a/c.k"));
        let view = ReadOnly::new(&system);
        assert_eq!(view.read_to_string(file)?, "x = 1\n");
        assert!(view.is_file(file) && view.is_dir(Path::new("/a")) && !view.exists(other));
        assert!(!view.was_refused());
        for change in [
            view.write(file, ""),
            view.write_bytes(other, b""),
            view.append(file, "y = 2\n"),
            view.create_dir_all(other),
            view.remove(file),
            view.copy(file, other),
            view.rename(file, other),
        ] {
            assert_eq!(change.map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
        }
        assert!(view.was_refused());
        assert_eq!(system.read_to_string(file)?, "x = 1\n");
        assert!(!system.exists(other));
        Ok(())
    }
}
