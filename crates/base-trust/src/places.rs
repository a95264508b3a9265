//! Where a user's own files are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the file with trusted settings, in the folder for local data.
const TRUST_FILE: &str = "trust.json";

/// Reads variables of the environment.
type Env<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// Returns the folder for local data: `KUSION_HOME`, or the default of the platform; `None` if that
/// is unknown.
pub fn data_folder(env: Env<'_>) -> Option<PathBuf> {
    if let Some(home) = env("KUSION_HOME").filter(|it| !it.is_empty()) {
        return Some(PathBuf::from(home));
    }
    let base = if cfg!(target_os = "macos") {
        env("HOME").map(|home| PathBuf::from(home).join("Library/Application Support"))
    } else if cfg!(windows) {
        env("LOCALAPPDATA").map(PathBuf::from)
    } else {
        env("XDG_DATA_HOME")
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
            .or_else(|| env("HOME").map(|home| PathBuf::from(home).join(".local/share")))
    };
    base.map(|base| base.join("kusion"))
}

/// Returns the file with trusted settings in the folder for local data.
pub fn trust_file(data_folder: &Path) -> PathBuf {
    data_folder.join(TRUST_FILE)
}

/// Returns the file with the settings of the user, in the configuration folder of the platform;
/// `None` if that folder is unknown. A relative folder would depend on where the command runs.
pub fn config_file(env: Env<'_>) -> Option<PathBuf> {
    let base = if cfg!(target_os = "macos") {
        env("HOME").map(|home| PathBuf::from(home).join("Library/Application Support"))
    } else if cfg!(windows) {
        env("APPDATA").map(PathBuf::from)
    } else {
        let set = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
        set.or_else(|| env("HOME").map(|home| PathBuf::from(home).join(".config")))
    };
    base.filter(|it| it.is_absolute()).map(|base| base.join("kusion/config.yaml"))
}
