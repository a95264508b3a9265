//! The binary encoding of values in the plugin protocol: `MessagePack`, read and written by
//! the type.

mod decode;
mod encode;

pub use decode::decode;
pub use encode::encode;

/// Extension type of an unknown value about which nothing is known.
const UNKNOWN: i8 = 0;
/// Extension type of an unknown value with a refinement.
const REFINED: i8 = 12;

/// Keys of a refinement.
mod key {
    pub(super) const NULLNESS: u64 = 1;
    pub(super) const PREFIX: u64 = 2;
    pub(super) const MIN: u64 = 3;
    pub(super) const MAX: u64 = 4;
    pub(super) const MIN_LENGTH: u64 = 5;
    pub(super) const MAX_LENGTH: u64 = 6;
}
