//! Checksums of the folder of a package.
//!
//! [`Sums::sum`] is that of the reference: SHA-256 over the contents of all files, one behind the
//! other, in base64. It covers no names, and no files whose path contains `.git` or `.tar`.
//! [`Sums::digest`] covers the names and contents of all files.

use base_system::{FileKind, System};
use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How many folders may be nested in a package.
const MAX_DEPTH: usize = 64;
/// How many files a package may have.
const MAX_FILES: usize = 100_000;

/// The checksums of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The reference's sum.
    pub sum: String,
    /// `blake3:` and the digest in hexadecimal digits.
    pub digest: String,
    /// The first KCL file that `sum` does not cover.
    pub not_covered: Option<String>,
}

/// Why the checksums of a folder cannot be computed.
#[derive(Debug, Error)]
pub enum SumError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// A link leads out of the package.
    #[error("the link `{0}` leads out of the package")]
    LeadsOut(String),
    /// The package has more files, or deeper folders, than allowed.
    #[error("more than {MAX_FILES} files, or folders nested deeper than {MAX_DEPTH}")]
    TooLarge,
}

/// Computes the checksums of a folder.
pub fn sums(system: &dyn System, root: &Path) -> Result<Sums, SumError> {
    let root = system.canonicalize(root).map_err(|reason| unreadable(root, reason))?;
    let mut walk = Walk {
        system,
        root: &root,
        n_files: 0,
        contents: Sha256::new(),
        all: blake3::Hasher::new(),
        not_covered: None,
    };
    walk.folder(&root, 0)?;
    Ok(Sums {
        sum: BASE64.encode(&walk.contents.finalize()),
        digest: format!("blake3:{}", HEXLOWER.encode(walk.all.finalize().as_bytes())),
        not_covered: walk.not_covered,
    })
}

struct Walk<'w> {
    system: &'w dyn System,
    root: &'w Path,
    n_files: usize,
    contents: Sha256,
    all: blake3::Hasher,
    not_covered: Option<String>,
}

impl Walk<'_> {
    /// Takes all of a folder, by name, and each folder where its name is.
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), SumError> {
        if depth > MAX_DEPTH {
            return Err(SumError::TooLarge);
        }
        let entries = self.system.read_dir(folder).map_err(|reason| unreadable(folder, reason))?;
        for path in entries {
            let facts =
                self.system.link_metadata(&path).map_err(|reason| unreadable(&path, reason))?;
            match facts.map(|facts| facts.kind) {
                Some(FileKind::Directory) => self.folder(&path, depth + 1)?,
                Some(FileKind::File) => self.file(&path)?,
                None => self.link(&path)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), SumError> {
        let name = self.name(path)?;
        let bytes = self.system.read(path).map_err(|reason| unreadable(path, reason))?;
        self.add(b'f', &name, &bytes);
        if !is_left_out(&name) {
            self.contents.update(&bytes);
        } else if path.extension().is_some_and(|it| it == "k") && self.not_covered.is_none() {
            self.not_covered = Some(name);
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> Result<(), SumError> {
        let name = self.name(path)?;
        let Ok(target) = self.system.canonicalize(path) else {
            return Err(SumError::LeadsOut(name));
        };
        let Ok(inside) = target.strip_prefix(self.root) else {
            return Err(SumError::LeadsOut(name));
        };
        let shown = inside.to_string_lossy().into_owned();
        self.add(b'l', &name, shown.as_bytes());
        if !is_left_out(&name) && self.system.is_file(&target) {
            let bytes = self.system.read(&target).map_err(|reason| unreadable(path, reason))?;
            self.contents.update(&bytes);
        }
        Ok(())
    }

    /// Adds one file to the digest: its kind, name and content, so that no two folders have the
    /// same input.
    fn add(&mut self, kind: u8, name: &str, bytes: &[u8]) {
        self.all.update(&[kind]);
        self.all.update(&(name.len() as u64).to_le_bytes());
        self.all.update(name.as_bytes());
        self.all.update(&(bytes.len() as u64).to_le_bytes());
        self.all.update(bytes);
    }

    /// Returns the path of a file in the package, and counts it.
    fn name(&mut self, path: &Path) -> Result<String, SumError> {
        self.n_files += 1;
        if self.n_files > MAX_FILES {
            return Err(SumError::TooLarge);
        }
        let name = path.strip_prefix(self.root).unwrap_or(path);
        let parts: Vec<_> = name.components().map(|it| it.as_os_str().to_string_lossy()).collect();
        Ok(parts.join("/"))
    }
}

/// Whether the reference leaves a file out of its sum.
fn is_left_out(name: &str) -> bool {
    name.contains(".git") || name.contains(".tar")
}

fn unreadable(path: &Path, reason: io::Error) -> SumError {
    SumError::Unreadable { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn of(files: &[(&str, &str)]) -> Sums {
        let system = files.iter().fold(MemorySystem::new(), |system, (path, text)| {
            system.with_file(format!("/p/{path}"), *text)
        });
        sums(&system, Path::new("/p")).unwrap()
    }

    #[test]
    fn the_sum_of_the_reference_is_over_contents_in_order() {
        // SHA-256 of "abc".
        let abc = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        let found = of(&[("a.k", "a"), ("b/x.k", "b"), ("c.k", "c"), ("p.tar", "zzz")]);
        assert_eq!(found.sum, abc);
        assert_eq!(of(&[("kcl.mod", "abc")]).sum, abc);
        assert_eq!(found.not_covered, None);
    }

    #[test]
    fn the_digest_covers_names_and_every_file() {
        let plain = of(&[("a.k", "a"), ("b.k", "b")]);
        let renamed = of(&[("a.k", "a"), ("c.k", "b")]);
        let split = of(&[("a.k", "ab"), ("b.k", "")]);
        let hidden = of(&[("a.k", "a"), ("b.k", "b"), ("x.tar.k", "evil")]);
        assert_eq!(plain.sum, renamed.sum);
        assert_eq!(plain.sum, split.sum);
        assert_eq!(plain.sum, hidden.sum);
        let digests = [&plain.digest, &renamed.digest, &split.digest, &hidden.digest];
        for (idx, digest) in digests.iter().enumerate() {
            assert!(!digests[..idx].contains(digest), "{idx}");
        }
        assert_eq!(hidden.not_covered.as_deref(), Some("x.tar.k"));
    }
}
