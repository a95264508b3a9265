//! The system modules.

use crate::Module;

/// The names of the system modules, in the reference's order.
pub const MODULE_NAMES: &[&str] = &[
    "collection",
    "net",
    "manifests",
    "math",
    "datetime",
    "duration",
    "regex",
    "yaml",
    "json",
    "crypto",
    "base64",
    "units",
    "file",
    "template",
    "runtime",
    "base32",
];

/// All system modules.
pub fn modules() -> &'static [Module] {
    &MODULES
}

static MODULES: [Module; 0] = [];
