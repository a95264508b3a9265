//! Bad inputs for the binaries `kcl` and `kusion`, as tables in `cases/`, and what is needed to run
//! them as processes under hard limits.
//!
//! Knows the binaries only by their command lines. Start reading at [`Case`] and at the tables.

mod case;
mod outcome;
mod place;
mod process;
mod request;
mod sandbox;
mod server;
mod trace;

pub use case::{Case, Family, load};
pub use outcome::{Finished, broken};
pub use place::{Place, binaries};
pub use process::{LIMIT_BYTES, LIMIT_SECONDS, peak_of_children, shell};
pub use request::ask;
pub use sandbox::Sandbox;
pub use server::Server;
pub use trace::{Access, Trace};
