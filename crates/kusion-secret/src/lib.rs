//! Keeps secret values secret: sealed where they are stored, starred out where they are shown.
//!
//! [`Sealer`] replaces values by a keyed hash, which tells equal values from others, and an
//! encrypted copy, which only the key opens, and only for the resource and path that it was sealed
//! for. [`Redactor`] hides secrets in texts. Knows no store,
//! no resource kinds and no cluster.

mod key;
mod redact;
mod seal;

pub use key::{KEY_FILE, KEY_VARIABLE, KeyError, KeyText};
pub use redact::Redactor;
pub use seal::{MAC_LENGTH, Owner, Sealer, UnsealError, is_sealed, sealed_hash};
