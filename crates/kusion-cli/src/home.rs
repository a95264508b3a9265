//! Folders of local data.

use crate::failure::Failure;
use std::env::var_os;
use std::path::PathBuf;

/// Returns the folder for local data: `KUSION_HOME`, or the default of the platform.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    base_trust::data_folder(&|name| var_os(name)).ok_or(Failure::NoHome)
}

/// Returns the file with the settings of the user; `None` if its folder is unknown.
pub(crate) fn config_file() -> Option<PathBuf> {
    base_trust::config_file(&|name| var_os(name))
}

/// Returns the folder of all sandboxes.
pub(crate) fn sandboxes() -> Result<PathBuf, Failure> {
    Ok(folder()?.join("sandbox"))
}

/// Returns the folder of one sandbox.
pub(crate) fn sandbox(name: &str) -> Result<PathBuf, Failure> {
    let good = !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !good {
        return Err(Failure::Name(name.to_owned()));
    }
    Ok(sandboxes()?.join(name))
}
