//! JSON.

mod read;
mod write;

pub use read::parse;
pub(crate) use write::write_filtered;
pub use write::{WriteOptions, write, write_with};
