//! Whether two outputs say the same.

use anyhow::Context as _;
use std::fs;
use std::path::Path;
use yaml_serde::{Deserializer, Value};

/// Whether two files hold the same YAML documents, as data. Equal bytes are not parsed.
///
/// # Errors
///
/// If a file can't be read or is not YAML.
pub(crate) fn same_data(one: &Path, other: &Path) -> anyhow::Result<bool> {
    let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    let (one, other) = (read(one)?, read(other)?);
    Ok(one.trim_end() == other.trim_end() || documents(&one)? == documents(&other)?)
}

fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    Deserializer::from_str(text)
        .map(|document| Ok(serde::Deserialize::deserialize(document)?))
        .collect()
}
