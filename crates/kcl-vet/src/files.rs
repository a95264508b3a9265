//! Data files.

use base_system::{FileKind, System};
use kcl_data::{Format, MAX_BYTES};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file of data, read.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// The name that messages show.
    pub name: String,
    /// The text.
    pub text: String,
    /// The form of the text.
    pub format: Format,
}

impl DataFile {
    /// Makes a file of a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>, format: Format) -> Self {
        Self { name: name.into(), text: text.into(), format }
    }
}

/// Why a data file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FileError {
    /// The system does not give it.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// It is too large.
    #[error("cannot read {0}: it has more than {MAX_BYTES} bytes")]
    TooLarge(String),
    /// Its name does not say what it is.
    #[error(
        "cannot tell the form of {0}: give `--format json`, `--format yaml` or `--format toml`"
    )]
    UnknownFormat(String),
    /// There is nothing in a folder.
    #[error("no data files in {0}: expected files that end with .json, .yaml, .yml or .toml")]
    NoFiles(String),
}

/// Reads a data file. Without a format, the end of its name tells it.
///
/// # Errors
///
/// If the file can't be read, is too large or is of an unknown form.
pub fn read_data(
    system: &dyn System,
    path: &Path,
    format: Option<Format>,
) -> Result<DataFile, FileError> {
    let name = path.display().to_string();
    let format = format
        .or_else(|| Format::of_path(path))
        .ok_or_else(|| FileError::UnknownFormat(name.clone()))?;
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        path: name.clone(),
        reason: error.to_string(),
    };
    let facts = system.metadata(path).map_err(unreadable)?;
    if facts.len > MAX_BYTES as u64 {
        return Err(FileError::TooLarge(name));
    }
    let text = system.read_to_string(path).map_err(unreadable)?;
    Ok(DataFile { name, text, format })
}

/// Finds the data files of a folder and of those below it, in the order of their paths. Hidden
/// folders and links are left out.
///
/// # Errors
///
/// If a folder can't be read, or there are no data files.
pub fn find_data(system: &dyn System, folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let entries = system.read_dir(&folder).map_err(|error| FileError::Unreadable {
            path: folder.display().to_string(),
            reason: error.to_string(),
        })?;
        for path in entries {
            let is_hidden = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_none_or(|it| it.starts_with('.'));
            if is_hidden {
                continue;
            }
            match system.link_metadata(&path).ok().flatten().map(|facts| facts.kind) {
                Some(FileKind::Directory) => pending.push(path),
                Some(FileKind::File) if Format::of_path(&path).is_some() => found.push(path),
                _ => {}
            }
        }
    }
    if found.is_empty() {
        return Err(FileError::NoFiles(folder.display().to_string()));
    }
    found.sort();
    Ok(found)
}
