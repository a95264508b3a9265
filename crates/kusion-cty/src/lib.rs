//! The values of Terraform providers: types, values with unknown parts, and their encodings.
//!
//! Start with [`Type`] and [`Value`]. A value does not know its type: a schema does, so that both are
//! passed together. [`msgpack`] and [`json`] are the two encodings of the plugin protocol, [`convert`]
//! reads what users write. Input is not trusted: nesting, lengths and numbers are limited, and no
//! more memory is allocated than the input is long, by a constant factor. Knows no provider, no file
//! and no network.

pub mod convert;
mod error;
pub mod json;
pub mod msgpack;
mod number;
mod path;
mod types;
mod value;

pub use error::ValueError;
pub use number::{Number, NumberError};
pub use path::{Marks, Path, Step};
pub use types::{Type, TypeError};
pub use value::{Bound, Refinement, Typed, Value};

/// The greatest nesting of values and types.
pub const MAX_DEPTH: usize = 100;
