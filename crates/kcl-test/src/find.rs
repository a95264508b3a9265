//! Packages that have tests.

use base_system::{FileKind, System};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Folders that are not searched, beside hidden ones.
const SKIPPED: [&str; 3] = ["vendor", "node_modules", "target"];

/// A folder with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFolder {
    /// The real, absolute path.
    pub folder: PathBuf,
    /// The only test file that counts; `None` if all of them do.
    pub only: Option<PathBuf>,
}

/// Why there are no tests.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FindError {
    /// A folder or file can't be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The folder or file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A file that is no test.
    #[error("{0} is not a test file: the name of a test file ends with _test.k")]
    NotTest(String),
}

/// Finds the packages with tests that patterns stand for: a folder, a file `*_test.k`, or
/// `folder/...` for a folder and all below it. Links, hidden folders, `vendor`, `node_modules` and
/// `target` are not searched. Packages come in the order of their paths, each once.
///
/// # Errors
///
/// If a named folder or file can't be read.
pub fn find_packages(
    system: &dyn System,
    patterns: &[String],
) -> Result<Vec<TestFolder>, FindError> {
    let mut found: Vec<TestFolder> = Vec::new();
    for pattern in patterns {
        let (path, is_deep) = split(pattern);
        let unreadable = |error: std::io::Error| FindError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let real = system.canonicalize(Path::new(path)).map_err(unreadable)?;
        if system.is_file(&real) {
            if !is_test(&real) {
                return Err(FindError::NotTest(pattern.clone()));
            }
            let folder = real.parent().unwrap_or(&real).to_path_buf();
            found.push(TestFolder { folder, only: Some(real) });
            continue;
        }
        for (folder, entries) in folders(system, real, is_deep).map_err(unreadable)? {
            if entries.iter().any(|path| is_test(path)) {
                found.push(TestFolder { folder, only: None });
            }
        }
    }
    found.sort_by(|a, b| (&a.folder, &a.only).cmp(&(&b.folder, &b.only)));
    found.dedup_by(|b, a| a.folder == b.folder && (a.only.is_none() || a.only == b.only));
    Ok(found)
}

/// The folders that patterns stand for, with tests or without; what can't be read is left out.
pub(crate) fn source_folders(system: &dyn System, patterns: &[String]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        let (path, is_deep) = split(pattern);
        let Ok(real) = system.canonicalize(Path::new(path)) else { continue };
        if system.is_file(&real) {
            found.extend(real.parent().map(Path::to_path_buf));
            continue;
        }
        let folders = folders(system, real, is_deep).unwrap_or_default();
        found.extend(folders.into_iter().map(|(folder, _)| folder));
    }
    found
}

/// The folder or file of a pattern, and whether it stands for all folders below, too.
fn split(pattern: &str) -> (&str, bool) {
    match pattern.strip_suffix("...") {
        Some("") => (".", true),
        Some(folder) => (folder, true),
        None => (pattern, false),
    }
}

/// A folder, and all below it if asked for, with their entries.
fn folders(
    system: &dyn System,
    root: PathBuf,
    is_deep: bool,
) -> std::io::Result<Vec<(PathBuf, Vec<PathBuf>)>> {
    let mut found = Vec::new();
    let mut pending = vec![root];
    while let Some(folder) = pending.pop() {
        let entries = system.read_dir(&folder)?;
        if is_deep {
            pending.extend(entries.iter().filter(|path| is_searched(system, path)).cloned());
        }
        found.push((folder, entries));
    }
    Ok(found)
}

/// Whether a file is one of tests.
pub(crate) fn is_test(path: &Path) -> bool {
    name(path).ends_with("_test.k")
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or(".")
}

fn is_searched(system: &dyn System, path: &Path) -> bool {
    let name = name(path);
    let is_skipped = name.starts_with('.') || SKIPPED.contains(&name);
    let facts = || system.link_metadata(path).ok().flatten();
    !is_skipped && facts().is_some_and(|facts| facts.kind == FileKind::Directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    #[test]
    fn patterns() {
        let system = MemorySystem::new()
            .with_file("/w/a_test.k", "")
            .with_file("/w/p/q/b_test.k", "")
            .with_file("/w/p/q/c_test.k", "")
            .with_file("/w/p/main.k", "")
            .with_file("/w/vendor/v_test.k", "")
            .with_file("/w/.git/g_test.k", "");
        let find = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
            match find_packages(&system, &patterns) {
                Ok(found) => found.iter().map(|it| it.folder.display().to_string()).collect(),
                Err(error) => vec![error.to_string()],
            }
        };
        assert_eq!(find(&["/w/..."]), ["/w", "/w/p/q"]);
        assert_eq!(find(&["/w"]), ["/w"]);
        assert_eq!(find(&["/w/p"]), [""; 0]);
        assert_eq!(find(&["/w/p/q/b_test.k", "/w/..."]), ["/w", "/w/p/q"]);
        assert_eq!(find(&["/w/p/q/b_test.k"]), ["/w/p/q"]);
        assert_eq!(
            find(&["/w/p/main.k"]),
            ["/w/p/main.k is not a test file: the name of a test file ends with _test.k"]
        );
    }
}
