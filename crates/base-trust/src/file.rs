//! The file with trusted settings.

use base_system::System;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Version of the format.
const VERSION: u32 = 1;

/// The settings that the user trusts.
#[derive(Clone, Debug)]
pub struct TrustFile {
    path: PathBuf,
    trusted: Vec<TrustedSetting>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    /// Called `consents` by the first builds.
    #[serde(alias = "consents")]
    trusted: Vec<TrustedSetting>,
}

/// A trusted setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrustedSetting {
    /// The folder whose setting it is.
    pub folder: PathBuf,
    /// The name of the setting.
    pub setting: String,
    /// The fingerprint of what it did.
    digest: String,
}

/// Whether a setting is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Trusted,
    /// It was, with other content.
    Changed,
    /// It is not.
    Unknown,
}

/// Why the file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot use {}: {why}", .file.display())]
pub struct TrustError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

impl TrustFile {
    /// Reads the trusted settings; without the file there are none.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has another format.
    pub fn open(system: &dyn System, path: &Path) -> Result<Self, TrustError> {
        let unusable = |why: String| TrustError { file: path.to_owned(), why };
        let path = path.to_owned();
        let text = match system.read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path, trusted: Vec::new() });
            }
            Err(error) => return Err(unusable(error.to_string())),
        };
        let document: Document =
            serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if document.version != VERSION {
            let why = format!("its format version is {}, expected {VERSION}", document.version);
            return Err(unusable(why));
        }
        Ok(Self { path, trusted: document.trusted })
    }

    /// Returns all trusted settings, sorted by folder.
    pub fn settings(&self) -> &[TrustedSetting] {
        &self.trusted
    }

    /// Returns whether a setting of a folder is trusted with its current content.
    pub fn standing(
        &self,
        system: &dyn System,
        folder: &Path,
        setting: &str,
        digest: &str,
    ) -> Standing {
        let folder = real(system, folder);
        match self.trusted.iter().find(|it| it.folder == folder && it.setting == setting) {
            Some(trusted) if trusted.digest == digest => Standing::Trusted,
            Some(_) => Standing::Changed,
            None => Standing::Unknown,
        }
    }

    /// Notes a setting as trusted; see [`TrustFile::save`].
    pub fn add(&mut self, system: &dyn System, folder: &Path, setting: &str, digest: &str) {
        let folder = real(system, folder);
        self.trusted.retain(|it| !(it.folder == folder && it.setting == setting));
        let (setting, digest) = (setting.to_owned(), digest.to_owned());
        self.trusted.push(TrustedSetting { folder, setting, digest });
        self.trusted.sort();
    }

    /// Withdraws the trust in all settings of a folder and below; returns them. See
    /// [`TrustFile::save`].
    pub fn remove(&mut self, system: &dyn System, folder: &Path) -> Vec<TrustedSetting> {
        let folder = real(system, folder);
        let (gone, kept) = std::mem::take(&mut self.trusted)
            .into_iter()
            .partition(|it| it.folder.starts_with(&folder));
        self.trusted = kept;
        gone
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn save(&self, system: &dyn System) -> Result<(), TrustError> {
        let failed = |why: String| TrustError { file: self.path.clone(), why };
        let document = Document { version: VERSION, trusted: self.trusted.clone() };
        let text =
            serde_json::to_string_pretty(&document).map_err(|error| failed(error.to_string()))?;
        system.write(&self.path, &(text + "\n")).map_err(|error| failed(error.to_string()))
    }
}

fn real(system: &dyn System, folder: &Path) -> PathBuf {
    system.canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    #[test]
    fn trust_is_for_one_setting_of_one_folder_with_its_content() -> Result<(), TrustError> {
        let system = MemorySystem::new().with_file("/r/a/kcl.mod", "");
        let path = Path::new("/home/trust.json");
        let mut file = TrustFile::open(&system, path)?;
        file.add(&system, Path::new("/r/a"), "plugins.x", "1");
        file.save(&system)?;
        let mut file = TrustFile::open(&system, path)?;
        let standing = |file: &TrustFile, folder: &str, setting: &str, digest: &str| {
            file.standing(&system, Path::new(folder), setting, digest)
        };
        assert_eq!(standing(&file, "/r/a", "plugins.x", "1"), Standing::Trusted);
        assert_eq!(standing(&file, "/r/a", "plugins.x", "2"), Standing::Changed);
        assert_eq!(standing(&file, "/r/a", "plugins.y", "1"), Standing::Unknown);
        assert_eq!(standing(&file, "/r", "plugins.x", "1"), Standing::Unknown);
        assert_eq!(file.remove(&system, Path::new("/r")).len(), 1);
        assert_eq!(standing(&file, "/r/a", "plugins.x", "1"), Standing::Unknown);
        Ok(())
    }

    #[test]
    fn a_file_of_another_format_is_refused() {
        let open = |text: &str| {
            let system = MemorySystem::new().with_file("/t.json", text);
            TrustFile::open(&system, Path::new("/t.json")).map(|_| ()).map_err(|it| it.to_string())
        };
        assert_eq!(open(r#"{"version":1,"consents":[]}"#), Ok(()));
        let newer = "cannot use /t.json: its format version is 2, expected 1";
        assert_eq!(open(r#"{"version":2,"trusted":[]}"#), Err(newer.into()));
        assert!(open("x").is_err());
    }
}
