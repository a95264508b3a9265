//! What a package defines and what its statements need, without their trees.
//!
//! An index is one run of bytes that is read in place: whoever needs one schema of ten
//! thousand looks at a few of its words. All numbers are words of 32 bits, little-endian:
//!
//! ```text
//! the counts of what follows
//! files          first import, first statement
//! imports        slot, start, end
//! slots          name, path (each place and length in the texts), is it used, has it an alias
//! statements     file, start, end, first need inside, first need outside
//! always         statements that run whenever the package is imported
//! table          declarations by the hash of their name: hash, statement + 1
//! inside         statements
//! outside        slot, hash of the name (0: all of the package)
//! texts
//! ```
//!
//! Lists end where that of the next file or statement begins.

mod build;
mod view;

pub(crate) use build::build;
pub(crate) use view::{Index, Outside};

use rustc_hash::FxHasher;
use std::hash::Hasher as _;

/// How many lists there are; the counts stand first, in this order.
const N_COUNTS: usize = 9;

/// The list of files, with one more at the end.
const FILES: usize = 0;
const IMPORTS: usize = 1;
const SLOTS: usize = 2;
/// The list of statements, with one more at the end.
const STMTS: usize = 3;
const ALWAYS: usize = 4;
const TABLE: usize = 5;
const INSIDE: usize = 6;
const OUTSIDE: usize = 7;
const TEXTS: usize = 8;

/// How many words an item of each list has; the texts count in words too.
const WIDTHS: [usize; N_COUNTS] = [2, 3, 6, 5, 1, 2, 1, 2, 1];

/// Stands for all names of a package.
pub(crate) const ALL: u32 = 0;

/// The hash of a name; never [`ALL`].
///
/// Two names with one hash do no harm: a statement too many is parsed.
pub(crate) fn name_hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    let hash = hasher.finish();
    ((hash >> 32) as u32 ^ hash as u32).max(1)
}
