//! YAML.

mod scalar;
mod write;

pub(crate) use write::write_filtered;
pub use write::{WriteOptions, write, write_stream, write_with};
