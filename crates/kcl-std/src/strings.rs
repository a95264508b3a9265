//! The methods of strings.

use crate::Method;

/// All string methods.
pub fn string_methods() -> &'static [Method] {
    &METHODS
}

static METHODS: [Method; 0] = [];
