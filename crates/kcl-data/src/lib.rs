//! Data files with the places of their parts: JSON, YAML and TOML.
//!
//! [`read`] turns a text into [`Node`]s, each with the bytes that it was read from, so that tools
//! can say where in a data file something is wrong. [`Source`] writes nodes as KCL source, and
//! remembers which part of the data each part of the source came from. Knows nothing of schemas,
//! packages or files.

mod error;
mod json;
mod node;
mod source;
mod toml_reader;
mod yaml;

pub use error::DataError;
pub use node::{Data, Entry, Format, Node, read};
pub use source::{Anchors, Layout, Source, key_text, name_text, string_text};

/// How deep lists and dicts may be nested.
pub const MAX_DEPTH: usize = 128;

/// How many nodes a text may have, those that aliases of YAML repeat included.
pub const MAX_NODES: usize = 4_000_000;

/// How many bytes a text may have.
pub const MAX_BYTES: usize = 256 << 20;
