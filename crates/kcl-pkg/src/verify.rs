//! Compares the folder of a package with what the lock file records.

use crate::lock_file::Locked;
use crate::sum::{SumError, sums};
use base_cache::{Cache, Key, KeyBuilder};
use base_system::{FileKind, System};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// Why a package is refused.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// Its files are not those that the lock file records.
    #[error(
        "the package `{name}` was changed: its checksum is not that of kcl.mod.lock\n  folder    \
         {}\n  found     {found}\n  recorded  {recorded}\n{hint}", folder.display()
    )]
    Changed {
        /// The package.
        name: String,
        /// Its folder.
        folder: PathBuf,
        /// The checksum of the folder.
        found: String,
        /// That of the lock file.
        recorded: String,
        /// What to do.
        hint: String,
    },
    /// It has files that the reference's sum leaves out.
    #[error(
        "the package `{name}` has a file that the checksum in kcl.mod.lock does not cover\n  folder  \
         {}\n  file    {file}\nrun `kcl mod update {name}` to record a checksum of all files",
        folder.display()
    )]
    NotCovered {
        /// The package.
        name: String,
        /// Its folder.
        folder: PathBuf,
        /// The file.
        file: String,
    },
    /// Its files cannot be read.
    #[error("cannot check the package in `{}`: {reason}", folder.display())]
    Unreadable {
        /// Its folder.
        folder: PathBuf,
        /// Why.
        reason: SumError,
    },
}

/// The form of what is remembered about checked folders.
const VERSION: u64 = 1;
/// The kind of its entries in the cache.
const KIND: &str = "verified";
/// A file that changed less long ago could change again without another time of change.
const SETTLED: Duration = Duration::from_secs(2);
/// How many files are looked at.
const MAX_FILES: usize = 100_000;

/// Checks that a folder is what a lock file records, once in a process. `whole` is the folder that
/// the digest is of: the checkout, if the package is a folder of a Git repository.
///
/// Files are read only if one of them may have changed since they were checked last: if a size, an
/// inode, a time of the last change (which programs cannot set) or a name differs.
pub fn verify(
    system: &dyn System,
    locked: &Locked,
    folder: &Path,
    whole: &Path,
) -> Result<(), VerifyError> {
    static VERIFIED: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());
    let (checked, recorded) = match &locked.digest {
        Some(digest) => (whole, digest.clone()),
        None if locked.sum.is_empty() => return Ok(()),
        None => (folder, locked.sum.clone()),
    };
    let key = (checked.to_owned(), recorded);
    let known = || VERIFIED.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(&key) {
        return Ok(());
    }
    let cache = Cache::from_env(system, VERSION);
    let facts = cache.as_ref().and_then(|_| facts(system, checked, &key.1));
    if let (Some(cache), Some(facts)) = (&cache, &facts)
        && cache.get(system, KIND, facts).is_some()
    {
        known().insert(key);
        return Ok(());
    }
    let computed = sums(system, checked)
        .map_err(|reason| VerifyError::Unreadable { folder: checked.to_owned(), reason })?;
    let found = if locked.digest.is_some() { computed.digest } else { computed.sum };
    let (name, folder) = (locked.name.clone(), checked.to_owned());
    if found != key.1 {
        let hint = hint(&locked.name, checked);
        return Err(VerifyError::Changed { name, folder, found, recorded: key.1, hint });
    }
    if let (None, Some(file)) = (&locked.digest, computed.not_covered) {
        return Err(VerifyError::NotCovered { name, folder, file });
    }
    if let (Some(cache), Some(facts)) = (&cache, &facts) {
        cache.put(system, KIND, facts, &[]);
    }
    known().insert(key);
    Ok(())
}

/// Returns a key of all that tells whether a file of a folder has changed; `None` if that cannot be
/// told: a file changed just now, or the system does not know when files changed.
fn facts(system: &dyn System, root: &Path, recorded: &str) -> Option<Key> {
    let mut key = KeyBuilder::new("checked package");
    key.text(&root.to_string_lossy()).text(recorded);
    let now = system.now();
    let mut folders = vec![root.to_owned()];
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for path in system.read_dir(&folder).ok()? {
            n_files += 1;
            // The times of a link are not known here.
            let facts = system.link_metadata(&path).ok()??;
            let is_settled = !facts.changed.is_zero() && facts.changed + SETTLED < now;
            if !is_settled || n_files > MAX_FILES {
                return None;
            }
            key.text(&path.to_string_lossy()).number(facts.inode).number(facts.len);
            for time in [facts.changed, facts.modified] {
                key.number(time.as_secs()).number(u64::from(time.subsec_nanos()));
            }
            if facts.kind == FileKind::Directory {
                folders.push(path);
            }
        }
    }
    Some(key.finish())
}

fn hint(name: &str, folder: &Path) -> String {
    if folder.parent().is_some_and(|it| it.ends_with("vendor")) {
        return format!(
            "run `kcl mod vendor` to restore it, or `kcl mod update {name}` to download it anew"
        );
    }
    "delete the folder and run the command again to download it anew".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock_file::Origin;
    use base_system::MemorySystem;

    #[test]
    fn a_changed_file_is_refused() {
        let system = MemorySystem::new().with_file("/verify/a/x.k", "abc");
        let mut locked = Locked {
            name: "a".into(),
            version: "1".into(),
            sum: "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".into(),
            digest: None,
            origin: Origin::Path,
        };
        let folder = Path::new("/verify/a");
        assert!(verify(&system, &locked, folder, folder).is_ok());
        let system = MemorySystem::new().with_file("/verify/b/x.k", "abd");
        let folder = Path::new("/verify/b");
        let message = verify(&system, &locked, folder, folder).unwrap_err().to_string();
        assert!(message.starts_with("the package `a` was changed: its checksum"), "{message}");
        locked.sum = sums(&system, folder).unwrap().sum;
        let system = system.with_file("/verify/b/.github/x.k", "evil");
        let message = verify(&system, &locked, folder, folder).unwrap_err().to_string();
        assert!(message.contains("file    .github/x.k"), "{message}");
        locked.digest = Some("blake3:0".into());
        let message = verify(&system, &locked, folder, folder).unwrap_err().to_string();
        assert!(message.contains("was changed"), "{message}");
    }
}
