//! The methods of strings.
//!
//! Positions count bytes, as in the reference.

mod case;
mod format;
mod format_spec;
mod search;
mod split;

use crate::function::Method;

/// All string methods, in the order of [`kcl_names::METHODS`].
pub fn string_methods() -> &'static [Method] {
    METHODS
}

static METHODS: &[Method] = &[
    Method::new("capitalize", case::capitalize),
    Method::new("chars", split::chars),
    Method::new("count", search::count),
    Method::new("endswith", search::endswith),
    Method::new("find", search::find),
    Method::new("format", format::format),
    Method::new("index", search::index),
    Method::new("isalpha", case::isalpha),
    Method::new("isalnum", case::isalnum),
    Method::new("isdigit", case::isdigit),
    Method::new("islower", case::islower),
    Method::new("isspace", case::isspace),
    Method::new("istitle", case::istitle),
    Method::new("isupper", case::isupper),
    Method::new("join", split::join),
    Method::new("lower", case::lower),
    Method::new("upper", case::upper),
    Method::new("lstrip", split::lstrip),
    Method::new("rstrip", split::rstrip),
    Method::new("replace", search::replace),
    Method::new("removeprefix", split::removeprefix),
    Method::new("removesuffix", split::removesuffix),
    Method::new("rfind", search::rfind),
    Method::new("rindex", search::rindex),
    Method::new("rsplit", split::rsplit),
    Method::new("split", split::split),
    Method::new("splitlines", split::splitlines),
    Method::new("startswith", search::startswith),
    Method::new("strip", split::strip),
    Method::new("title", case::title),
];
