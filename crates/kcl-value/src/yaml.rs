//! YAML.

mod read;
mod scalar;
mod write;

pub use read::{parse, parse_stream};
pub(crate) use write::write_filtered;
pub use write::{WriteOptions, write, write_manifests, write_stream, write_with};
