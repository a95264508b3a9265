//! A folder of things that are costly to find out and easy to lose.
//!
//! An entry has a kind and a [`Key`]: the hash of all that it follows from. Nobody changes an
//! entry in place: writers write a file of their own and rename it, so readers and writers of
//! many processes need no locks. Each block of an entry has a checksum, and the head names
//! the build that wrote it: whatever is cut, damaged, foreign or of another build counts as
//! absent. The folder is bounded in size; the oldest entries go first.
//!
//! Knows nothing of what the entries mean. Start reading at [`Cache`].

mod cache;
mod key;
mod sealed;

pub use cache::{Cache, CacheMode, entries_from_env};
pub use key::{Key, KeyBuilder, hash};
pub use sealed::{Sealed, seal};
