//! The system modules, one per file.

mod base32;
mod base64;
mod collection;
mod crypto;
mod datetime;
mod duration;
mod file;
mod glob;
mod json;
mod manifests;
mod math;
mod net;
mod regex;
mod runtime;
mod template;
mod units;
mod yaml;

pub use template::fill_template;

use crate::Module;

/// All system modules, in the order of [`kcl_names::MODULES`].
pub fn modules() -> &'static [Module] {
    &MODULES
}

static MODULES: [Module; 16] = [
    collection::MODULE,
    net::MODULE,
    manifests::MODULE,
    math::MODULE,
    datetime::MODULE,
    duration::MODULE,
    regex::MODULE,
    yaml::MODULE,
    json::MODULE,
    crypto::MODULE,
    base64::MODULE,
    units::MODULE,
    file::MODULE,
    template::MODULE,
    runtime::MODULE,
    base32::MODULE,
];
