//! Folders of local data.

use crate::failure::Failure;
use std::env::var_os;
use std::path::PathBuf;

/// Returns the folder for local data: `KUSION_HOME`, or the default of the platform.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    if let Some(home) = var_os("KUSION_HOME").filter(|it| !it.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    let base = if cfg!(target_os = "macos") {
        var_os("HOME").map(|home| PathBuf::from(home).join("Library/Application Support"))
    } else if cfg!(windows) {
        var_os("LOCALAPPDATA").map(PathBuf::from)
    } else {
        var_os("XDG_DATA_HOME")
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
            .or_else(|| var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")))
    };
    base.map(|base| base.join("kusion")).ok_or(Failure::NoHome)
}

/// Returns the file with the settings of the user, in the configuration folder of the platform;
/// `None` if that folder is unknown. A relative folder would depend on where the command runs.
pub(crate) fn config_file() -> Option<PathBuf> {
    let base = if cfg!(target_os = "macos") {
        var_os("HOME").map(|home| PathBuf::from(home).join("Library/Application Support"))
    } else if cfg!(windows) {
        var_os("APPDATA").map(PathBuf::from)
    } else {
        let set = var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
        set.or_else(|| var_os("HOME").map(|home| PathBuf::from(home).join(".config")))
    };
    base.filter(|it| it.is_absolute()).map(|base| base.join("kusion/config.yaml"))
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
