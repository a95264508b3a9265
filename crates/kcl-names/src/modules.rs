//! The system modules, one per file.

mod base32;
mod base64;
mod collection;
mod crypto;
mod datetime;
mod duration;
mod file;
mod json;
mod manifests;
mod math;
mod net;
mod regex;
mod runtime;
mod template;
mod units;
mod yaml;

use crate::signature::Module;

/// The system modules, in the reference's order.
pub const MODULES: &[Module] = &[
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
