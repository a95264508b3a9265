//! The files of the repository, read once.

use anyhow::{Context as _, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All text files that are tracked or about to be.
pub(crate) struct Tree {
    /// The files, sorted by path.
    pub files: Vec<File>,
}

/// One text file.
pub(crate) struct File {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Tree {
    /// Reads the files that Git knows or would add.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let listing = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("running git")?;
        ensure!(listing.status.success(), "git ls-files failed in {}", root.display());
        let mut paths: Vec<PathBuf> = String::from_utf8_lossy(&listing.stdout)
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect();
        paths.sort();
        paths.dedup();
        // Files that are not text (or just deleted) have nothing to check.
        let files = paths
            .iter()
            .filter_map(|path| {
                let text = std::fs::read_to_string(root.join(path)).ok()?;
                Some(File { path: path.to_string_lossy().replace('\\', "/"), text })
            })
            .collect();
        Ok(Self { files })
    }

    /// Finds a file by its path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Lists the Rust files.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(|file| Path::new(&file.path).extension().is_some_and(|it| it == "rs"))
    }
}

impl File {
    /// Whether the file was written by a program.
    pub(crate) fn is_generated(&self) -> bool {
        self.text.lines().take(5).any(|line| line.contains("@generated"))
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        let in_test_folder =
            self.path.split('/').any(|part| matches!(part, "tests" | "benches" | "testkit"));
        in_test_folder || self.path.ends_with("/tests.rs")
    }
}
