//! Where cases run: a folder that is removed afterwards, and the binaries.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::Missing;

/// A temporary folder, removed with the value.
pub struct Place {
    /// The folder.
    pub folder: PathBuf,
}

impl Place {
    /// Creates a folder whose name begins with the given one.
    pub fn new(name: &str) -> Result<Self> {
        let name: String =
            name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
        let folder =
            std::env::temp_dir().join(format!("kusion-hostile-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("home")).context("cannot create a folder")?;
        fs::create_dir_all(folder.join("tmp"))?;
        fs::create_dir_all(folder.join("work"))?;
        Ok(Self { folder })
    }

    /// Returns the folder in which the command runs.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Writes a file of the working folder, and the folders above it.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.work().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the folder with the binaries: the one that cargo built this test into.
pub fn binaries() -> Result<PathBuf, Missing> {
    let test = std::env::current_exe().unwrap_or_default();
    let folder = test.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned();
    for name in ["kcl", "kusion"] {
        if !folder.join(name).is_file() {
            let line =
                format!("skipped: bad inputs (no binary `{name}`: run `cargo build --bins`)");
            return Err(Missing::new(line));
        }
    }
    Ok(folder)
}
