//! Downloads packages: from OCI registries and Git repositories into a folder that is shared by all
//! modules of a user.
//!
//! [`Fetcher`] is the [`Provider`](kcl_pkg::Provider) of the binary `kcl`; nothing of the network is
//! touched before it is asked for a package. [`Registry`] speaks to OCI registries, also to push;
//! [`Credentials`] finds, stores and removes credentials; [`pack`] makes the archive of a package.
//! Sources are not trusted: URLs, archives and answers are limited in size, kind and time, and what
//! was downloaded is used only when it is complete and checked.

mod archive;
mod auth;
mod credentials;
mod error;
mod fetcher;
mod git;
mod http;
mod location;
mod manifest;
mod pack;
mod progress;
mod registry;
mod store;

pub use archive::unpack;
pub use credentials::{Credential, Credentials};
pub use error::FetchError;
pub use fetcher::{FetchOptions, Fetcher};
pub use location::{Location, LocationError};
pub use pack::{PackError, PackedPackage, pack};
pub use progress::{Progress, Silent};
pub use registry::Registry;
