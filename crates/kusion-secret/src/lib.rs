//! Protection of secret values: sealed in storage, redacted in output.
//!
//! [`Sealer`] replaces values by a keyed hash, which shows whether values are equal, and an
//! encrypted copy, which can be opened only with the key and only for the resource and path that it
//! was sealed for. [`Redactor`] hides secrets in texts. Independent of stores, resource kinds and
//! clusters.

mod key;
mod redact;
mod seal;

pub use key::{KEY_FILE, KEY_VARIABLE, KeyError, KeyText};
pub use redact::Redactor;
pub use seal::{MAC_LENGTH, Owner, Sealer, UnsealError, is_sealed, sealed_hash, sealed_keys};
