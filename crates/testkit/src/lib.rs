//! What tests share: fixtures in one string, golden files, sessions of command line tools (on a
//! terminal, too), random numbers, the conformance vectors, the addresses of servers, and suites
//! whose tests need such things.
//!
//! Development only: no shipped crate depends on it, and it knows none of them, so each may
//! use it in its tests. Start reading at [`Fixture`] and [`golden::check`].

mod corpus;
mod fixture;
pub mod golden;
mod json;
mod rng;
mod servers;
mod suite;
#[cfg(unix)]
pub mod terminal;
pub mod transcript;

pub use corpus::{Case, Corpus};
pub use fixture::{Annotation, Fixture, FixtureFile};
pub use json::is_alike;
pub use rng::Rng;
pub use servers::server;
pub use suite::{Missing, Suite};

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.unwrap_or(Path::new(".")).to_owned()
}
